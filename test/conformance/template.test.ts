// The SDK as it is published, and the package that comes with it to start from: packed, copied out, tested by itself, installed into a gateway
// by name, listed and called. Without a network.

import assert from 'node:assert/strict';
import type { ProviderPlugin } from '@gateway/plugin-sdk';
import { providerFaults, readFixtures } from '@gateway/plugin-sdk/testing';
import { cpSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { before, describe, it } from 'node:test';
import { runGateway, spawnGateway, temporaryFolder } from '../support/child-gateway.js';
import { adminKey, apiKey } from '../support/gateway.js';
import { install, pack, runProgram, type Packed } from '../support/npm.js';
import { startUpstream } from '../support/upstream.js';

const require = createRequire(import.meta.url);
const sdkFolder = dirname(require.resolve('@gateway/plugin-sdk/package.json'));
const installed = dirname(dirname(require.resolve('typescript/package.json')));
const tsc = join(installed, 'typescript/bin/tsc');

const folder = realpathSync(temporaryFolder());
const tarballs = join(folder, 'tarballs');
const template = join(folder, 'my-plugin');
const work = join(folder, 'work');
for (const made of [tarballs, work]) mkdirSync(made, { recursive: true });

const writeJson = (file: string, value: unknown): void => writeFileSync(file, JSON.stringify(value));

/** What npm install would bring from a registry. */
function linkTools(into: string): void {
  mkdirSync(join(into, 'node_modules/@types'), { recursive: true });
  mkdirSync(join(into, 'node_modules/.bin'), { recursive: true });
  for (const name of ['typescript', '@types/node', 'undici-types']) symlinkSync(join(installed, name), join(into, 'node_modules', name));
  symlinkSync(tsc, join(into, 'node_modules/.bin/tsc'));
}

/** The command of the SDK, from the repository. */
const command = (...argv: readonly string[]): Promise<string> => runProgram(process.execPath, [join(sdkFolder, 'bin/gateway-plugin.js'), ...argv], folder);
const faultsOf = async (module: string, fixtures: string): Promise<readonly { readonly faults: readonly string[] }[]> => {
  const { default: plugin }: { readonly default: ProviderPlugin } = await import(pathToFileURL(module).href);
  return readFixtures(fixtures).map((fixture) => ({ faults: providerFaults(plugin, fixture) }));
};

let sdk: Packed;
before(async () => { sdk = await pack(sdkFolder, tarballs); });

describe('the SDK, packed', () => {
  it('holds its build, its readme, its licence and the template, and nothing else', () => {
    const odd = sdk.files.filter((path) => !/^(?:package\.json|bin\/gateway-plugin\.js|README\.md|LICENSE|dist\/(?:api|src|testing)\/[a-z/-]+\.(?:js|d\.ts)|template\/(?:package\.json|README\.md|tsconfig\.json|src\/[a-z/.-]+\.ts|fixtures\/[a-z/.-]+\.(?:json|sse)))$/.test(path));
    assert.deepEqual(odd, []);
    for (const path of ['LICENSE', 'README.md', 'package.json', 'dist/src/index.js', 'dist/src/index.d.ts', 'dist/testing/index.js', 'dist/testing/index.d.ts', 'bin/gateway-plugin.js', 'template/package.json', 'template/README.md', 'template/src/provider/parrot.ts']) {
      assert.ok(sdk.files.includes(path), path);
    }
  });

  it('depends on nothing', () => {
    const manifest = JSON.parse(readFileSync(join(sdkFolder, 'package.json'), 'utf8'));
    assert.deepEqual([manifest.dependencies, manifest.peerDependencies, manifest.private], [undefined, undefined, undefined]);
    assert.match(manifest.version, /^1\./);
  });

  it('is imported and type-checked alone, far from this repository', async () => {
    const alone = join(folder, 'alone');
    mkdirSync(alone);
    writeJson(join(alone, 'package.json'), { name: 'alone', private: true, type: 'module' });
    await install([sdk.tarball], alone);
    writeFileSync(join(alone, 'run.js'), `
      import { defineStrategy, applyEdits } from '@gateway/plugin-sdk';
      import { conformStrategy, everySplit, fakeHost } from '@gateway/plugin-sdk/testing';
      console.log(defineStrategy({ title: 'T' }).contract, typeof applyEdits, typeof conformStrategy, [...everySplit(new Uint8Array(3))].length, fakeHost().now());`);
    assert.equal(await runProgram(process.execPath, ['run.js'], alone), '1 function function 4 1700000000000\n');
    linkTools(alone);
    writeFileSync(join(alone, 'consumer.ts'), `import { defineGuardrail, type Verdict } from '@gateway/plugin-sdk';
      import { fakeCheckInput, fakeHost } from '@gateway/plugin-sdk/testing';
      const plugin = defineGuardrail({ title: 'T', describe: 'D.', stages: ['input'], needs: { request: 'json' }, params: { type: 'object', properties: { n: { type: 'number', default: 1 } } },
        create: ({ n }) => ({ evaluate: (input) => ({ pass: input.text().length > n.valueOf() }) }) });
      export const verdict = (await plugin.create({ n: 1 }, fakeHost())).evaluate(fakeCheckInput()) as Verdict;
      // @ts-expect-error The types are there, so that this is none.
      plugin.create({ n: 'one' }, fakeHost());`);
    await runProgram(process.execPath, [tsc, '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', 'consumer.ts'], alone);
  });
});

interface Request {
  readonly url: string;
  readonly key: unknown;
  readonly body: Readonly<Record<string, unknown>>;
}

const requests: Request[] = [];
/** The provider of the template, as its documentation would have it. */
const upstream = await startUpstream((received, response) => {
  const body = received.json();
  requests.push({ url: received.url, key: received.headers['x-parrot-key'], body });
  const [turn] = (body.turns as readonly { readonly words: string }[]).slice(-1);
  const words = turn?.words ?? '';
  if (words === 'be tired') {
    response.writeHead(429, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ fault: { kind: 'tired', text: 'the parrot needs a rest' } }));
    return;
  }
  if (body.live !== true) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ squawk: 'sq-1', words: `${words}!`, why: 'done', spent: { heard: 2, said: 3 } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const word of words.split(' ')) response.write(`event: word\ndata: ${JSON.stringify({ words: `${word} ` })}\n\n`);
  response.end(`event: over\ndata: ${JSON.stringify({ why: 'done', spent: { heard: 2, said: 3 } })}\n\n`);
});

