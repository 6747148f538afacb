// Ids of rows: UUIDs of version 7 (RFC 9562, section 5.7), which grow with time, so that the order of a table is the order of making.

import { randomBytes } from 'node:crypto';

let lastMs = 0;
let counter = 0;

/** Two ids of one thread are never the same, and the later one is greater. */
export function newId(nowMs: number = Date.now()): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    counter = 0;
  } else {
    counter += 1;
    // 12 bits; then the clock is taken to be one further.
    if (counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
  }
  const time = lastMs.toString(16).padStart(12, '0');
  const random = randomBytes(8);
  random[0] = ((random[0] ?? 0) & 0x3f) | 0x80;
  const tail = random.toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}
