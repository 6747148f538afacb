import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { countUnread } from '../../../core/logs/log-drain.js';
import { bytesWaiting, RingMemory, RingReader, RingWriter } from '../../../core/logs/ring.js';

function setUp(size: number) {
  const memory = new RingMemory(RingMemory.allocate(size));
  const writer = new RingWriter(memory);
  const reader = new RingReader(memory);
  /** A record of `bytes` whose bytes behind the first word are all `fill`. */
  const write = (bytes: number, fill: number): boolean => {
    const offset = writer.begin(bytes);
    if (offset === -1) return false;
    memory.bytes.fill(fill, offset + 4, offset + bytes);
    writer.end(bytes);
    return true;
  };
  const read = (): { fill: number; bytes: number } | undefined => {
    const offset = reader.peek();
    if (offset === -1) return undefined;
    const bytes = memory.words[offset / 4] ?? 0;
    const fill = memory.bytes[offset + 4] ?? 0;
    reader.next();
    return { fill, bytes };
  };
  return { memory, writer, reader, write, read };
}

describe('a ring', () => {
  it('says how many bytes wait in it', () => {
    const { memory, reader, write, read } = setUp(1024);
    assert.equal(bytesWaiting(memory), 0);
    write(20, 1);
    write(33, 2);
    assert.equal(bytesWaiting(memory), 24 + 40);
    read();
    reader.giveBack();
    assert.equal(bytesWaiting(memory), 40);
  });

  it('gives records back in order, each whole, over many times its size', () => {
    const { reader, write, memory } = setUp(1024);
    let seed = 7;
    const random = (below: number): number => { seed ^= seed << 13; seed ^= seed >>> 17; seed ^= seed << 5; return (seed >>> 8) % below; };
    const expected: [fill: number, bytes: number][] = [];
    let written = 0;
    for (let step = 0; step < 20_000; step += 1) {
      const bytes = 5 + random(300);
      const fill = step & 0xff;
      if (random(3) > 0) {
        if (write(bytes, fill)) { expected.push([fill, bytes]); written += 1; }
      } else {
        for (let count = random(6); count > 0; count -= 1) {
          const offset = reader.peek();
          const next = expected.shift();
          if (next === undefined) {
            assert.equal(offset, -1);
            reader.giveBack();
            break;
          }
          const [wantedFill, wantedBytes] = next;
          for (let at = offset + 4; at < offset + wantedBytes; at += 1) assert.equal(memory.bytes[at], wantedFill);
          reader.next();
          if (random(2) > 0) reader.giveBack();
        }
      }
    }
    assert.ok(written > 3000, `${written}`);
  });

  it('can be filled to its last byte, takes nothing more, and takes again what was given back', () => {
    const { writer, reader, write, read } = setUp(1024);
    for (let index = 0; index < 16; index += 1) assert.equal(write(64, index), true);
    assert.equal(write(8, 99), false);
    assert.deepEqual(read(), { fill: 0, bytes: 64 });
    assert.equal(write(8, 99), false, 'read, but not given back');
    reader.giveBack();
    assert.equal(write(64, 16), true);
    assert.equal(write(8, 99), false);
    for (let index = 1; index <= 16; index += 1) assert.deepEqual(read(), { fill: index, bytes: 64 });
    assert.equal(read(), undefined);
    reader.giveBack();
    assert.equal(writer.isEmpty(), true);
  });

  it('never splits a record: the rest of the ring is left out when one has no room there', () => {
    const { reader, write, read, memory } = setUp(1024);
    assert.equal(write(400, 1), true);
    assert.equal(write(400, 2), true);
    read();
    read();
    reader.giveBack();
    assert.equal(write(400, 3), true);
    assert.equal(reader.peek(), 0);
    assert.equal(memory.bytes.subarray(4, 400).every((byte) => byte === 3), true);
    assert.deepEqual(read(), { fill: 3, bytes: 400 });
  });

  it('refuses what is larger than half of it, wherever the writer stands', () => {
    const { reader, write, read } = setUp(1024);
    for (let round = 0; round < 200; round += 1) {
      assert.equal(write(520, 1), false);
      assert.equal(write(512, 2), true, `round ${round}`);
      read();
      reader.giveBack();
      assert.equal(write(8 * (1 + (round % 7)), 3), true);
      read();
      reader.giveBack();
    }
  });

  it('shows nothing of a record that was begun and not ended', () => {
    const { writer, reader, write, read } = setUp(1024);
    assert.notEqual(writer.begin(100), -1);
    assert.equal(reader.peek(), -1);
    assert.equal(write(16, 5), true);
    assert.deepEqual(read(), { fill: 5, bytes: 16 });
    assert.equal(reader.peek(), -1);
  });

  it('uses its first pages again when the reader keeps up', () => {
    const { reader, write, memory } = setUp(4 * 1024 * 1024);
    let highest = 0;
    for (let index = 0; index < 50_000; index += 1) {
      assert.equal(write(256, index & 0xff), true);
      const offset = reader.peek();
      highest = Math.max(highest, offset);
      assert.equal(memory.bytes[offset + 4], index & 0xff);
      reader.next();
      if (index % 10 === 0) reader.giveBack();
    }
    assert.ok(highest < 600 * 1024, `${highest}`);
  });

  it('is over when the writer has ended and all is read, and a second reader goes on where the first gave back', () => {
    const { memory, writer, reader, write, read } = setUp(1024);
    write(16, 1);
    write(16, 2);
    write(16, 3);
    writer.close();
    assert.equal(reader.isOver, false);
    read();
    reader.giveBack();
    read();
    const second = new RingReader(memory);
    assert.equal(memory.bytes[second.peek() + 4], 2);
    assert.equal(countUnread([memory.shared]), 2);
    second.next();
    second.next();
    assert.equal(second.isOver, true);
  });

  it('keeps positions that pass 2^31 and 2^32', () => {
    const memory = new RingMemory(RingMemory.allocate(1024));
    for (const start of [0x7fff_ff00, 0xffff_ff00 | 0]) {
      // Where both would be after some billions of bytes.
      Atomics.store(memory.control, 0, start);
      Atomics.store(memory.control, 16, start);
      const writer = new RingWriter(memory);
      const reader = new RingReader(memory);
      for (let index = 0; index < 100; index += 1) {
        const offset = writer.begin(40);
        assert.notEqual(offset, -1);
        memory.words[offset / 4 + 1] = index;
        writer.end(40);
        assert.equal(memory.words[reader.peek() / 4 + 1], index);
        reader.next();
        reader.giveBack();
      }
    }
  });

  it('has whole records for a reader in another thread while it is written as fast as can be', async () => {
    const memory = new RingMemory(RingMemory.allocate(64 * 1024));
    const count = 200_000;
    const worker = new Worker(new URL('./ring-writer-thread.js', import.meta.url), { workerData: { ring: memory.shared, count } });
    const dropped = new Promise<number>((resolve, reject) => { worker.once('message', resolve); worker.once('error', reject); });
    const reader = new RingReader(memory);
    let seen = 0;
    let last = -1;
    while (!reader.isOver) {
      for (let taken = 0; taken < 500; taken += 1) {
        const offset = reader.peek();
        if (offset === -1) break;
        const length = memory.words[offset / 4] ?? 0;
        const number = memory.words[offset / 4 + 1] ?? 0;
        assert.ok(number > last, `${number} after ${last}`);
        for (let word = offset / 4 + 2; word < (offset + length) / 4; word += 1) if (memory.words[word] !== number) assert.fail(`record ${number} is torn`);
        last = number;
        seen += 1;
        reader.next();
      }
      reader.giveBack();
      await new Promise((resolve) => { setImmediate(resolve); });
    }
    assert.equal(seen + await dropped, count);
    assert.ok(seen > 100, `${seen}`);
    await worker.terminate();
  });
});
