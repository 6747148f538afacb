// A package as somebody else would publish it, next to a running gateway: one installed by name, one given by path, and all that can be
// wrong with others beside them.

import type { PluginKind } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkGateway } from '../../core/app.js';
import { readSettings } from '../../core/settings/read.js';
import { temporaryFolder, writePackage } from '../core/registry/plugin-package.js';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { answerChat, startUpstream } from '../support/upstream.js';

const roundRobin = `import { defineStrategy, ParameterError } from '@gateway/plugin-sdk';

export default defineStrategy({
  title: 'Round robin',
  describe: 'One target after the other.',
  params: { type: 'object', properties: { start: { type: 'integer', minimum: 0, default: 0 } } },
  create({ start }, host, targets) {
    if (start >= targets.length) throw new ParameterError('start', 'must be the index of a target');
    let turn = start;
    return {
      next(exchange, all, outcomes) {
        if (outcomes.length > 0) return -1;
        host.count('turns');
        const at = turn % all.length;
        turn += 1;
        return at;
      },
    };
  },
});
`;

const failing = `import { defineStrategy } from '@gateway/plugin-sdk';
export default defineStrategy({
  title: 'Failing', describe: 'Breaks at its first turn.', params: { type: 'object', properties: { when: { type: 'string', enum: ['create', 'next', 'range'] } }, required: ['when'] },
  create({ when }) {
    if (when === 'create') throw new Error('the moon is wrong');
    return { next() { if (when === 'range') return 7; throw new Error('the wind is wrong'); } };
  },
});
`;

const echo = `import { defineProvider } from '@gateway/plugin-sdk';

export default defineProvider({
  title: 'Echo',
  describe: 'Says what it was asked, and needs no network.',
  baseUrl: '',
  auth: { type: 'none' },
  params: { type: 'object', properties: {} },
  endpoints: { chatCompletions: '/chat/completions' },
  transport: (host) => ({
    send(outgoing, listener) {
      const body = JSON.parse(new TextDecoder().decode(outgoing.body));
      listener.onHead(200, ['content-type', 'application/json']);
      listener.onChunk(new TextEncoder().encode(JSON.stringify({ object: 'chat.completion', echo: body.messages, path: outgoing.url.pathname })));
      listener.onEnd();
      return { pause() {}, resume() {}, cancel() {} };
    },
  }),
});
`;

const tone = `import { defineGuardrail } from '@gateway/plugin-sdk';
export default defineGuardrail({
  title: 'Tone', describe: 'Passes.', stages: ['input'], needs: { request: 'json' }, params: { type: 'object', properties: { words: { type: 'array' } }, required: ['words'] },
  create: () => ({ evaluate: () => ({ pass: true }) }),
});
`;

const watching = `import { defineStrategy } from '@gateway/plugin-sdk';
export default defineStrategy({
  title: 'Watching', describe: 'Every target in turn, and notes how they did.', params: { type: 'object', properties: {} },
  create: () => ({
    next(exchange, targets, outcomes) {
      globalThis.watched = outcomes.map(({ target, status, provider, model, tookMs, error }) => ({ target, status, provider, model, tookMs, hasError: error !== undefined }));
      return outcomes.at(-1)?.status === 200 || outcomes.length === targets.length ? -1 : outcomes.length;
    },
  }),
});
`;

const wide = `import { defineCompatible } from '@gateway/plugin-sdk';
export default defineCompatible({ title: 'Wide', describe: 'Over HTTP.', baseUrl: 'https://api.wide.example/v1', auth: { type: 'header', name: 'x-wide-key' }, endpoints: { chatCompletions: '/talk' } });
`;

const folder = temporaryFolder();
writePackage(join(folder, 'node_modules/acme-gateway'), {
  name: 'acme-gateway',
  gateway: { namespace: 'acme', contract: { strategy: 1, provider: 1, guardrail: 1 }, plugins: { strategy: ['roundRobin', 'failing', 'watching'], provider: ['echo'], guardrail: ['tone'] } },
  files: { 'guardrail/tone.js': tone, 'strategy/watching.js': watching, 'strategy/roundRobin.js': roundRobin, 'strategy/failing.js': failing, 'provider/echo.js': echo },
});
const byPath = writePackage(join(folder, 'elsewhere'), {
  name: '@wide/gateway',
  gateway: { namespace: 'wide', contract: { provider: 1, strategy: 1 }, plugins: { provider: ['api'], strategy: ['broken'] } },
  files: { 'provider/api.js': wide, 'strategy/broken.js': "throw new Error('written on a Friday');" },
});
const bad = (name: string, gateway: unknown, files: Readonly<Record<string, string>> = { 'strategy/x.js': 'export default {};' }): string =>
  writePackage(join(folder, name), { name, gateway, files });
