// Writes numbered records of changing length into a ring as fast as it can, and tells how many found no room.

import { parentPort, workerData } from 'node:worker_threads';
import { RingMemory, RingWriter } from '../../../core/logs/ring.js';

const { ring, count }: { ring: SharedArrayBuffer; count: number } = workerData;
const memory = new RingMemory(ring);
const writer = new RingWriter(memory);
let dropped = 0;
for (let number = 0; number < count; number += 1) {
  const bytes = 8 * (2 + (number % 60));
  const offset = writer.begin(bytes);
  if (offset === -1) {
    dropped += 1;
    continue;
  }
  memory.words.fill(number, offset / 4 + 1, (offset + bytes) / 4);
  writer.end(bytes);
}
writer.close();
parentPort?.postMessage(dropped);
