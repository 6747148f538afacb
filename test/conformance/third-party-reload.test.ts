// A local plugin folder that changes while the gateway runs, with two threads: new calls get the new version, open ones finish on theirs, and a
// version at fault is refused with the file and line while the one before stays in service.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder, writePackage } from '../core/registry/plugin-package.js';
import { startChildGateway } from '../support/child-gateway.js';
import { routed } from '../support/gateway.js';
import { chatChunks, startUpstream } from '../support/upstream.js';

const label = `import { defineGuardrail } from '@gateway/plugin-sdk';
import { version } from '../lib/version.js';
export default defineGuardrail({
  title: 'Label', describe: 'Writes its version over each X.', stages: ['output'], needs: { response: 'events', changes: 'response' }, lookBackMax: 0,
  params: { type: 'object', properties: {} },
  create: () => ({
    evaluate: () => ({ pass: true }),
    stream: () => ({
      push: ({ text }) => ({ release: text.length, edits: [...text.matchAll(/X/g)].map(({ index }) => ({ from: index, to: index + 1, text: version })) }),
      verdict: () => ({ pass: true }),
    }),
  }),
});
`;
const told = `import { defineGuardrail } from '@gateway/plugin-sdk';
import { version } from '../lib/version.js';
export default defineGuardrail({
  title: 'Told', describe: 'Tells its versions.', stages: ['input'], needs: { request: 'json' },
  params: { type: 'object', properties: {} },
  create(_, host) {
    const worker = host.worker(new URL('../lib/worker.js', import.meta.url));
    return { evaluate: async () => ({ pass: false, why: [version, await worker.version(), (await import('../lib/late.js')).version].join(' ') }) };
  },
});
`;
const libraryOf = (version: string): Readonly<Record<string, string>> => ({
  'lib/version.js': `export { text as version } from './text.js';\n`,
  'lib/text.js': `export const text = '${version}';\n`,
  'lib/late.js': `export const version = 'late ${version}';\n`,
  'lib/worker.js': `import { text } from './text.js';\nexport const version = () => 'worker ' + text;\n`,
});

const folder = join(temporaryFolder(), 'acme');
writePackage(folder, {
  name: 'acme-local', gateway: { namespace: 'acme', contract: { guardrail: 1 }, plugins: { guardrail: ['label', 'told'] } },
  files: { 'guardrail/label.js': label, 'guardrail/told.js': told, ...libraryOf('one') },
});
const writeFiles = (files: Readonly<Record<string, string>>): void => { for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text); };

let release: (() => void) | undefined;
const upstream = await startUpstream((_, response: ServerResponse) => {
  const chunks = chatChunks(['X first', ' X second']);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const write = (from: number, to: number): void => { for (const chunk of chunks.slice(from, to)) response.write(`${chunk}\n\n`); };
  write(0, 2);
  release = () => {
    write(2, chunks.length);
    response.end();
  };
});
const gateway = await startChildGateway({ GATEWAY_PLUGINS: folder, GATEWAY_THREADS: '2', GATEWAY_LOG_LEVEL: 'info' });

const post = (config: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}): Promise<Response> => fetch(`${gateway.url}/v1/chat/completions`, {
  method: 'POST', headers: { 'content-type': 'application/json', connection: 'close', ...routed(upstream.url, config) },
  body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }], ...more }),
});

/** What the check says, on whichever thread takes the connection. */
async function versionsNow(): Promise<string> {
  const text = await (await post({ input_guardrails: [{ deny: true, 'acme.told': {} }] })).text();
  return /(\w+ worker \w+ late \w+)/.exec(text)?.[1] ?? text;
}

/** The kernel spreads connections over the threads: so many in a row all but never miss one of two. */
const inARow = 16;

async function untilAllSay(version: string): Promise<void> {
  const expected = `${version} worker ${version} late ${version}`;
  const seen: string[] = [];
  while (seen.length < 500) {
    seen.push(await versionsNow());
    if (seen.length >= inARow && seen.slice(-inARow).every((each) => each === expected)) return;
  }
  assert.fail(`after 500 calls some still say ${JSON.stringify([...new Set(seen.slice(-inARow))])}`);
}

const logLines = (): { readonly level: string; readonly message?: string; readonly reason?: string; readonly package?: string }[] =>
  gateway.stderr().split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));

/** Changes files and waits for what thread 0 says about it. */
async function changed(files: Readonly<Record<string, string>>, message: RegExp): Promise<string> {
  const before = logLines().length;
  writeFiles(files);
  await gateway.until(() => logLines().slice(before).some((line) => message.test(JSON.stringify(line))));
  return logLines().slice(before).map((line) => line.reason ?? '').join('\n');
}