const refused: readonly (readonly [folder: string, fault: RegExp])[] = [
  [bad('without-member', undefined), /has no "gateway" member; add/],
  [bad('unknown-kind', { namespace: 'one', contract: { route: 1 }, plugins: { route: ['x'] } }), /gateway\.plugins\.route is not a plugin kind/],
  [bad('later-contract', { namespace: 'two', contract: { strategy: 9 }, plugins: { strategy: ['x'] } }), /gateway\.contract\.strategy must be 1/],
  [bad('taken', { namespace: 'acme', contract: { strategy: 1 }, plugins: { strategy: ['x'] } }), /gateway\.namespace acme is taken by acme-gateway/],
  [bad('without-module', { namespace: 'three', contract: { strategy: 1 }, plugins: { strategy: ['x'] } }, {}), /"exports" must lead "\.\/strategy\/x", which gateway\.plugins lists, to a module/],
];

const work = join(folder, 'work/deep');
mkdirSync(work, { recursive: true });
// Bare names are looked up from the working directory.
process.chdir(work);
const plugins = ['acme-gateway', ...refused.map(([path]) => path), byPath].join(',');

const upstream = await startUpstream();
const gateway = await startTestGateway({ GATEWAY_PLUGINS: plugins });

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly echo?: unknown; readonly path?: string; readonly error?: { readonly message: string; readonly code: string; readonly param: string | null } };
}

async function chat(headers: Readonly<Record<string, string>>): Promise<Answer> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() as Answer['body'] };
}

const target = (name: string): object => ({ name, provider: 'openai', api_key: `sk-${name}`, custom_host: `${upstream.url}/${name}` });
const config = (strategy: object, targets = [target('a'), target('b'), target('c')]): Record<string, string> => ({ 'x-gateway-config': JSON.stringify({ strategy, targets }) });

describe('a third-party strategy', () => {
  it('routes calls by its dotted id', async () => {
    upstream.answer = answerChat;
    upstream.received.length = 0;
    const headers = config({ mode: 'acme.roundRobin' });
    const used: (string | null)[] = [];
    for (let count = 0; count < 4; count += 1) used.push((await chat(headers)).headers.get('x-gateway-last-used-option-index'));
    assert.deepEqual(used, ['config.targets[0]', 'config.targets[1]', 'config.targets[2]', 'config.targets[0]']);
    assert.deepEqual(upstream.received.map((received) => [received.url, received.headers.authorization]), [
      ['/a/chat/completions', 'Bearer sk-a'], ['/b/chat/completions', 'Bearer sk-b'], ['/c/chat/completions', 'Bearer sk-c'], ['/a/chat/completions', 'Bearer sk-a'],
    ]);
  });

  it('gets its parameters from the config, checked by its own schema', async () => {
    assert.equal((await chat(config({ mode: 'acme.roundRobin', start: 2 }))).headers.get('x-gateway-last-used-option-index'), 'config.targets[2]');
    for (const [strategy, param, reason] of [
      [{ mode: 'acme.roundRobin', start: -1 }, 'config.strategy.start', /must be >= 0/],
      [{ mode: 'acme.roundRobin', begin: 1 }, 'config.strategy', /additional properties \(begin\)/],
      [{ mode: 'acme.roundRobin', start: 3 }, 'config.strategy.start', /must be the index of a target/],
    ] as const) {
      const { status, body } = await chat(config(strategy));
      assert.equal(status, 400);
      assert.equal(body.error?.code, 'config_invalid');
      assert.equal(body.error.param, param);
      assert.match(body.error.message, reason);
    }
  });

  it('stands inside other strategies', async () => {
    upstream.answer = (received, response) => {
      response.writeHead(received.url.startsWith('/a') ? 500 : 200, { 'content-type': 'application/json' });
      response.end('{}');
    };
    const { status, headers } = await chat({
      'x-gateway-config': JSON.stringify({ strategy: { mode: 'fallback' }, targets: [{ strategy: { mode: 'acme.roundRobin' }, targets: [target('a'), target('a2')] }, target('b')] }),
    });
    assert.equal(status, 200);
    assert.equal(headers.get('x-gateway-last-used-option-index'), 'config.targets[1]');
    upstream.answer = answerChat;
  });

  it('learns from each outcome who was asked for what, and how long it took', async () => {
    const slowMs = 30;
    upstream.answer = (received, response) => {
      if (received.url.startsWith('/a')) setTimeout(() => { response.writeHead(500).end('{}'); }, slowMs);
      else if (received.url.startsWith('/b')) response.destroy();
      else answerChat(received, response, response.req);
    };
    const nested = { strategy: { mode: 'fallback' }, targets: [{ ...target('a'), provider: 'groq' }, { ...target('b'), override_params: { model: 'theirs' } }] };
    assert.equal((await chat(config({ mode: 'acme.watching' }, [target('a'), nested, target('c')] as never))).status, 200);
    const watched: { tookMs: number }[] = Reflect.get(globalThis, 'watched');
    assert.deepEqual(watched.map(({ tookMs: _, ...rest }) => rest), [
      { target: 0, status: 500, provider: 'openai', model: 'm', hasError: false },
      { target: 1, status: 502, provider: 'openai', model: 'theirs', hasError: true },
      { target: 2, status: 200, provider: 'openai', model: 'm', hasError: false },
    ]);
    // A timer may be a moment early.
    assert.ok(watched.slice(0, 2).every(({ tookMs }) => tookMs >= slowMs - 2), JSON.stringify(watched));
    upstream.answer = answerChat;
  });

  it('that fails gets the blame by name, and only its own routes fail', async () => {
    for (const [when, code, message] of [
      ['create', 'plugin_failed', /^plugin strategy\/acme\.failing failed: the moon is wrong$/],
      ['next', 'plugin_failed', /^plugin strategy\/acme\.failing failed: the wind is wrong$/],
      ['range', 'no_target', /target 7, which does not exist/],
    ] as const) {
      const { status, body } = await chat(config({ mode: 'acme.failing', when }));
      assert.equal(status, when === 'range' ? 400 : 500);
      assert.equal(body.error?.code, code);
      assert.match(body.error.message, message);
    }
    assert.equal((await chat(config({ mode: 'acme.roundRobin' }))).status, 200);
  });
});

