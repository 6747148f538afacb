// Every provider's fixtures: by the kit of the SDK, by core's own stream classes with both translators behind them, and over sockets
// through a running gateway, so that the kit cannot drift from what core does.

import type { EndpointSpec, FrameDecoder, ProviderPlugin } from '@gateway/plugin-sdk';
import { checkMessagesEvents, checkResponsesEvents, fakeCall, providerFaults, readFixtures, SseReader, type Fixture } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { MessagesStage } from '../../core/dialect/messages/stream.js';
import { ResponsesStage } from '../../core/dialect/responses/stream.js';
import { StageChain } from '../../core/stream/stages.js';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { startUpstream } from '../support/upstream.js';

const here = dirname(fileURLToPath(import.meta.url));
const built = join(here, '../../providers');
const sources = join(findRoot(here), 'providers');

function findRoot(from: string): string {
  const manifest = join(from, 'package.json');
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).name === 'gateway') return from;
  assert.notEqual(dirname(from), from, 'no package.json of the gateway above this file');
  return findRoot(dirname(from));
}

interface Case { readonly id: string; readonly plugin: ProviderPlugin; readonly fixture: Fixture }

const cases: Case[] = [];
for (const id of readdirSync(sources, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name).sort()) {
  const fixtures = readFixtures(join(sources, id, 'fixtures'));
  if (fixtures.length === 0) continue;
  const plugin: ProviderPlugin = (await import(pathToFileURL(join(built, id, 'provider.js')).href)).default;
  for (const fixture of fixtures) cases.push({ id, plugin, fixture });
}
const nameOf = ({ id, fixture }: Case): string => `${id}/${fixture.name}`;
const none = (faults: readonly string[]): void => assert.deepEqual(faults, [], `\n  ${faults.join('\n  ')}\n`);

/** The families whose wire format differs, and what each has to show at least. */
const families = ['anthropic', 'azure-ai', 'azure-openai', 'bedrock', 'cohere', 'google', 'jina', 'mistral-ai', 'ollama', 'vertex-ai', 'voyage'];

function missingCases(id: string, plugin: ProviderPlugin, fixtures: readonly Fixture[]): string[] {
  const chat = plugin.endpoints.chatCompletions;
  // One in process needs no provider's documentation.
  if (chat === undefined || plugin.transport !== undefined) return [];
  if (typeof chat !== 'function' && (typeof chat === 'string' || (chat.request === undefined && chat.response === undefined && chat.stream === undefined))) return [];
  const own = fixtures.filter(({ request }) => request.endpoint === 'chatCompletions');
  const kinds: readonly (readonly [kind: string, isIn: (fixture: Fixture) => boolean])[] = [
    ['plain', ({ upstream }) => !upstream.isStream && upstream.status < 300], ['streamed', ({ upstream }) => upstream.isStream],
    ['tool call', ({ request }) => request.body.tools !== undefined], ['error', ({ upstream }) => upstream.status >= 400],
  ];
  return kinds.filter(([, isIn]) => !own.some(isIn)).map(([kind]) => `providers/${id}/fixtures: no ${kind} case of chatCompletions, which has functions of its own; gateway-plugin fixtures writes the expected files`);
}

describe('fixtures', () => {
  test('are there for every family', () => {
    const found = new Set(cases.map(({ id }) => id));
    assert.deepEqual(families.filter((id) => !found.has(id)), []);
  });

  test('are there for every provider with functions of its own: plain, streamed, a tool call, an error', async () => {
    const missing: string[] = [];
    for (const id of readdirSync(sources, { withFileTypes: true }).filter((entry) => entry.isDirectory() && existsSync(join(sources, entry.name, 'provider.ts'))).map((entry) => entry.name)) {
      const { default: plugin }: { readonly default: ProviderPlugin } = await import(pathToFileURL(join(built, id, 'provider.js')).href);
      missing.push(...missingCases(id, plugin, cases.filter((each) => each.id === id).map(({ fixture }) => fixture)));
    }
    none(missing);
  });

  test('that are missing are told by name', () => {
    const own = cases.find(({ id }) => id === 'anthropic')?.plugin;
    assert.ok(own !== undefined);
    assert.deepEqual(missingCases('acme', own, []), ['plain', 'streamed', 'tool call', 'error'].map((kind) => `providers/acme/fixtures: no ${kind} case of chatCompletions, which has functions of its own; gateway-plugin fixtures writes the expected files`));
    assert.deepEqual(missingCases('acme', { ...own, endpoints: { chatCompletions: { path: '/chat' }, models: '/models' } }, []), []);
  });

  for (const each of cases) test(`${nameOf(each)} is as documented, however it is cut`, () => none(providerFaults(each.plugin, each.fixture)));
});

