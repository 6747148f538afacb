import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { loadMasterKey } from '../../../core/settings/master-key.js';
import { readSettings } from '../../../core/settings/read.js';

const directory = mkdtempSync(join(tmpdir(), 'gateway-master-key-'));
after(() => rmSync(directory, { recursive: true }));
const dataDir = (): string => mkdtempSync(join(directory, 'data-'));
const given = (masterKey: string): Buffer => loadMasterKey(readSettings({ GATEWAY_MASTER_KEY: masterKey }, directory));

const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7));

test('a key from the settings is taken as hex, base64 or base64url, and no file is made', () => {
  assert.deepEqual(given(bytes.toString('hex')), bytes);
  assert.deepEqual(given(bytes.toString('hex').toUpperCase()), bytes);
  assert.deepEqual(given(bytes.toString('base64')), bytes);
  assert.deepEqual(given(bytes.toString('base64url')), bytes);
  const empty = dataDir();
  loadMasterKey({ dataDir: empty, masterKey: bytes.toString('hex') });
  assert.deepEqual(readdirSync(empty), []);
});

test('a key of another length is refused', () => {
  for (const wrong of [bytes.subarray(1).toString('hex'), bytes.subarray(1).toString('base64'), `${bytes.toString('hex')}00`, 'password']) {
    assert.throws(() => given(wrong), { message: 'GATEWAY_MASTER_KEY must be 32 bytes as 64 hex digits or as base64' });
  }
});

test('the first start makes a file only its owner can read, and later starts read the same key', () => {
  const path = dataDir();
  const first = loadMasterKey({ dataDir: path, masterKey: undefined });
  assert.equal(first.byteLength, 32);
  assert.deepEqual(readdirSync(path), ['master.key']);
  assert.equal(statSync(join(path, 'master.key')).mode & 0o777, 0o600);
  assert.deepEqual(loadMasterKey({ dataDir: path, masterKey: undefined }), first);
  assert.notDeepEqual(loadMasterKey({ dataDir: dataDir(), masterKey: undefined }), first);
});

test('a file others can read is refused with the cure, and left as it is', () => {
  const path = dataDir();
  const file = join(path, 'master.key');
  writeFileSync(file, bytes.toString('hex'));
  chmodSync(file, 0o640);
  assert.throws(() => loadMasterKey({ dataDir: path, masterKey: undefined }), { message: `the master key file ${file} is open to other users (mode 640); run chmod 600 ${file}` });
  chmodSync(file, 0o400);
  assert.deepEqual(loadMasterKey({ dataDir: path, masterKey: undefined }), bytes);
});

test('a damaged file is refused, never replaced', () => {
  const path = dataDir();
  const file = join(path, 'master.key');
  for (const content of ['', bytes.toString('hex').slice(1)]) {
    writeFileSync(file, content, { mode: 0o600 });
    assert.throws(() => loadMasterKey({ dataDir: path, masterKey: undefined }), { message: /does not hold 32 bytes/ });
    assert.equal(readFileSync(file, 'utf8'), content);
  }
});

test('a directory that is not there is named', () => {
  assert.throws(() => loadMasterKey({ dataDir: join(directory, 'none'), masterKey: undefined }), { message: /master\.key cannot be made \(ENOENT.*GATEWAY_MASTER_KEY/ });
});

test('many first starts at once agree on one key', async () => {
  const path = dataDir();
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const module = new URL('../../../core/settings/master-key.js', import.meta.url).href;
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.module).then(({ loadMasterKey }) => {
      parentPort.postMessage('ready');
      Atomics.wait(workerData.gate, 0, 0);
      parentPort.postMessage(loadMasterKey({ dataDir: workerData.path, masterKey: undefined }).toString('hex'));
    });`;
  const workers = Array.from({ length: 4 }, () => new Worker(source, { eval: true, workerData: { module, gate, path } }));
  const next = (worker: Worker): Promise<unknown> => new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  assert.deepEqual(await Promise.all(workers.map(next)), ['ready', 'ready', 'ready', 'ready']);
  const keys = Promise.all(workers.map(next));
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  assert.equal(new Set(await keys).size, 1);
  assert.deepEqual(readdirSync(path), ['master.key']);
});
