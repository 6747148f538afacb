import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { SpendJournal, type JournalOptions, type SpendCharge } from '../../../core/limits/journal.js';
import { journalPlaceOf } from '../../../core/limits/journal-layout.js';
import { JournalReader, type JournalEntry } from '../../../core/limits/journal-reader.js';

const root = mkdtempSync(join(tmpdir(), 'journal-'));
after(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

function journalIn(options: Partial<JournalOptions> = {}) {
  folders += 1;
  const folder = options.folder ?? join(root, String(folders));
  const faults: string[] = [];
  const journal = new SpendJournal({ folder, process: 'a.b.c', thread: 0, isStrict: false, faults: { add: (subject, reason) => { faults.push(`${subject}: ${reason}`); } }, now: () => 1_000, ...options });
  const files = (): string[] => readdirSync(folder).sort((left, right) => (journalPlaceOf(left)?.sequence ?? 0) - (journalPlaceOf(right)?.sequence ?? 0));
  const entries = (): JournalEntry[] => files().flatMap((name) => new JournalReader().read(readFileSync(join(folder, name))));
  return { journal, folder, faults, files, entries };
}

const charge = (counter: string, reserved: number, used = 0, counted: SpendCharge['counted'] = 'cost'): SpendCharge => ({ counter, counted, period: 500, reserved, used });

const plain = (entry: JournalEntry): unknown =>
  entry.kind === 'end' ? entry : { ...entry, charges: entry.charges.map(({ counter, period, amount }) => [counter.key, counter.counted, period, amount]) };

describe('the journal of spending', () => {
  test('is one write at the end of the turn, in a file of its own that nobody else reads', async () => {
    const { journal, folder, files, entries, faults } = journalIn();
    assert.equal(journal.open('call-1', [charge('key/1/cost', 20), charge('workspace/ü/tokens', 7, 0, 'tokens')]), null);
    journal.settle('call-1', [charge('key/1/cost', 20, 12), charge('workspace/ü/tokens', 7, 9, 'tokens')], false);
    journal.settle('call-2', [charge('key/1/cost', 0, 2 ** 52)], true);
    await turn();
    assert.deepEqual(files(), ['a.b.c.0.0.journal']);
    assert.equal(statSync(join(folder, 'a.b.c.0.0.journal')).mode & 0o777, 0o600);
    assert.deepEqual(entries().map(plain), [
      { kind: 'open', atMs: 1_000, callId: 'call-1', charges: [['key/1/cost', 'cost', 500, 20], ['workspace/ü/tokens', 'tokens', 500, 7]] },
      { kind: 'settle', atMs: 1_000, callId: 'call-1', charges: [['key/1/cost', 'cost', 500, 12], ['workspace/ü/tokens', 'tokens', 500, 9]], isEstimated: false },
      { kind: 'settle', atMs: 1_000, callId: 'call-2', charges: [['key/1/cost', 'cost', 500, 2 ** 52]], isEstimated: true },
    ]);
    const frames = readFileSync(join(folder, 'a.b.c.0.0.journal'));
    assert.equal(frames.length, 8 + frames.readUInt32LE(0), 'one frame for all of the turn');
    journal.close();
    assert.deepEqual(entries().at(-1), { kind: 'end', isLast: true });
    assert.deepEqual(faults, []);
  });

  test('leaves no file where nothing has a budget', async () => {
    const { journal, folder } = journalIn();
    journal.close();
    await turn();
    assert.throws(() => readdirSync(folder), { code: 'ENOENT' });
  });

  test('is read to the last whole frame, wherever it is cut', async () => {
    const { journal, folder, files } = journalIn();
    for (const call of ['one', 'two', 'three']) {
      journal.open(call, [charge('key/1/cost', 20)]);
      await turn();
    }
    const bytes = readFileSync(join(folder, files()[0] ?? ''));
    const first = 8 + bytes.readUInt32LE(0);
    const second = first + 8 + bytes.readUInt32LE(first);
    for (let length = 0; length <= bytes.length; length += 1) {
      const reader = new JournalReader();
      const expected = length === bytes.length ? 3 : length >= second ? 2 : length >= first ? 1 : 0;
      assert.equal(reader.read(bytes.subarray(0, length)).length, expected, `cut at ${length}`);
      // And on from there, when the rest has come.
      assert.equal(reader.read(bytes.subarray(reader.position)).length, 3 - expected);
    }
    for (let at = second; at < bytes.length; at += 1) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] as number) ^ 0x41;
      assert.equal(new JournalReader().read(damaged).length, 2, `damaged at ${at}`);
    }
  });

  test('goes on in another file when one has grown, and names its counters anew', async () => {
    const { journal, folder, files } = journalIn({ fileBytesMax: 200 });
    for (let call = 0; call < 12; call += 1) {
      journal.open(`call-${call}`, [charge('key/1/cost', call)]);
      await turn();
    }
    journal.close();
    assert.ok(files().length >= 3, files().join());
    const read = files().map((name) => new JournalReader().read(readFileSync(join(folder, name))));
    assert.deepEqual(read.flat().flatMap((entry) => (entry.kind === 'open' ? [entry.charges[0]?.amount] : [])), Array.from({ length: 12 }, (_, index) => index));
    for (const [index, entries] of read.entries()) assert.deepEqual(entries.at(-1), { kind: 'end', isLast: index === read.length - 1 });
  });

  test('in strict mode a call goes on when its entry is on the disk, and many share one sync', async () => {
    const { journal, entries } = journalIn({ isStrict: true });
    const opened = Array.from({ length: 50 }, (_, call) => journal.open(`call-${call}`, [charge('key/1/cost', 1)]));
    assert.ok(opened.every((each) => each instanceof Promise));
    await opened[0];
    assert.equal(entries().length, 50);
    await Promise.all(opened);
    journal.close();
  });

  test('in strict mode files may follow each other while syncs run', async () => {
    const { journal, entries } = journalIn({ isStrict: true, fileBytesMax: 100 });
    const opened: (Promise<void> | null)[] = [];
    for (let call = 0; call < 20; call += 1) {
      opened.push(journal.open(`call-${call}`, [charge('key/1/cost', 1)]));
      await turn();
    }
    await Promise.all(opened);
    journal.close();
    assert.equal(entries().filter(({ kind }) => kind === 'open').length, 20);
  });

  test('in strict mode a call is refused when nothing can be written', async () => {
    const { folder } = journalIn();
    writeFileSync(folder, 'a file in the place of the folder');
    const { journal, faults } = journalIn({ folder, isStrict: true });
    await assert.rejects(journal.open('call-1', [charge('key/1/cost', 1)]) ?? Promise.resolve(), { code: 'LEDGER_UNWRITTEN', status: 503 });
    // While the disk has its rest nobody waits for it.
    await assert.rejects(journal.open('call-2', [charge('key/1/cost', 1)]) ?? Promise.resolve(), { code: 'LEDGER_UNWRITTEN' });
    assert.equal(faults.length, 1);
    journal.close();
  });

  test('what the disk refused is written when it takes writes again, and what has no room until then is told', async () => {
    const { folder } = journalIn();
    writeFileSync(folder, 'a file in the place of the folder');
    let now = 1_000;
    const { journal, faults, entries } = journalIn({ folder, now: () => now, bufferBytesMax: 256 * 1024 });
    for (let call = 0; call < 5_000; call += 1) journal.open(`call-${call}`, [charge('key/1/cost', 1)]);
    await turn();
    assert.ok(faults.some((fault) => fault.includes('no more is kept')), 'opens are dropped beyond half of the room');
    const kept = 5_000 - faults.filter((fault) => fault.includes('no more is kept')).length;
    journal.settle('call-0', [charge('key/1/cost', 1, 1)], false);
    rmSync(folder);
    now += 10_000;
    journal.settle('call-1', [charge('key/1/cost', 1, 1)], false);
    await turn();
    const read = entries();
    assert.equal(read.filter(({ kind }) => kind === 'open').length, kept);
    assert.equal(read.filter(({ kind }) => kind === 'settle').length, 2, 'the end of a call has room when the beginning has none');
    journal.close();
  });
});