// ---- the streams of every provider, in the other two dialects ----

function chain(spec: EndpointSpec, fixture: Fixture, dialect: 'messages' | 'responses', chunks: readonly Uint8Array[]): { events: { event?: string; data: unknown }[]; fault: string } {
  const call = fakeCall(fixture.request.body, { endpoint: 'chatCompletions', credentials: fixture.request.credentials ?? {}, isStrict: false });
  const translator = dialect === 'messages'
    ? new MessagesStage({ id: 'exchange', model: call.model })
    : new ResponsesStage({ id: 'resp_exchange', createdAt: call.createdAt, model: call.model, request: { model: call.model, input: 'hello' }, isStored: false });
  let text = '';
  let fault = '';
  const stages = spec.stream === undefined ? [translator] : [spec.stream(call), translator];
  const decoder: FrameDecoder | null = spec.framing?.decoder() ?? null;
  const streams = new StageChain(stages, (bytes) => { text += Buffer.from(bytes).toString(); }, (error) => { fault = error.message; }, decoder);
  for (const chunk of chunks) streams.push(chunk);
  streams.end();
  const events: { event?: string; data: unknown }[] = [];
  const reader = new SseReader();
  const emit = (event: { event: string | undefined; data: string }): void => { events.push({ ...(event.event === undefined ? {} : { event: event.event }), data: JSON.parse(event.data) }); };
  reader.push(Buffer.from(text), emit);
  reader.end(emit);
  return { events, fault };
}

function chatSpec({ plugin, fixture }: Case): EndpointSpec | undefined {
  const entry = plugin.endpoints.chatCompletions;
  const chosen = typeof entry === 'function' ? entry(fakeCall(fixture.request.body, { credentials: fixture.request.credentials ?? {} })) : entry;
  return typeof chosen === 'string' ? { path: chosen } : chosen;
}

const cutsMax = 100;

describe('streams of providers', () => {
  const streamed = cases.filter(({ fixture }) => fixture.upstream.isStream && fixture.request.endpoint === 'chatCompletions');
  for (const dialect of ['messages', 'responses'] as const) {
    for (const each of streamed) {
      test(`${nameOf(each)} keeps the grammar of ${dialect}, however it is cut`, () => {
        const spec = chatSpec(each);
        assert.ok(spec !== undefined);
        const { bytes } = each.fixture.upstream;
        const fails = each.fixture.events?.some((event) => 'fail' in event) === true;
        const whole = chain(spec, each.fixture, dialect, [bytes]);
        assert.equal(whole.fault !== '', fails, whole.fault);
        if (!fails) none(dialect === 'messages' ? checkMessagesEvents(whole.events) : checkResponsesEvents(whole.events));
        // Every boundary at once, then some by themselves: the kit cuts the provider's own stream at each place.
        assert.ok(isDeepStrictEqual(chain(spec, each.fixture, dialect, [...bytes].map((_, at) => bytes.subarray(at, at + 1))), whole), 'byte by byte');
        const step = Math.max(1, Math.ceil(bytes.length / cutsMax));
        for (let at = 1; at < bytes.length; at += step) {
          const cut = chain(spec, each.fixture, dialect, [bytes.subarray(0, at), bytes.subarray(at)]);
          assert.ok(isDeepStrictEqual(cut, whole), `cut at byte ${at}`);
        }
      });
    }
  }
});

// ---- over sockets ----

const gateway = await startTestGateway();
const upstream = await startUpstream();

const paths: Readonly<Record<string, string>> = {
  chatCompletions: '/v1/chat/completions', completions: '/v1/completions', messages: '/v1/messages', countTokens: '/v1/messages/count_tokens',
  responses: '/v1/responses', embeddings: '/v1/embeddings', imageGenerations: '/v1/images/generations', speech: '/v1/audio/speech',
  rerank: '/v1/rerank', moderations: '/v1/moderations', models: '/v1/models',
};

/** What differs from call to call, as the fixtures have it. */
function normalised(text: string, exchangeId: string): unknown {
  const fixed = text.replaceAll(exchangeId, 'exchange').replaceAll(exchangeId.replaceAll('-', ''), 'exchange');
  return JSON.parse(fixed, (key, value: unknown) => (key === 'provider' && typeof value === 'string' ? 'provider' : key === 'created' && typeof value === 'number' && Math.abs(value - Date.now() / 1000) < 100 ? 1_700_000_000 : value));
}

