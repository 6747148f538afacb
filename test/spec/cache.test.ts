// Caches over HTTP: what is kept, for whom, how long, and how it comes back. The simple cache; what the semantic one compares is in its folder.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { answerStream, chatChunks, sendJson, startUpstream, type Answer } from '../support/upstream.js';

/** What a cache may take to keep an answer, on a busy machine. */
const waitMsMax = 60_000;
const upstream = await startUpstream();
const gateway = await startTestGateway();

let asked = 0;
const counted = (answer: Answer): Answer => (...given) => { asked += 1; answer(...given); };
const says = (content: string): Answer => counted((_, response) => sendJson(response, 200, {
  id: `c${asked}`, object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
}));

interface Called { readonly status: number; readonly text: string; readonly json: any; readonly cache: string | null; readonly type: string | null }

async function call(body: object | string, config: object = {}, headers: Record<string, string> = {}, path = '/v1/chat/completions', signal?: AbortSignal): Promise<Called> {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json', 'x-gateway-api-key': apiKey,
      'x-gateway-config': JSON.stringify({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1`, cache: { mode: 'simple' }, ...config }), ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  let json: any;
  try { json = JSON.parse(text); } catch { json = undefined; }
  return { status: response.status, text, json, cache: response.headers.get('x-gateway-cache-status'), type: response.headers.get('content-type') };
}

const eventsOf = (words: readonly string[]): string[] => chatChunks(words).map((chunk) => `${chunk}\n\n`);

let questions = 0;
/** A question that nobody has asked yet. */
const fresh = (more: object = {}): any => { questions += 1; return { model: 'm', messages: [{ role: 'user', content: `question ${questions}` }], ...more }; };
const textOf = (text: string): string => text.split('\n\n').filter((part) => part.startsWith('data: {')).map((part) => JSON.parse(part.slice(6)).choices?.[0]?.delta?.content ?? '').join('');
/** What is stored after an answer is stored a moment later. */
async function until(body: object | string, status: string, config: object = {}, headers: Record<string, string> = {}): Promise<Called> {
  for (let turn = 0; ; turn += 1) {
    const called = await call(body, config, headers);
    if (called.cache === status || turn === 200) return called;
  }
}

describe('the simple cache', () => {
  it('answers the second time by itself, byte for byte', async () => {
    upstream.answer = says('hello');
    const body = fresh();
    const first = await call(body);
    assert.deepEqual([first.status, first.cache], [200, 'MISS']);
    const before = asked;
    const second = await until(body, 'HIT');
    assert.deepEqual([second.status, second.cache, second.text, second.type], [200, 'HIT', first.text, 'application/json']);
    assert.ok(asked - before <= 1);
  });

  it('is off without a cache in the config, and when bodies must not be kept', async () => {
    upstream.answer = says('x');
    const body = fresh();
    assert.equal((await call(body, { cache: undefined })).cache, 'DISABLED');
    assert.equal((await call(body, {}, { 'x-gateway-debug': 'false' })).cache, 'DISABLED');
    assert.equal((await call(body)).cache, 'MISS');
  });

  it('tells questions apart by body, parameters, metadata and address, but not by how the answer comes', async () => {
    upstream.answer = says('x');
    const body = fresh();
    await call(body);
    await until(body, 'HIT');
    assert.equal((await call({ ...body, temperature: 0.5 })).cache, 'MISS');
    assert.equal((await call(body, { override_params: { temperature: 0.7 } })).cache, 'MISS');
    assert.equal((await call(body, {}, { 'x-gateway-metadata': '{"team":"a"}' })).cache, 'MISS');
    assert.equal((await call(body, { custom_host: `${upstream.url}/v2` })).cache, 'MISS');
    assert.equal((await call({ ...body, stream: false })).cache, 'HIT');
    assert.equal((await call({ ...body, stream: true })).cache, 'HIT');
  });

  it('tells questions apart by all of the target and the head that can change an answer, but not by who pays for it', async () => {
    upstream.answer = says('x');
    const body = fresh();
    const path = '/v1/chat/completions';
    const forwards = { forward_headers: ['x-tenant', 'x-request-id', 'traceparent'] };
    await call(body, forwards, { 'x-tenant': 'a' });
    const same = async (config: object, headers: Record<string, string> = {}, query = ''): Promise<string | null> => (await call(body, config, headers, path + query)).cache;
    for (const byMs = performance.now() + waitMsMax; performance.now() < byMs && await same(forwards, { 'x-tenant': 'a' }) !== 'HIT';);
    assert.equal(await same(forwards, { 'x-tenant': 'a' }), 'HIT');
    const others: [object, Record<string, string>, string][] = [
      [forwards, { 'x-tenant': 'b' }, ''],
      [forwards, {}, ''],
      [forwards, { 'x-tenant': 'a' }, '?beta=true'],
      [{ ...forwards, vendor_organization: 'org-1' }, { 'x-tenant': 'a' }, ''],
      [{ ...forwards, vendor_organization: 'org-2' }, { 'x-tenant': 'a' }, ''],
      [{ ...forwards, vendor_project: 'p-1' }, { 'x-tenant': 'a' }, ''],
      [forwards, { 'x-tenant': 'a', 'x-gateway-vendor-organization': 'org-3' }, ''],
      [forwards, { 'x-tenant': 'a', 'x-gateway-strict-reference-compliance': 'false' }, ''],
      [{ ...forwards, custom_host: `${upstream.url}/v3` }, { 'x-tenant': 'a' }, ''],
    ];
    for (const [config, headers, query] of others) assert.equal(await same(config, headers, query), 'MISS', JSON.stringify([config, headers, query]));
    // What names the call, and not what is asked.
    assert.equal(await same(forwards, { 'x-tenant': 'a', 'x-request-id': 'r1', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }), 'HIT');
    assert.equal(await same({ ...forwards, api_key: 'sk-other' }, { 'x-tenant': 'a' }), 'HIT');
  });

  it('shares a namespace whatever the metadata', async () => {
    upstream.answer = says('x');
    const body = fresh();
    const named = { 'x-gateway-cache-namespace': 'shared' };
    await call(body, {}, { ...named, 'x-gateway-metadata': '{"user":"a"}' });
    assert.equal((await until(body, 'HIT', {}, { ...named, 'x-gateway-metadata': '{"user":"b"}' })).cache, 'HIT');
    assert.equal((await call(body, {}, { 'x-gateway-cache-namespace': 'other' })).cache, 'MISS');
    assert.equal((await call(body)).cache, 'MISS');
  });

  it('asks anew when told to, and keeps the new answer', async () => {
    upstream.answer = says('old');
    const body = fresh();
    await call(body);
    await until(body, 'HIT');
    upstream.answer = says('new');
    const forced = await call(body, {}, { 'x-gateway-cache-force-refresh': 'true' });
    assert.deepEqual([forced.cache, forced.json.choices[0].message.content], ['REFRESH', 'new']);
    assert.equal((await until(body, 'HIT')).json.choices[0].message.content, 'new');
  });

  it('keeps the new answer, also when a call that began before ends later', async () => {
    const open: ((content: string) => void)[] = [];
    upstream.answer = (received, response, request) => { open.push((content) => says(content)(received, response, request)); };
    const opened = async (count: number): Promise<void> => { while (open.length < count) await new Promise((resolve) => setImmediate(resolve)); };
    const body = fresh();
    const before = call(body);
    await opened(1);
    const forced = call(body, {}, { 'x-gateway-cache-force-refresh': 'true' });
    await opened(2);
    open[1]?.('new');
    await forced;
    open[0]?.('old');
    await before;
    upstream.answer = says('newest');
    for (let turn = 0; turn < 3; turn += 1) assert.equal((await call(body)).json.choices[0].message.content, 'new');
  });

  it('keeps an answer no longer than max_age', async () => {
    upstream.answer = says('x');
    const body = fresh();
    await call(body);
    await until(body, 'HIT');
    assert.equal((await call(body, { cache: { mode: 'simple', max_age: 0 } })).cache, 'MISS');
  });

  it('keeps no errors and nothing that a hook had something against', async () => {
    upstream.answer = counted((_, response) => sendJson(response, 500, { error: { message: 'no' } }));
    const body = fresh();
    for (let turn = 0; turn < 3; turn += 1) assert.deepEqual(await call(body).then(({ status, cache }) => [status, cache]), [500, 'MISS']);
    upstream.answer = says('secret');
    const guard = { output_guardrails: [{ 'default.regexMatch': { rule: 'secret', not: true } }] };
    for (let turn = 0; turn < 3; turn += 1) assert.deepEqual(await call(body, guard).then(({ status, cache }) => [status, cache]), [246, 'MISS']);
  });

  it('keeps nothing that is not the answer that the endpoint promises, and a streamed repeat asks anew', async () => {
    const faulty = ['null', '[]', '{}', '<html>502</html>', '{"id":"c","choices":[{"index":0,', '{"error":{"message":"overloaded"}}', '"text"', ''];
    const target = { provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1` };
    const fallback = { provider: undefined, api_key: undefined, custom_host: undefined, strategy: { mode: 'fallback' }, targets: [target, target] };
    for (const config of [{}, fallback]) {
      for (const said of faulty) {
        upstream.answer = counted((_, response) => { response.writeHead(200, { 'content-type': 'application/json' }); response.end(said); });
        const body = fresh();
        const first = await call(body, config);
        assert.deepEqual([first.status, first.cache, first.text], [200, 'MISS', said]);
        for (const stream of [false, true]) {
          const repeated = await call({ ...body, stream }, config);
          assert.deepEqual([repeated.status, repeated.cache, repeated.text], [200, 'MISS', said]);
        }
        upstream.answer = says('sound');
        assert.equal((await call(body, config)).json.choices[0].message.content, 'sound');
      }
    }
  });

  it('keeps answers of the other endpoints when they are what was promised, and none that are something else', async () => {
    const promised: [string, object, object][] = [
      ['/v1/embeddings', { input: 'x' }, { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], model: 'm' }],
      ['/v1/moderations', { input: 'x' }, { id: 'm', model: 'm', results: [{ flagged: false }] }],
      ['/v1/images/generations', { prompt: 'x' }, { created: 1, data: [{ b64_json: 'aaaa' }] }],
      ['/v1/responses', { input: 'x', background: true }, { id: 'r', object: 'response', status: 'queued', output: [] }],
    ];
    for (const [path, asks, answer] of promised) {
      const body = { model: 'm', ...asks, user: `u${questions += 1}` };
      const error = { message: 'overloaded' };
      for (const other of [{ error }, { ...answer, error }, { ...answer, data: [], results: [], output: null }]) {
        upstream.answer = (_, response) => sendJson(response, 200, other);
        for (let turn = 0; turn < 3; turn += 1) assert.equal((await call(body, {}, {}, path)).cache, 'MISS', JSON.stringify(other));
      }
      upstream.answer = (_, response) => sendJson(response, 200, answer);
      let last = await call(body, {}, {}, path);
      for (let turn = 0; turn < 50 && last.cache !== 'HIT'; turn += 1) last = await call(body, {}, {}, path);
      // Of a response that is still on its way only this moment would be kept.
      assert.equal(last.cache, path === '/v1/responses' ? 'MISS' : 'HIT', path);
      assert.deepEqual(last.json, answer);
    }
  });

  it('asks before the hooks on the output, whose judgement was kept with the answer, and adds the results of the input', async () => {
    upstream.answer = says('pin 1234');
    const body = fresh();
    const hooks = { input_guardrails: [{ 'default.regexMatch': { rule: 'zzz', not: true } }], output_mutators: [{ 'default.regexReplace': { rule: '[0-9]{4}' } }] };
    await call(body, hooks);
    const hit = await until(body, 'HIT', hooks);
    assert.equal(hit.json.choices[0].message.content, 'pin [REDACTED]');
    assert.deepEqual([hit.json.hook_results.before_request_hooks.length, hit.json.hook_results.after_request_hooks.length], [1, 0]);
    // Without those hooks it is another answer.
    assert.equal((await call(body)).json.choices[0].message.content, 'pin 1234');
  });

  it('takes what a mutator made of the request for the question', async () => {
    upstream.answer = says('x');
    const config = { input_mutators: [{ 'default.regexReplace': { rule: 'number [0-9]+', redactText: 'a number' } }] };
    const ask = (number: number): object => ({ model: 'm', messages: [{ role: 'user', content: `mutated ${questions} number ${number}` }] });
    questions += 1;
    await call(ask(1), config);
    assert.equal((await until(ask(2), 'HIT', config)).cache, 'HIT');
  });

  it('takes any number of sets of parameters, and none of them keeps another caller from its cache', async () => {
    upstream.answer = (received, response) => (received.url.endsWith('/embeddings') ? sendJson(response, 200, { data: [{ embedding: [1, 0] }] }) : says('x')(received, response, undefined as never));
    const sets = Array.from({ length: 100 }, (_, index) => ({ mode: 'semantic', characters_max: 100 + index, embedding: { url: `${upstream.url}/v1/embeddings`, model: 'e' } }));
    const body = fresh();
    const statuses = await Promise.all(sets.map((cache) => call(body, { cache }, { 'x-gateway-debug': 'false' })));
    assert.deepEqual([...new Set(statuses.map(({ status }) => status))], [200]);
    assert.equal((await call(body, { cache: sets[0] })).cache, 'SEMANTIC MISS');
    // They share what they keep: other parameters are no other answers.
    assert.equal((await until(body, 'HIT', { cache: sets[99] })).cache, 'HIT');
  });

  it('counts the smaller max_age of those who kept an answer and those who ask for it', async () => {
    upstream.answer = says('x');
    const body = fresh();
    const ofSecond = { cache: { mode: 'simple', max_age: 0 } };
    await call(body, ofSecond);
    for (let turn = 0; turn < 5; turn += 1) assert.equal((await call(body, ofSecond)).cache, 'MISS');
    // Kept for no time at all, so nobody else may use it for a week.
    assert.equal((await call(body)).cache, 'MISS');
    assert.equal((await until(body, 'HIT')).cache, 'HIT');
  });

  it('refuses parameters it does not have', async () => {
    const { status, json } = await call(fresh(), { cache: { mode: 'simple', ttl: 5 } });
    assert.deepEqual([status, json.error.param], [400, 'config.cache']);
    assert.match((await call(fresh(), { cache: { mode: 'nonsense' } })).json.error.message, /no cache nonsense is installed; use .*simple/);
  });

  it('outlives a restart', async () => {
    upstream.answer = says('kept');
    const first = await startTestGateway();
    const ask = async (url: string): Promise<string | null> => (await fetch(`${url}/v1/chat/completions`, {
      method: 'POST', body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'restart' }] }),
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1`, cache: { mode: 'simple' } }) },
    })).headers.get('x-gateway-cache-status');
    assert.equal(await ask(first.url), 'MISS');
    for (const byMs = performance.now() + waitMsMax; performance.now() < byMs && await ask(first.url) !== 'HIT';);
    await first.running.stop(0);
    const second = await startTestGateway({ GATEWAY_DATA_DIR: first.dataDir });
    assert.equal(await ask(second.url), 'HIT');
  });
});

describe('streams and the cache', () => {
  it('serve each other, to the official clients', async () => {
    const openai = new OpenAI({ apiKey: 'unused', baseURL: `${gateway.url}/v1`, maxRetries: 0, defaultHeaders: {
      authorization: null, 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1`, cache: { mode: 'simple' } }),
    } });
    upstream.answer = counted(answerStream(['Hello', ' there', ', you']));
    const body = fresh({ stream: true });
    const first = await call(body);
    assert.deepEqual([first.cache, textOf(first.text)], ['MISS', 'Hello there, you']);
    const replayed = await until(body, 'HIT');
    assert.deepEqual([replayed.cache, textOf(replayed.text), replayed.type], ['HIT', 'Hello there, you', 'text/event-stream']);
    const before = asked;
    const streamed = await openai.chat.completions.stream({ ...body, stream: true }).finalChatCompletion();
    assert.equal(streamed.choices[0]?.message.content, 'Hello there, you');
    const plain = await openai.chat.completions.create({ model: body.model, messages: body.messages });
    assert.equal(plain.choices[0]?.message.content, 'Hello there, you');
    assert.equal(asked, before);
  });

  it('serve each other in messages and responses, also where they are translated', async () => {
    const anthropic = new Anthropic({ apiKey: 'unused', baseURL: gateway.url, maxRetries: 0, defaultHeaders: {
      'x-api-key': null, 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ provider: 'groq', api_key: 'sk', custom_host: `${upstream.url}/v1`, cache: { mode: 'simple' } }),
    } });
    upstream.answer = says('Bonjour');
    const request = { model: 'm', max_tokens: 10, messages: [{ role: 'user' as const, content: 'translated question' }] };
    const first = await anthropic.messages.create(request);
    for (let turn = 0; turn < 200; turn += 1) if ((await anthropic.messages.create(request).withResponse()).response.headers.get('x-gateway-cache-status') === 'HIT') break;
    const before = asked;
    assert.deepEqual(await anthropic.messages.stream(request).finalMessage().then(({ content, id }) => ({ content, id })), { content: first.content, id: first.id });
    assert.equal(asked, before);
  });

  it('without usage serve streams without it, and nobody who reads it', async () => {
    const chunks = eventsOf(['Hello', ' you']);
    const withUsage = counted(answerStream(['Hello', ' you']));
    const without = counted((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(chunks.filter((chunk) => !chunk.includes('"usage"')).join(''));
    });
    const body = fresh();
    const [streamed, told] = [{ ...body, stream: true }, { ...body, stream: true, stream_options: { include_usage: true } }];
    for (const [reader, answer] of [[body, says('Hello you')], [told, withUsage]] as const) {
      const headers = { 'x-gateway-cache-namespace': `usage ${'stream' in reader}` };
      upstream.answer = without;
      await call(streamed, {}, headers);
      assert.equal((await until(streamed, 'HIT', {}, headers)).cache, 'HIT');
      upstream.answer = answer;
      assert.equal((await call(reader, {}, headers)).cache, 'MISS');
      const kept = await until(reader, 'HIT', {}, headers);
      assert.match(kept.text, /"total_tokens":/);
      // The answer with usage took the place of the other, and serves all.
      const before = asked;
      for (const all of [body, told]) assert.match((await call(all, {}, headers)).text, /"total_tokens":/);
      const quiet = await call(streamed, {}, headers);
      assert.equal(quiet.cache, 'HIT');
      assert.doesNotMatch(quiet.text, /"usage":\{/);
      assert.equal(asked, before);
    }
  });

  it('keep nothing of a stream that broke off', async () => {
    upstream.answer = counted((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(eventsOf(['half'])[0]!);
      setImmediate(() => response.destroy());
    });
    const body = fresh({ stream: true });
    for (let turn = 0; turn < 3; turn += 1) assert.equal((await call(body)).cache, 'MISS');
  });
});

