import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { conformStorage, fakeHost } from '@gateway/plugin-sdk/testing';
import { faultOfFile } from './check-file.js';
import { lockBytes } from './make-files.js';
import plugin from './plugin.js';
import { batchRows } from './test-writer.js';

const folders: string[] = [];
function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-lmdb-'));
  folders.push(folder);
  return folder;
}
const removeFolders = (): void => { for (const folder of folders) rmSync(folder, { recursive: true, force: true }); };

conformStorage(plugin, () => ({ path: freshFolder() }), { isDurable: true });

describe('lmdb storage', () => {
  after(removeFolders);
  const writer = new URL('./test-writer.js', import.meta.url);

  it('makes its directories for the owner alone', async () => {
    const path = join(freshFolder(), 'a', 'b');
    const storage = await plugin.create({ path }, fakeHost());
    await storage.open('logs');
    assert.equal(statSync(path).mode & 0o777, 0o700);
    assert.equal(statSync(join(path, 'logs')).mode & 0o777, 0o700);
    await storage.close?.();
  });

  it('makes its files for the owner alone, and closes those that an earlier version left open', async () => {
    const path = freshFolder();
    const modes = (): number[] => ['data.mdb', 'lock.mdb'].map((name) => statSync(join(path, 'x', name)).mode & 0o777);
    const storage = await plugin.create({ path }, fakeHost());
    const store = await storage.open('x');
    assert.deepEqual(modes(), [0o600, 0o600]);
    await store.write([{ op: 'put', key: 'a', value: Buffer.from('1') }]);
    await store.close?.();
    for (const name of ['data.mdb', 'lock.mdb']) chmodSync(join(path, 'x', name), 0o644);
    assert.equal((await (await storage.open('x')).get('a'))?.version, 1);
    assert.deepEqual(modes(), [0o600, 0o600]);
    await storage.close?.();
  });

  it('gives its lock file all its blocks at once: a hole in it would be filled through memory, where a full disk ends the process', async () => {
    const path = freshFolder();
    const storage = await plugin.create({ path }, fakeHost());
    await storage.open('x');
    const { size, blocks } = statSync(join(path, 'x', 'lock.mdb'));
    assert.equal(size, lockBytes);
    assert.ok(blocks * 512 >= size, `${blocks} blocks for ${size} bytes`);
    await storage.close?.();
  });

  it('is opened by several threads at once, and loses no update of any', async () => {
    const path = freshFolder();
    const storage = await plugin.create({ path }, fakeHost());
    const store = await storage.open('shared');
    const threads = Array.from({ length: 4 }, () => new Worker(writer, { workerData: { path, times: 50 } }));
    await Promise.all(threads.map((thread) => once(thread, 'exit')));
    const row = await store.get('count');
    assert.equal(Buffer.from(row?.value ?? []).toString(), '200');
    assert.equal(row?.version, 200);
    assert.equal(await store.revision(), 200);
    // The threads closed their environments and ended: this one still works.
    assert.equal(await store.write([{ op: 'remove', key: 'count', ifVersion: 200 }]), true);
    await storage.close?.();
  });

  it('finds no fault in a file that another thread makes longer meanwhile', async () => {
    const path = freshFolder();
    const storage = await plugin.create({ path }, fakeHost());
    await storage.open('shared');
    const thread = new Worker(writer, { workerData: { path, times: 300, valueBytes: 100_000 } });
    let isRunning = true;
    const exited = once(thread, 'exit').finally(() => { isRunning = false; });
    let looks = 0;
    for (; isRunning; looks += 1) {
      assert.equal(faultOfFile(join(path, 'shared', 'data.mdb')), undefined);
      if (looks % 100 === 0) await new Promise(setImmediate);
    }
    await exited;
    assert.ok(looks > 100, `looked ${looks} times`);
    await storage.close?.();
  });

  it('shows a commit of one instance to another of the same thread at once', async () => {
    const path = freshFolder();
    const [left, right] = [await plugin.create({ path }, fakeHost()), await plugin.create({ path }, fakeHost())];
    const [writing, reading] = [await left.open('x'), await right.open('x')];
    assert.equal(await reading.revision(), 0);
    await writing.write([{ op: 'put', key: 'a', value: Buffer.from('1') }]);
    assert.equal(await reading.revision(), 1);
    await left.close?.();
    assert.equal((await reading.get('a'))?.version, 1);
    await right.close?.();
  });

  for (const [state, mode] of [['', 'open-while-writing'], [' and its last holder closes it', 'open-while-closing']] as const) {
    it(`is opened once more while a commit of the same thread is under way${state}`, async () => {
      // A thread that waits for its own commit waits for ever, past any catch.
      const child = spawn(process.execPath, [fileURLToPath(writer), mode, freshFolder()], { stdio: ['ignore', 'pipe', 'inherit'] });
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      const [code] = await once(child, 'exit');
      clearTimeout(timer);
      assert.equal(code, 0);
    });
  }

  it('leaves the file open for others of the thread when one closes its storage, whatever the path', async () => {
    const path = freshFolder();
    const alias = join(freshFolder(), 'alias');
    symlinkSync(path, alias);
    const [left, right] = [await plugin.create({ path }, fakeHost()), await plugin.create({ path: alias }, fakeHost())];
    const [one, other] = [await left.open('x'), await right.open('x')];
    await left.close?.();
    assert.throws(() => one.get('a'), /the store is closed/);
    await assert.rejects(async () => one.write([{ op: 'put', key: 'a', value: Buffer.from('1') }]), /the store is closed/);
    assert.equal(await other.write([{ op: 'put', key: 'a', value: Buffer.from('1') }]), true);
    await left.close?.();
    assert.equal((await other.get('a'))?.version, 1);
    await right.close?.();
    assert.throws(() => other.get('a'), /the store is closed/);
    const again = await plugin.create({ path }, fakeHost());
    assert.equal((await (await again.open('x')).get('a'))?.version, 1);
    await again.close?.();
  });

  it('holds every batch whole or not at all when its process is killed in the middle of writing', async () => {
    const path = freshFolder();
    // This process has the store open all along: a lock that the dead process held must not block it.
    const storage = await plugin.create({ path }, fakeHost());
    const store = await storage.open('shared');
    for (let round = 1; round <= 3; round += 1) {
      const child = spawn(process.execPath, [fileURLToPath(writer), 'write-forever', path], { stdio: ['ignore', 'pipe', 'inherit'] });
      let told = 0;
      const lines = createInterface({ input: child.stdout });
      const exited = once(child, 'exit');
      lines.on('line', (line) => {
        told = Number(line);
        if (told >= 10 * round + round) child.kill('SIGKILL');
      });
      const [, signal] = await exited;
      assert.equal(signal, 'SIGKILL');
      const values = new Set<string>();
      let rows = 0;
      for await (const row of store.range({ from: 'row-', to: 'row.', limit: 1000 })) {
        rows += 1;
        values.add(Buffer.from(row.value).toString());
      }
      assert.equal(rows, batchRows);
      assert.equal(values.size, 1, `rows of ${values.size} batches`);
      // What was reported as written is there.
      assert.ok(Number.parseInt([...values][0] ?? '', 10) >= told);
      assert.equal(await store.write([{ op: 'put', key: 'after', value: Buffer.from(String(round)) }]), true);
    }
    await storage.close?.();
  });

  it('says in one sentence that its directory cannot be used', async () => {
    const file = join(freshFolder(), 'file');
    writeFileSync(file, '');
    for (const path of [file, join(file, 'below'), '/proc/nowhere/data']) {
      await assert.rejects(async () => plugin.create({ path }, fakeHost()), (thrown: Error) => {
        assert.match(thrown.message, /^the directory .* cannot be used \(.*\); choose one that this user may write to$/);
        assert.ok(!thrown.message.includes('\n'));
        return true;
      });
    }
  });

  it('refuses a damaged file in one sentence instead of dying of it', async () => {
    const path = freshFolder();
    const file = join(path, 'x', 'data.mdb');
    const storage = await plugin.create({ path }, fakeHost());
    const store = await storage.open('x');
    for (let round = 0; round < 3; round += 1) {
      await store.write(Array.from({ length: 200 }, (_, index) => ({ op: 'put' as const, key: `${index}`, value: Buffer.alloc(500, round) })));
    }
    await store.close?.();
    const whole = readFileSync(file);
    const damage: readonly [RegExp, () => void][] = [
      [/does not begin as an LMDB file/, () => writeFileSync(file, 'hello')],
      [/does not begin as an LMDB file/, () => writeFileSync(file, Buffer.alloc(whole.length, 0x41))],
      [/second header is missing/, () => truncateSync(file, 4096)],
      [/shorter than its rows/, () => truncateSync(file, 8192)],
      [/shorter than its rows/, () => truncateSync(file, 16_384)],
    ];
    for (const [reason, hurt] of damage) {
      writeFileSync(file, whole);
      hurt();
      assert.throws(() => storage.open('x'), (thrown: Error) => {
        assert.match(thrown.message, reason);
        assert.match(thrown.message, /data\.mdb cannot be opened: .*; restore it from a backup, or move .* away to begin with an empty one$/);
        return true;
      });
    }
    writeFileSync(file, whole);
    appendFileSync(file, Buffer.alloc(4096));
    assert.equal((await (await storage.open('x')).get('7'))?.version, 3);
    await storage.close?.();
  });

  it('keeps its file from growing when rows come and go', async () => {
    const path = freshFolder();
    const storage = await plugin.create({ path }, fakeHost());
    const store = await storage.open('x');
    const value = Buffer.alloc(50_000, 1);
    for (let round = 0; round < 60; round += 1) {
      await store.write([{ op: 'put', key: `row-${String(round).padStart(3, '0')}`, value }, ...(round < 5 ? [] : [{ op: 'remove' as const, key: `row-${String(round - 5).padStart(3, '0')}` }])]);
    }
    // Five rows live at a time; 60 would take 3 MB.
    const { size } = statSync(join(path, 'x', 'data.mdb'));
    assert.ok(size < 12 * 53_000, `${size}`);
    await storage.close?.();
  });

  it('refuses to work once it is closed', async () => {
    const storage = await plugin.create({ path: freshFolder() }, fakeHost());
    const store = await storage.open('x');
    await storage.close?.();
    assert.throws(() => store.get('a'), /closed/);
    await assert.rejects(store.write([{ op: 'put', key: 'a', value: Buffer.from('1') }]), /closed/);
  });
});