describe('the template', () => {
  it('passes its own tests when it is copied out', async () => {
    assert.match(await command('new', template), /^made .*my-plugin; next: cd there, npm install, npm test\n$/);
    await assert.rejects(command('new', template), /is not empty; name a folder that is new/);
    const file = join(template, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    assert.deepEqual(Object.keys(manifest.devDependencies).sort(), ['@gateway/plugin-sdk', '@types/node', 'typescript']);
    // No registry has the SDK, so npm is told where it is. There is none here for the tools either, which are those of the repository.
    assert.equal(realpathSync(join(template, manifest.devDependencies['@gateway/plugin-sdk'].replace(/^file:/, ''))), realpathSync(sdkFolder));
    const { typescript: _, '@types/node': __, ...devDependencies } = manifest.devDependencies;
    writeJson(file, { ...manifest, devDependencies });
    await install([], template);
    linkTools(template);
    const printed = await runProgram('npm', ['test'], template);
    assert.match(printed, /guardrail plugin: Topic density/);
    assert.match(printed, /does as documented: stream-cut/);
    assert.ok(Number(/^(?:#|ℹ) pass (\d+)$/m.exec(printed)?.[1]) > 20, printed);
    assert.match(printed, /^(?:#|ℹ) fail 0$/m);
    writeJson(file, manifest);
  });

  it('has a command that writes what its provider makes of a documented exchange', async () => {
    const fixtures = join(template, 'fixtures');
    assert.match(await runProgram('npm', ['run', 'fixtures'], template), /^error: as it was\nplain: as it was\nstream: as it was\nstream-broken: as it was\nstream-cut: as it was$/m);
    for (const [from, to] of [['plain', 'plain-again'], ['stream', 'stream-again'], ['error', 'error-again']] as const) {
      cpSync(join(fixtures, from), join(fixtures, to), { recursive: true });
      for (const name of ['upstream-request.json', 'response.json', 'response.sse.json']) rmSync(join(fixtures, to, name), { force: true });
    }
    const module = join(template, 'dist/provider/parrot.js');
    assert.match(await command('fixtures', module, fixtures), /^error-again: wrote upstream-request\.json, response\.json\n.*^plain-again: wrote upstream-request\.json, response\.json\n.*^stream-again: wrote upstream-request\.json, response\.sse\.json\n/ms);
    const written = (name: string, of: string): unknown => JSON.parse(readFileSync(join(fixtures, name, of), 'utf8'));
    for (const of of ['upstream-request.json', 'response.json']) assert.deepEqual(written('plain-again', of), written('plain', of));
    for (const of of ['upstream-request.json', 'response.sse.json']) assert.deepEqual(written('stream-again', of), written('stream', of));
    assert.deepEqual(written('error-again', 'response.json'), { status: 429, body: { error: { message: 'the parrot needs a rest', type: 'upstream_error', param: null, code: 'tired' } } });
    for (const { faults } of await faultsOf(module, fixtures)) assert.deepEqual(faults, []);
    await assert.rejects(command('fixtures', join(template, 'dist/provider/none.js'), fixtures), /there is no .*none\.js; build first/);
    await assert.rejects(command('fixtures', join(template, 'dist/guardrail/topic-density.js'), fixtures), /is not a provider/);
    for (const name of ['plain-again', 'stream-again', 'error-again']) rmSync(join(fixtures, name), { recursive: true });
  });

  it('is packed without its tests and installed into a fresh working directory by name', async () => {
    const packed = await pack(template, tarballs);
    assert.deepEqual(packed.files, [
      'README.md', 'dist/guardrail/topic-density-worker.js', 'dist/guardrail/topic-density.js', 'dist/guardrail/topic-score.js', 'dist/provider/parrot.js', 'package.json',
    ]);
    writeJson(join(work, 'package.json'), { name: 'work', private: true });
    await install([sdk.tarball, packed.tarball], work);
    const manifest = JSON.parse(readFileSync(join(work, 'node_modules/gateway-plugin-example/package.json'), 'utf8'));
    assert.equal(manifest.gateway.namespace, 'example');
  });

  it('is listed with its parameters and its status', async () => {
    const environment = { GATEWAY_PLUGINS: 'gateway-plugin-example', GATEWAY_DATA_DIR: join(folder, 'listed') };
    const [all, one] = await Promise.all([runGateway(['plugins'], environment, work), runGateway(['plugins', 'example.topicDensity'], environment, work)]);
    assert.deepEqual([all.code, one.code], [0, 0], all.stderr + one.stderr);
    assert.match(all.stdout, /^guardrail +example\.topicDensity +ok +1\.0\.0 +gateway-plugin-example +Topic density$/m);
    assert.match(all.stdout, /^provider +example\.parrot +ok +1\.0\.0 +gateway-plugin-example +Parrot$/m);
    assert.match(all.stdout, /^guardrail +default\.regexMatch +ok +\S+ +gateway +Regex match$/m);
    assert.match(one.stdout, /^status +ok$/m);
    assert.match(one.stdout, /^streams +held whole$/m);
    assert.match(one.stdout, /^ +terms +object of number from 0 +required +Single words and what each of them weighs\.$/m);
    assert.match(one.stdout, /^ +threshold +number above 0 +10 +A text fails/m);
  });

  let url = '';
  const chat = async (content: string, config: Readonly<Record<string, unknown>> = {}, more: Readonly<Record<string, unknown>> = {}): Promise<{ readonly status: number; readonly text: string; readonly body: any }> => {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json', 'x-gateway-api-key': apiKey,
        'x-gateway-config': JSON.stringify({ provider: 'example.parrot', api_key: 'cracker', custom_host: `${upstream.url}/v2`, ...config }),
      },
      body: JSON.stringify({ model: 'grey-1', messages: [{ role: 'user', content }], ...more }),
    });
    const text = await answer.text();
    return { status: answer.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined };
  };
  const said = (stream: string): string => [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, data = '{}']) => JSON.parse(data).choices?.[0]?.delta?.content ?? '').join('');

  const callsProvider = async (): Promise<void> => {
    const plain = await chat('hello there');
    assert.equal(plain.status, 200, plain.text);
    assert.equal(plain.body.choices[0].message.content, 'hello there!');
    assert.deepEqual(plain.body.usage, { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 });
    assert.deepEqual(requests.at(-1), { url: '/v2/repeat', key: 'cracker', body: { engine: 'grey-1', turns: [{ by: 'human', words: 'hello there' }], live: false } });
    const streamed = await chat('one two three', {}, { stream: true });
    assert.equal(streamed.status, 200, streamed.text);
    assert.equal(said(streamed.text), 'one two three ');
    assert.match(streamed.text, /data: \[DONE\]\s*$/);
    const tired = await chat('be tired');
    assert.deepEqual([tired.status, tired.body.error.code], [429, 'tired']);
    assert.match(tired.body.error.message, /the parrot needs a rest/);
    const refused = await chat('hello', {}, { tools: [{ type: 'function', function: { name: 'f' } }] });
    assert.equal(refused.status, 400);
    assert.equal(refused.body.error.param, 'tools');
    const messages = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ provider: 'example.parrot', api_key: 'cracker', custom_host: `${upstream.url}/v2` }) },
      body: JSON.stringify({ model: 'grey-1', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }),
    });
    assert.deepEqual((await messages.json() as any).content, [{ type: 'text', text: 'hi!' }]);
  };

  const guarded = (stage: 'input' | 'output', deny: boolean): Readonly<Record<string, unknown>> => ({ [`${stage}_guardrails`]: [{ deny, 'example.topicDensity': { terms: { casino: 2, bet: 1 }, timeout: 60_000 } }] });

  const judgesCalls = async (): Promise<void> => {
    const passed = await chat('what a fine day', guarded('input', true));
    assert.equal(passed.status, 200, passed.text);
    const marked = await chat('casino casino', guarded('input', false));
    assert.equal(marked.status, 246, marked.text);
    requests.length = 0;
    const denied = await chat('casino casino', guarded('input', true));
    assert.equal(denied.status, 446, denied.text);
    assert.match(denied.text, /"explanation"|the topic has a density of 20, and 10 is too much/);
    assert.equal(requests.length, 0, 'a denied request goes nowhere');
    // In the worker pool: 20 000 words.
    const long = await chat('casino or not '.repeat(7_000), guarded('input', true));
    assert.equal(long.status, 446, long.text.slice(0, 300));
    assert.equal((await chat('a fine day '.repeat(7_000), guarded('input', true))).status, 200);
  };

  const judgesAnswers = async (): Promise<void> => {
    assert.equal((await chat('fine day', guarded('output', true))).status, 200);
    assert.equal((await chat('casino bet', guarded('output', true))).status, 446);
    const passed = await chat('a fine day', guarded('output', true), { stream: true });
    assert.equal(passed.status, 200);
    assert.equal(said(passed.text), 'a fine day ');
    const denied = await chat('casino bet casino', guarded('output', true), { stream: true });
    assert.equal(denied.status, 446, denied.text);
    assert.ok(!said(denied.text).includes('casino'));
    // The parameters are the schema's.
    const wrong = await chat('hi', { input_guardrails: [{ 'example.topicDensity': { terms: {}, threshold: 0 } }] });
    assert.equal(wrong.status, 400);
    assert.match(wrong.body.error.message, /threshold/);
  };

  it('is in service in a gateway that names it', async (context) => {
    const gateway = spawnGateway(['start'], {
      GATEWAY_PORT: '0', GATEWAY_THREADS: '2', GATEWAY_DATA_DIR: join(folder, 'data'), GATEWAY_API_KEY: apiKey, GATEWAY_ADMIN_KEY: adminKey, GATEWAY_TRUSTED_HOSTS: '127.0.0.1',
      GATEWAY_LOG_LEVEL: 'info', GATEWAY_RETRY_DELAY_MS: '1', GATEWAY_PLUGINS: 'gateway-plugin-example',
    }, work);
    await gateway.until((text) => /Base URL +\S+\n[^]*curl /.test(text));
    url = /Base URL +(\S+)\n/.exec(gateway.stdout())?.[1] ?? '';
    await context.test('its provider answers, plain and streamed, in two dialects', callsProvider);
    await context.test('its guardrail judges calls: passes, marks and denies', judgesCalls);
    await context.test('its guardrail judges answers, plain and streamed', judgesAnswers);
    gateway.kill('SIGTERM');
    await gateway.ended;
    assert.ok(!/"level":"(?:error|warn)"/.test(gateway.stderr()), gateway.stderr());
  });
});
