// Run by plugin.test.ts as a thread or as a process of its own: writes to a store that others write to as well.

import { parentPort, workerData } from 'node:worker_threads';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import plugin from './plugin.js';

/** Rows of each batch, all with the batch's number as value. */
export const batchRows = 40;
const triesMax = 10_000;

/** Adds 1 to the row `count`, `times` times, against everyone else who does. */
async function increment(path: string, times: number): Promise<number> {
  const storage = await plugin.create({ path }, fakeHost());
  const store = await storage.open('shared');
  let lost = 0;
  for (let done = 0; done < times;) {
    const row = await store.get('count');
    const count = row === undefined ? 0 : Number(Buffer.from(row.value).toString());
    if (await store.write([{ op: 'put', key: 'count', value: Buffer.from(String(count + 1)), ifVersion: row?.version ?? 0 }])) done += 1;
    else if ((lost += 1) > triesMax) throw new Error(`lost ${lost} races`);
  }
  await storage.close?.();
  return lost;
}

/** Makes the file longer with each commit. */
async function grow(path: string, times: number, valueBytes: number): Promise<void> {
  const storage = await plugin.create({ path }, fakeHost());
  const store = await storage.open('shared');
  for (let index = 0; index < times; index += 1) await store.write([{ op: 'put', key: `long-${index}`, value: Buffer.alloc(valueBytes) }]);
  await storage.close?.();
}

/** Opens a store again when the thread that commits has the lock and waits for this one; `isClosing`: its only holder closes it then. */
async function openWhileWriting(path: string, isClosing: boolean): Promise<void> {
  const store = await (await plugin.create({ path }, fakeHost())).open('shared');
  const written = store.write([{ op: 'put', key: 'a', value: Buffer.from('1') }]);
  await new Promise(setImmediate);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  const closed = isClosing ? store.close?.() : undefined;
  const again = await (await plugin.create({ path }, fakeHost())).open('shared');
  if (!await written || (await again.get('a'))?.version !== 1) throw new Error('the commit was lost');
  await closed;
  if ((await again.get('a'))?.version !== 1) throw new Error('the store is closed for who opened it last');
  process.exit(0);
}

/** Writes whole batches until the process is killed; tells each number once it is durable. */
async function writeForever(path: string): Promise<never> {
  const store = await (await plugin.create({ path }, fakeHost())).open('shared');
  for (let number = 1; ; number += 1) {
    const value = Buffer.from(String(number).padEnd(2000, '.'));
    await store.write(Array.from({ length: batchRows }, (_, index) => ({ op: 'put' as const, key: `row-${index}`, value })));
    process.stdout.write(`${number}\n`);
  }
}

if (parentPort !== null) {
  const { path, times, valueBytes }: { path: string; times: number; valueBytes?: number } = workerData;
  if (valueBytes === undefined) parentPort.postMessage(await increment(path, times));
  else await grow(path, times, valueBytes);
} else if ((process.argv[2] === 'open-while-writing' || process.argv[2] === 'open-while-closing') && process.argv[3] !== undefined) {
  await openWhileWriting(process.argv[3], process.argv[2] === 'open-while-closing');
} else if (process.argv[2] === 'write-forever' && process.argv[3] !== undefined) {
  await writeForever(process.argv[3]);
}