async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, text: string, wanted: string | undefined): Promise<string> {
  const decoder = new TextDecoder();
  let all = text;
  while (wanted === undefined || !all.includes(wanted)) {
    const { value, done } = await reader.read();
    if (done) break;
    all += decoder.decode(value, { stream: true });
  }
  return all;
}

describe('a local plugin folder', { timeout: 240_000 }, () => {
  it('is in service on all threads', () => untilAllSay('one'));

  it('is taken over when it changes, its own imports and workers too, while an open stream finishes on the version before', async () => {
    const open = await post({ output_guardrails: [{ 'acme.label': {} }] }, { stream: true });
    assert.ok(open.body !== null);
    const reader = open.body.getReader();
    const first = await readUntil(reader, '', 'first');
    assert.match(first, /one first/);
    const startedAtMs = performance.now();
    await changed(libraryOf('two'), /plugin package reloaded/);
    const tookMs = performance.now() - startedAtMs;
    await untilAllSay('two');
    release?.();
    const whole = await readUntil(reader, first, undefined);
    assert.match(whole, /one second/);
    assert.ok(!whole.includes('two'));
    const next = await post({ output_guardrails: [{ 'acme.label': {} }] }, { stream: true });
    release?.();
    assert.match(await next.text(), /two first[^]*two second/);
    assert.ok(tookMs < 30_000, `${tookMs} ms`);
  });

  it('stays as it is when the new version is at fault, and the log says where', async () => {
    const manifest = (contract: number): string => JSON.stringify({
      name: 'acme-local', version: '1.0.0', type: 'module', exports: { './guardrail/*': './guardrail/*.js' },
      gateway: { namespace: 'acme', contract: { guardrail: contract }, plugins: { guardrail: ['label', 'told'] } },
    }, null, 2);
    const refused = /new version of a plugin package refused/;
    const syntax = await changed({ 'lib/text.js': "export const other = 1;\nexport const text = ;\n" }, refused);
    assert.ok(syntax.includes(`could not be loaded: Unexpected token ';' (${folder}/lib/text.js:2)`), syntax);
    assert.equal(await versionsNow(), 'two worker two late two');
    const missing = await changed({ 'lib/text.js': "export const other = 1;\n" }, /provide an export/);
    assert.ok(missing.includes(`${folder}/lib/version.js:1)`), missing);
    const thrown = await changed({ ...libraryOf('three'), 'guardrail/told.js': told.replace('export default', "\nthrow new Error('no licence');\nexport default") }, /no licence/);
    assert.ok(thrown.includes(`could not be loaded: no licence (${folder}/guardrail/told.js:4)`), thrown);
    const contract = await changed({ 'guardrail/told.js': told, 'package.json': manifest(9) }, /the contract this gateway speaks/);
    assert.ok(contract.includes(`${folder}/package.json:11: gateway.contract.guardrail must be 1`), contract);
    await untilAllSay('two');
    await changed({ ...libraryOf('four'), 'package.json': manifest(1) }, /plugin package reloaded/);
    await untilAllSay('four');
  });

  it('that breaks in create is told with its file and line when a call meets it, and is mended by the next change', async () => {
    await changed({ 'guardrail/told.js': told.replace('create(_, host) {', "create(_, host) {\n    throw new Error('the moon is wrong');") }, /plugin package reloaded/);
    const ask = (): Promise<Response> => post({ input_guardrails: [{ 'acme.told': {} }] }, { stream: true });
    let answer = await ask();
    // The other thread may be a moment behind the one that logs.
    for (let calls = 1; answer.status !== 500 && calls < 500; calls += 1) {
      release?.();
      await answer.text();
      answer = await ask();
    }
    assert.equal(answer.status, 500);
    assert.match(await answer.text(), /plugin guardrail\/acme\.told failed: the moon is wrong/);
    await gateway.until((text) => /"cause":"Error: the moon is wrong[^"]*guardrail\/told\.js:7:/.test(text));
    await changed({ 'guardrail/told.js': told }, /plugin package reloaded/);
    await untilAllSay('four');
  });

  it('may be away for a while', async () => {
    rmSync(join(folder, 'lib/text.js'));
    await changed({}, /refused/);
    assert.equal(await versionsNow(), 'four worker four late four');
    await changed(libraryOf('five'), /plugin package reloaded/);
    await untilAllSay('five');
  });

  it('is left alone when what changes is not part of it', async () => {
    const before = logLines().length;
    writeFiles({ 'notes.log': 'x', 'guardrail/label.ts': 'x', 'lib/text.js': "export const text = 'five';\n" });
    await untilAllSay('five');
    assert.equal(logLines().length, before);
    gateway.kill('SIGTERM');
    assert.equal((await gateway.ended).code, 0);
  });
});