describe('a third-party provider', () => {
  it('answers by its dotted id in the provider header', async () => {
    const { status, headers, body } = await chat({ 'x-gateway-provider': 'acme.echo' });
    assert.equal(status, 200);
    assert.deepEqual(body.echo, [{ role: 'user', content: 'hello' }]);
    assert.equal(body.path, '/chat/completions');
    assert.equal(headers.get('x-gateway-provider'), 'acme.echo');
  });

  it('is a target like another in a config', async () => {
    const { headers, body } = await chat({ 'x-gateway-config': JSON.stringify({ strategy: { mode: 'fallback' }, targets: [{ ...target('a'), custom_host: 'http://127.0.0.1:1/v1' }, { provider: 'acme.echo' }] }) });
    assert.deepEqual(body.echo, [{ role: 'user', content: 'hello' }]);
    assert.equal(headers.get('x-gateway-last-used-option-index'), 'config.targets[1]');
  });

  it('from a package given by path goes over HTTP with the credential where it says', async () => {
    const { status } = await chat({ 'x-gateway-config': JSON.stringify({ provider: 'wide.api', api_key: 'wide-secret', custom_host: `${upstream.url}/v9` }) });
    assert.equal(status, 200);
    const sent = upstream.received.at(-1);
    assert.equal(sent?.url, '/v9/talk');
    assert.equal(sent.headers['x-wide-key'], 'wide-secret');
    assert.equal(sent.headers.authorization, undefined);
  });
});