async function throughGateway({ id, plugin, fixture }: Case): Promise<string[]> {
  const { request, upstreamRequest } = fixture;
  assert.ok(upstreamRequest !== undefined);
  const path = paths[request.endpoint];
  if (path === undefined) return [];
  upstream.received.length = 0;
  upstream.answer = (_, response) => {
    response.writeHead(fixture.upstream.status, { ...fixture.upstream.headers });
    // In pieces that end anywhere.
    const { bytes } = fixture.upstream;
    for (let at = 0; at < bytes.length; at += 97) response.write(bytes.subarray(at, at + 97));
    response.end();
  };
  const keys = plugin.auth.type === 'signed' ? { cloud1_access_key_id: 'AKIDEXAMPLE', cloud1_secret_access_key: 'secret' } : {};
  const known = Object.fromEntries(Object.entries(keys).filter(([name]) => name in plugin.params.properties));
  const config = { provider: id, api_key: 'sk-fixture', ...known, ...request.credentials, custom_host: upstream.url };
  if (Object.keys(known).length > 0) delete (config as { api_key?: string }).api_key;
  const isRead = request.endpoint === 'models';
  const answer = await fetch(gateway.url + path, {
    method: isRead ? 'GET' : 'POST',
    headers: {
      'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(config), ...(isRead ? {} : { 'content-type': 'application/json' }),
      'x-gateway-strict-reference-compliance': String(request.isStrict ?? true), ...request.headers,
    },
    ...(isRead ? {} : { body: JSON.stringify(request.body) }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const exchangeId = answer.headers.get('x-gateway-trace-id') ?? '';
  const [received] = upstream.received;
  if (received === undefined) return [`nothing was sent: ${answer.status} ${bytes.toString()}`];
  const faults: string[] = [];
  if (received.url !== upstreamRequest.path) faults.push(`sent to ${received.url}, not ${upstreamRequest.path}`);
  if (upstreamRequest.body !== undefined && !isRead) {
    const sent = normalised(received.body.toString(), exchangeId);
    if (!isDeepStrictEqual(sent, upstreamRequest.body)) faults.push(`sent ${JSON.stringify(sent)}, not ${JSON.stringify(upstreamRequest.body)}`);
  }
  for (const [name, value] of Object.entries(upstreamRequest.headers ?? {})) if (received.headers[name] !== value) faults.push(`sent ${name}: ${String(received.headers[name])}, not ${value}`);
  return [...faults, ...answerFaults(fixture, answer, bytes, exchangeId)];
}

function answerFaults(fixture: Fixture, answer: Response, bytes: Buffer, exchangeId: string): string[] {
  if (fixture.events === undefined) {
    if (answer.status !== fixture.response?.status) return [`answered ${answer.status}, not ${fixture.response?.status}: ${bytes.toString()}`];
    if (!(answer.headers.get('content-type') ?? '').startsWith('application/json')) return [];
    const got = normalised(bytes.toString(), exchangeId);
    const expected = fixture.response.body;
    if (answer.status >= 400) return messageOf(got) === messageOf(expected) ? [] : [`told ${JSON.stringify(got)}, not ${JSON.stringify(expected)}`];
    return isDeepStrictEqual(JSON.parse(JSON.stringify(got)), expected) ? [] : [`answered ${JSON.stringify(got)}, not ${JSON.stringify(expected)}`];
  }
  const events: unknown[] = [];
  let isDone = false;
  const reader = new SseReader();
  const emit = ({ event, data }: { event: string | undefined; data: string }): void => {
    if (data === '[DONE]') isDone = true;
    else events.push({ ...(event === undefined ? {} : { event }), data: normalised(data, exchangeId) });
  };
  reader.push(bytes, emit);
  reader.end(emit);
  const expected = fixture.events.filter((event) => !('data' in event && event.data === '[DONE]'));
  const last = expected.at(-1);
  if (last !== undefined && 'fail' in last) {
    return !isDone && messageOf((events.at(-1) as { data?: unknown } | undefined)?.data) !== undefined ? [] : ['a stream that fails has to end with an error event'];
  }
  if (fixture.request.endpoint === 'chatCompletions' && !isDone) return ['the stream has no [DONE]'];
  return isDeepStrictEqual(JSON.parse(JSON.stringify(events)), expected) ? [] : [`streamed ${JSON.stringify(events)}, not ${JSON.stringify(expected)}`];
}

const messageOf = (body: unknown): string | undefined => {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : undefined;
};

describe('fixtures through the gateway', () => {
  // A fan-out asks the fake provider several times; its parts are compared by the kit.
  const simple = cases.filter(({ fixture }) => !Array.isArray(fixture.upstreamRequest?.body) && paths[fixture.request.endpoint] !== undefined);
  for (const each of simple) test(nameOf(each), async () => none(await throughGateway(each)));
});
