import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Exporter, LogRecord } from '@gateway/plugin-sdk';
import { conformExporter, fakeHost, sampleLogRecord } from '@gateway/plugin-sdk/testing';
import plugin from './plugin.js';
import { StandardOutput } from './standard-output.js';

const folder = mkdtempSync(join(tmpdir(), 'gateway-jsonl-'));
let files = 0;
const freshPath = (): string => join(folder, `${files += 1}`, 'log.jsonl');
const settings = (path: string, changes: object = {}): { path: string; bodies: boolean; bytesMax: number; filesMax: number } => ({ path, bodies: false, bytesMax: 104_857_600, filesMax: 5, ...changes });
const write = async (exporter: Exporter, ...ids: string[]): Promise<void> => {
  await exporter.export(ids.map((id) => sampleLogRecord({ id })), new AbortController().signal);
};
const read = (path: string): LogRecord[] => readFileSync(path, 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
const idsOf = (path: string): string[] => read(path).map((record) => record.id);

conformExporter(plugin, () => settings(freshPath()), { exported: (_, params) => ('path' in params ? read(String(params.path)) : []) });

describe('jsonl exporter', () => {
  after(() => rmSync(folder, { recursive: true }));

  it('appends one line for each record to what is there, for the owner alone', async () => {
    const path = freshPath();
    for (const id of ['a', 'b']) {
      const exporter = await plugin.create(settings(path), fakeHost());
      await write(exporter, id, `${id}2`);
      await exporter.close?.();
    }
    assert.deepEqual(idsOf(path), ['a', 'a2', 'b', 'b2']);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  it('sets a full file aside and keeps as many as it is told', async () => {
    const path = freshPath();
    const exporter = await plugin.create(settings(path, { bytesMax: 2500, filesMax: 2 }), fakeHost());
    for (let number = 1; number <= 12; number += 1) await write(exporter, String(number));
    await exporter.close?.();
    const kept = ['.2', '.1', ''].map((suffix) => idsOf(path + suffix));
    assert.deepEqual(kept.flat(), Array.from({ length: kept.flat().length }, (_, index) => String(13 - kept.flat().length + index)));
    for (const suffix of ['.2', '.1', '']) assert.ok(statSync(path + suffix).size <= 2500);
    assert.equal(existsSync(`${path}.3`), false);
    assert.equal(existsSync(`${path}.lock`), false);
  });

  it('loses no line when several writers append and rotate at once', async () => {
    const path = freshPath();
    const exporters = await Promise.all([1, 2, 3].map(async () => plugin.create(settings(path, { bytesMax: 20_000, filesMax: 50 }), fakeHost({ nowMs: Date.now() }))));
    await Promise.all(exporters.map(async (exporter, writer) => {
      for (let number = 0; number < 60; number += 1) await write(exporter, `${writer}-${number}-a`, `${writer}-${number}-b`);
    }));
    for (const exporter of exporters) await exporter.close?.();
    const names = readdirSync(join(path, '..'));
    assert.ok(names.length > 3, names.join());
    const ids = names.flatMap((name) => idsOf(join(path, '..', name)));
    assert.equal(ids.length, 360);
    assert.equal(new Set(ids).size, 360);
  });

  it('opens the file anew when someone else moved it away', async () => {
    const path = freshPath();
    const exporter = await plugin.create(settings(path), fakeHost());
    await write(exporter, 'before');
    rmSync(path);
    await write(exporter, 'after');
    assert.deepEqual(idsOf(path), ['after']);
    await exporter.close?.();
  });

  it('begins a new line after one that a killed writer left cut off', async () => {
    const path = freshPath();
    const first = await plugin.create(settings(path), fakeHost());
    await write(first, 'whole');
    await first.close?.();
    appendFileSync(path, '{"id":"cut');
    const second = await plugin.create(settings(path), fakeHost());
    await write(second, 'next');
    await second.close?.();
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    assert.equal(lines.length, 3);
    assert.equal(JSON.parse(lines[2] ?? '').id, 'next');
  });

  it('goes on writing while another rotates, and takes over the lock of one that died', async () => {
    const path = freshPath();
    const host = fakeHost({ nowMs: Date.now() });
    const exporter = await plugin.create(settings(path, { bytesMax: 1024, filesMax: 1 }), host);
    await write(exporter, '1');
    writeFileSync(`${path}.lock`, '');
    await write(exporter, '2');
    assert.deepEqual(idsOf(path), ['1', '2']);
    utimesSync(`${path}.lock`, 0, 0);
    await write(exporter, '3');
    await write(exporter, '4');
    assert.deepEqual(idsOf(path), ['4']);
    assert.deepEqual(idsOf(`${path}.1`), ['1', '2', '3']);
    await exporter.close?.();
  });

  it('keeps callers without a key in a file of their own, which turns over by itself', async () => {
    const path = freshPath();
    const exporter = await plugin.create(settings(path, { bytesMax: 2_000_000 }), fakeHost());
    for (let round = 0; round < 20; round += 1) {
      await exporter.export([sampleLogRecord({ id: `honest ${round}` }), ...Array.from({ length: 30 }, () => sampleLogRecord({ id: 'refused', keyId: '' }))], new AbortController().signal);
    }
    await exporter.close?.();
    assert.deepEqual(idsOf(path), Array.from({ length: 20 }, (_, round) => `honest ${round}`));
    assert.equal(existsSync(`${path}.1`), false);
    for (const name of ['', '.1']) {
      assert.ok(statSync(`${path}.refused${name}`).size <= 125_000);
      assert.ok(idsOf(`${path}.refused${name}`).every((id) => id === 'refused'));
    }
    assert.equal(existsSync(`${path}.refused.2`), false);
    assert.equal(statSync(`${path}.refused`).mode & 0o777, 0o600);
  });

  it('says in one sentence that its file cannot be written', async () => {
    const path = freshPath();
    await (await plugin.create(settings(path), fakeHost())).close?.();
    for (const bad of [join(path, 'below'), join(path, '..')]) {
      await assert.rejects(async () => plugin.create(settings(bad), fakeHost()), /^Error: the log file .* cannot be written \(.*\); give another path$/);
    }
  });
});

describe('jsonl exporter with bodies', () => {
  it('writes those that were kept when it is told to', async () => {
    const bodies = { requestHeaders: '{}', request: 'question', upstreamUrl: '', upstreamHeaders: '', upstreamRequest: '', upstreamResponse: '', responseHeaders: '', response: 'answer' };
    for (const [isAsked, expected] of [[false, null], [true, bodies]] as const) {
      const path = freshPath();
      const exporter = await plugin.create(settings(path, { bodies: isAsked }), fakeHost());
      await exporter.export([sampleLogRecord({ bodies })], new AbortController().signal);
      await exporter.close?.();
      assert.deepEqual(read(path)[0]?.bodies, expected);
    }
  });
});

describe('the standard output', () => {
  const signal = new AbortController().signal;
  // What waits for room keeps no process alive.
  let awake: NodeJS.Timeout | undefined = undefined;
  before(() => { awake = setInterval(() => undefined, 1000); });
  after(() => clearInterval(awake));
  const full = (): Error => Object.assign(new Error('no room'), { code: 'EAGAIN' });

  it('gets every line whole, however few bytes it takes at once', async () => {
    let text = '';
    let turn = 0;
    const output = new StandardOutput(async (bytes) => {
      turn += 1;
      if (turn % 3 === 0) throw full();
      const some = Buffer.from(bytes.subarray(0, 7));
      text += some.toString('latin1');
      return some.length;
    });
    await output.append(['{"a":1}', '{"b":22}'], signal);
    await output.append(['{"c":333}'], signal);
    assert.equal(text, '{"a":1}\n{"b":22}\n{"c":333}\n');
    await output.close();
  });

  it('is given up when nobody reads, begins no second write beside one that waits, and ends a line that was broken off', async () => {
    let text = '';
    let release = (): void => undefined;
    let writes = 0;
    const output = new StandardOutput(async (bytes) => {
      writes += 1;
      if (writes === 1) {
        text += Buffer.from(bytes.subarray(0, 3)).toString();
        return 3;
      }
      if (writes === 2) await new Promise<void>((resolve) => { release = resolve; });
      if (writes === 2) throw full();
      text += Buffer.from(bytes).toString();
      return bytes.length;
    });
    const abort = new AbortController();
    const broken = output.append(['{"a":1}'], abort.signal);
    await new Promise((resolve) => { setImmediate(resolve); });
    abort.abort(new Error('too slow'));
    await assert.rejects(broken, /too slow/);
    await assert.rejects(output.append(['{"b":2}'], signal), /nobody reads the standard output/);
    assert.equal(writes, 2);
    release();
    await new Promise((resolve) => { setImmediate(resolve); });
    await output.append(['{"c":3}'], signal);
    assert.equal(text, '{"a\n{"c":3}\n');
  });

  it('says why it cannot be written', async () => {
    const output = new StandardOutput(async () => { throw Object.assign(new Error('broken pipe'), { code: 'EPIPE' }); });
    await assert.rejects(output.append(['{}'], signal), /broken pipe/);
  });
});