describe('bodies that mean the same when they are parsed', () => {
  const texts = (rest: string): string => { questions += 1; return `{"model":"m","messages":[{"role":"user","content":"parsed ${questions}"}],${rest}}`; };
  /** The status of the second, once the first is kept. */
  async function secondOf(first: string, second: string): Promise<string | null> {
    upstream.answer = says('x');
    await until(first, 'HIT');
    return (await call(second)).cache;
  }

  it('are not the same when their long numbers differ', async () => {
    for (const [one, other] of [['9007199254740993', '9007199254740992'], ['{"id":12345678901234567890}', '{"id":12345678901234567891}'], ['[1e400]', '[null]']] as const) {
      const first = texts(`"x":${one}`);
      assert.equal(await secondOf(first, first.replace(one, other)), 'MISS', other);
    }
  });

  it('are not the same when one gives a name twice', async () => {
    const plain = texts('"user":"u"');
    assert.equal(await secondOf(plain.replace('{', '{"messages":[{"role":"user","content":"another"}],'), plain), 'MISS');
    const nested = texts('"metadata":{"a":"1"}');
    assert.equal(await secondOf(nested.replace('{"a"', '{"a":"2","a"'), nested), 'MISS');
  });
});

describe('requests in flight', () => {
  const shared = { cache: { mode: 'simple', share_in_flight: true } };

  it('for the same share one call, and late ones get what has passed first', async () => {
    const open: ServerResponse[] = [];
    const chunks = eventsOf(['one', ' two', ' three']);
    upstream.answer = counted((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // The head goes with the first bytes.
      response.write(chunks.slice(0, 2).join(''));
      open.push(response);
    });
    const body = fresh({ stream: true });
    const before = asked;
    const [firstReader, read] = await openStream(body, shared);
    assert.equal(open.length, 1);
    await read((text) => text.includes('one'));
    const late = call(body, shared);
    const [lateReader, readLate] = await openStream(body, shared);
    await readLate((text) => text.includes('one'));
    open[0]!.end(chunks.slice(2).join(''));
    const whole = await read((text) => text.includes('[DONE]'));
    assert.equal(textOf(whole), 'one two three');
    assert.equal(await readLate((text) => text.includes('[DONE]')), whole);
    const other = await late;
    assert.deepEqual([other.cache, other.text], ['SHARED', whole]);
    assert.equal(asked - before, 1);
    await Promise.all([firstReader.cancel(), lateReader.cancel()]);
  });

  it('go on when the first one leaves, and stop when the last one does', async () => {
    const open: ServerResponse[] = [];
    const closed: Promise<void>[] = [];
    const chunks = eventsOf(['one', ' two']);
    upstream.answer = counted((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // The head goes with the first bytes.
      response.write(chunks.slice(0, 2).join(''));
      open.push(response);
      closed.push(new Promise((resolve) => response.once('close', () => resolve())));
    });
    const body = fresh({ stream: true });
    const leaving = new AbortController();
    const [, readFirst] = await openStream(body, shared, leaving.signal);
    await readFirst((text) => text.includes('one'));
    const staying = new AbortController();
    const [, readSecond] = await openStream(body, shared, staying.signal);
    await readSecond((text) => text.includes('one'));
    leaving.abort();
    open[0]!.write(chunks[2]!);
    assert.equal(textOf(await readSecond((text) => text.includes(' two'))), 'one two');
    assert.equal(open.length, 1);
    staying.abort();
    await closed[0];
  });

  it('share a failure, too', async () => {
    const open: ServerResponse[] = [];
    upstream.answer = counted((_, response) => { open.push(response); });
    const body = fresh();
    const before = asked;
    const calls = [call(body, shared), call(body, shared), call(body, shared)];
    while (open.length === 0) await new Promise((resolve) => setImmediate(resolve));
    // The others have to have come as well before the first is answered.
    await call(fresh(), { provider: 'mock', custom_host: undefined, api_key: undefined, cache: undefined });
    sendJson(open[0]!, 503, { error: { message: 'busy' } });
    const results = await Promise.all(calls);
    assert.deepEqual(results.map(({ status }) => status), [503, 503, 503]);
    assert.equal(asked - before, 1);
  });

  it('are not shared by streams that ask for usage with those that do not', async () => {
    const open: ServerResponse[] = [];
    upstream.answer = counted((_, response) => { open.push(response); });
    const body = fresh({ stream: true });
    const calls = [call(body, shared), call({ ...body, stream_options: { include_usage: true } }, shared), call({ ...body, stream_options: { include_usage: false } }, shared)];
    while (open.length < 3) await new Promise((resolve) => setImmediate(resolve));
    for (const response of open) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(eventsOf(['x']).join(''));
    }
    assert.deepEqual((await Promise.all(calls)).map(({ cache }) => cache), ['MISS', 'MISS', 'MISS']);
  });

  it('are not shared across provider keys or time-outs: what fails for one would fail for all', async () => {
    const callers = [
      { authorization: 'Bearer sk-wrong' }, { authorization: 'Bearer sk-right' }, { authorization: 'Bearer sk-right', 'x-gateway-request-timeout': '60000' },
    ];
    const open: [ServerResponse, string | undefined][] = [];
    upstream.answer = counted(({ headers }, response) => { open.push([response, headers.authorization]); });
    const body = fresh();
    const calls = callers.map((headers) => call(body, { ...shared, api_key: undefined }, headers));
    // One that joins is never seen here.
    void Promise.race(calls).then(() => { for (const [response] of open) response.destroy(); }, () => undefined);
    for (let turn = 0; open.length < callers.length && turn < 2000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    for (const [response, key] of open) {
      if (key === 'Bearer sk-right') sendJson(response, 200, { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }] });
      else sendJson(response, 401, { error: { message: 'wrong key' } });
    }
    assert.deepEqual((await Promise.all(calls)).map(({ status, cache }) => [status, cache]), [[401, 'MISS'], [200, 'MISS'], [200, 'MISS']]);
  });

  it('are not shared when nobody asked for it', async () => {
    upstream.answer = says('x');
    const body = fresh();
    const before = asked;
    await Promise.all([call(body), call(body)]);
    assert.equal(asked - before, 2);
  });

  /** Opens a stream; `read` waits until what has come fits. */
  async function openStream(body: object, config: object, signal?: AbortSignal): Promise<[ReadableStreamDefaultReader<Uint8Array>, (fits: (text: string) => boolean) => Promise<string>]> {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST', body: JSON.stringify(body), ...(signal === undefined ? {} : { signal }),
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1`, ...config }) },
    });
    const reader = response.body!.getReader();
    let text = '';
    return [reader, async (fits) => {
      while (!fits(text)) {
        const { done, value } = await reader.read();
        if (done) break;
        text += Buffer.from(value).toString();
      }
      return text;
    }];
  }
});