describe('a name that is misspelt', () => {
  it('is refused with the one that was meant, of any kind of plugin', async () => {
    const openai = { provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1` };
    const before = upstream.received.length;
    for (const [given, code, reason] of [
      [{ provider: 'openapi', api_key: 'sk' }, 'provider_unknown', /^unknown provider openapi; did you mean openai\?$/],
      [{ provider: 'acme.ehco' }, 'config_invalid', /./],
      [{ provider: 'acme.ehco', api_key: 'k' }, 'provider_unknown', /^unknown provider acme\.ehco; did you mean acme\.echo\?$/],
      [{ provider: 'nothing-like-it', api_key: 'k' }, 'provider_unknown', /^unknown provider nothing-like-it; gateway plugins provider lists/],
      [{ strategy: { mode: 'acme.roundRobbin' }, targets: [openai] }, 'config_invalid', /no strategy acme\.roundRobbin is installed; did you mean acme\.roundRobin\?$/],
      [{ strategy: { mode: 'falback' }, targets: [openai] }, 'config_invalid', /; did you mean fallback\?$/],
      [{ ...openai, cache: { mode: 'simpel' } }, 'config_invalid', /; did you mean simple\?$/],
      [{ ...openai, input_guardrails: [{ 'acme.tome': { words: [] } }] }, 'config_invalid', /no check acme\.tome is installed; did you mean acme\.tone\?$/],
      [{ ...openai, input_guardrails: [{ 'acme.nonsense': {} }] }, 'config_invalid', /no check acme\.nonsense is installed; those of acme are: acme\.tone$/],
      [{ ...openai, input_guardrails: [{ regexMacth: { rule: 'x' } }] }, 'config_invalid', /no check default\.regexMacth is installed; did you mean default\.regexMatch\?$/],
      [{ ...openai, input_guardrails: [{ 'gateway.pi': {} }] }, 'config_invalid', /no check gateway\.pi is installed; did you mean default\.pii\?$/],
      [{ ...openai, before_request_hooks: [{ id: 'h', type: 'gardrail' }] }, 'config_invalid', /; did you mean guardrail\?$/],
      [{ ...openai, input_guardrails: [{ 'acme.tone': { word: ['a'] } }] }, 'config_invalid', /additional properties \(word\); did you mean words\?$/],
    ] as const) {
      const { status, body } = await chat({ 'x-gateway-config': JSON.stringify(given) });
      assert.deepEqual([status, body.error?.code], [400, code], JSON.stringify(given));
      assert.match(body.error?.message ?? '', reason);
    }
    assert.equal(upstream.received.length, before);
    // Another namespace may be installed later.
    upstream.answer = answerChat;
    assert.equal((await chat({ 'x-gateway-config': JSON.stringify({ ...openai, input_guardrails: [{ 'elsewhere.tone': {} }] }) })).status, 200);
  });
});

describe('plugin packages at fault', () => {
  it('do not keep their good plugins or the others from working', async () => {
    const broken = await chat(config({ mode: 'wide.broken' }));
    assert.equal(broken.status, 500);
    assert.equal(broken.body.error?.code, 'plugin_invalid');
    assert.match(broken.body.error.message, /^plugin strategy\/wide\.broken: could not be loaded: written on a Friday \(.*elsewhere\/strategy\/broken\.js:1\)$/);
    for (const mode of ['one.x', 'two.x', 'three.x', 'acme.x', 'acme.absent']) {
      const { status, body } = await chat(config({ mode }));
      assert.equal(status, 400, mode);
      assert.match(body.error?.message ?? '', new RegExp(`no strategy ${mode.replace('.', '\\.')} is installed`));
    }
    assert.equal((await chat({ 'x-gateway-provider': 'acme.absent' })).body.error?.code, 'provider_unknown');
  });

  it('are each reported by the check with the file at fault and what to change', async () => {
    const settings = readSettings({ GATEWAY_PLUGINS: plugins.replace(byPath, '../../elsewhere'), GATEWAY_DATA_DIR: join(folder, 'data'), GATEWAY_STORAGE: 'memory', GATEWAY_THREADS: '1', GATEWAY_LOG_LEVEL: 'error' }, work);
    const results = await checkGateway(settings);
    const faultOf = (subject: string): string | undefined => {
      const found = results.find((result) => result.subject === subject);
      assert.ok(found !== undefined, subject);
      return found.fault;
    };
    for (const [path, fault] of refused) {
      const message = faultOf(`package ${path}`) ?? '';
      assert.match(message, fault);
      assert.ok(message.includes(join(path, 'package.json')), message);
    }
    for (const subject of ['package acme-gateway', `package ${byPath}`, 'strategy acme.roundRobin', 'provider acme.echo', 'provider wide.api', 'strategy fallback', 'provider openai']) assert.equal(faultOf(subject), undefined, subject);
    assert.match(faultOf('strategy wide.broken') ?? '', /written on a Friday/);
    const kinds: readonly PluginKind[] = ['strategy', 'provider', 'storage', 'exporter'];
    for (const kind of kinds) assert.ok(results.some(({ subject }) => subject.startsWith(`${kind} `)), kind);
  });
});
