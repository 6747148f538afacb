import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import type { UpstreamCall } from '@gateway/plugin-sdk';
import mock from './provider.js';
import { readKnobs } from './knobs.js';

const transport = await mock.transport?.(fakeHost());
assert.ok(transport);

interface Heard {
  readonly status: number;
  readonly headers: readonly string[];
  readonly chunks: readonly Uint8Array[];
  readonly error: Error | undefined;
}

function call(body: unknown, path = '/chat/completions', method = 'POST', onCall?: (call: UpstreamCall, heard: Uint8Array[]) => void): Promise<Heard> {
  return new Promise((resolve) => {
    let status = 0;
    let headers: readonly string[] = [];
    const chunks: Uint8Array[] = [];
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const running = transport?.send({ method, url: new URL(`http://mock${path}`), headers: [], body: bytes }, {
      onHead: (given, list) => { status = given; headers = list; },
      onChunk: (chunk) => { chunks.push(chunk); if (running !== undefined) onCall?.(running, chunks); },
      onEnd: () => resolve({ status, headers, chunks, error: undefined }),
      onError: (error) => resolve({ status, headers, chunks, error }),
    });
  });
}

const text = (heard: Heard): string => Buffer.concat(heard.chunks).toString('utf8');
const json = (heard: Heard) => JSON.parse(text(heard));
const ask = (content: string, more: object = {}): object => ({ model: 'mock', messages: [{ role: 'user', content }], ...more });
const events = (heard: Heard): string[] => text(heard).split('\n\n').filter((event) => event !== '').map((event) => event.replace(/^data: /, ''));

describe('the mock', () => {
  it('echoes the last user message with usage', async () => {
    const answer = json(await call(ask('Grüße 👋')));
    assert.equal(answer.choices[0].message.content, 'Grüße 👋');
    assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
  });

  it('streams role, content, finish, usage on request, and the end mark', async () => {
    const all = events(await call(ask('one two three', { stream: true, stream_options: { include_usage: true } })));
    assert.equal(all.at(-1), '[DONE]');
    const chunks = all.slice(0, -1).map((event) => JSON.parse(event));
    assert.equal(chunks[0].choices[0].delta.role, 'assistant');
    assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), 'one two three');
    assert.equal(chunks.at(-2).choices[0].finish_reason, 'stop');
    assert.deepEqual(chunks.at(-1).choices, []);
    assert.ok(chunks.at(-1).usage.total_tokens > 0);
  });

  it('gives the same bytes however small the pieces', async () => {
    const strip = (all: string): string => all.replace(/chatcmpl-mock-\w+|"created":\d+/g, '');
    const whole = strip(text(await call(ask('één twee', { stream: true }))));
    const cut = await call(ask('één twee', { stream: true, model: 'mock?cut=3' }));
    assert.ok(cut.chunks.every((chunk) => chunk.length <= 3));
    assert.equal(strip(text(cut)).replaceAll('mock?cut=3', 'mock'), whole);
  });

  it('calls the tools that the message names, arguments in pieces when streamed', async () => {
    const tools = ['alpha', 'beta', 'gamma'].map((name) => ({ type: 'function', function: { name } }));
    const plain = json(await call(ask('call alpha and call beta', { tools })));
    assert.deepEqual(plain.choices[0].message.tool_calls.map((entry: { function: { name: string } }) => entry.function.name), ['alpha', 'beta']);
    assert.equal(plain.choices[0].finish_reason, 'tool_calls');
    const streamed = events(await call(ask('call alpha and call beta', { tools, stream: true }))).slice(0, -1).map((event) => JSON.parse(event));
    const pieces = ['', ''];
    for (const chunk of streamed) for (const delta of chunk.choices[0].delta.tool_calls ?? []) pieces[delta.index] += delta.function.arguments;
    for (const piece of pieces) assert.deepEqual(JSON.parse(piece), { input: 'call alpha and call beta' });
  });

  it('embeds every input, the same text the same way', async () => {
    const answer = json(await call({ model: 'mock', input: ['a', 'b', 'a'], dimensions: 8 }, '/embeddings'));
    const [a, b, again] = answer.data.map((entry: { embedding: number[] }) => entry.embedding);
    assert.equal(a.length, 8);
    assert.deepEqual(a, again);
    assert.notDeepEqual(a, b);
    const packed = json(await call({ model: 'mock', input: 'a', dimensions: 8, encoding_format: 'base64' }, '/embeddings'));
    assert.equal(Buffer.from(packed.data[0].embedding, 'base64').length, 32);
  });

  it('fails on request: a status, the first calls of a key, in the middle', async () => {
    const busy = await call(ask('x', { model: 'mock?status=429&retry_after=3' }));
    assert.equal(busy.status, 429);
    assert.equal(busy.headers[busy.headers.indexOf('retry-after') + 1], '3');
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await call(ask('x', { model: 'mock?fail_first=2&key=a' }))).status);
    assert.deepEqual(statuses, [503, 503, 200]);
    const broken = await call(ask('a b c d', { stream: true, model: 'mock?break_after=2' }));
    assert.ok(broken.error);
    assert.equal(broken.chunks.length, 2);
  });

  it('makes nothing while it is paused, and nothing after it was cancelled', async () => {
    const heard = await new Promise<number>((resolve) => {
      void call(ask('x', { stream: true, model: 'mock?endless=1' }), undefined, undefined, (running, chunks) => {
        if (chunks.length !== 5) return;
        running.pause();
        setImmediate(() => setImmediate(() => {
          const paused = chunks.length;
          running.cancel();
          running.resume();
          setImmediate(() => setImmediate(() => resolve(chunks.length === paused ? paused : -1)));
        }));
      });
    });
    assert.equal(heard, 5);
  });

  it('answers 404 for what it does not have and 400 for a misspelt knob', async () => {
    assert.equal((await call({}, '/nothing')).status, 404);
    const misspelt = await call(ask('x', { model: 'mock?latency=5' }));
    assert.equal(misspelt.status, 400);
    assert.match(text(misspelt), /unknown knob latency/);
    assert.match(readKnobs('mock?cut=-1').fault ?? '', /whole number/);
  });

  it('ranks, moderates, draws, speaks, hears, and lists models', async () => {
    const ranked = json(await call({ model: 'mock', query: 'red fox', documents: ['blue whale', 'a red fox', { text: 'red car' }], top_n: 2 }, '/rerank'));
    assert.deepEqual(ranked.results.map((result: { index: number }) => result.index), [1, 2]);
    assert.equal(json(await call({ input: 'violence' }, '/moderations')).results[0].flagged, true);
    assert.equal(json(await call({ prompt: 'x', n: 2 }, '/images/generations')).data.length, 2);
    assert.equal(text(await call({ model: 'mock', input: 'x', voice: 'y' }, '/audio/speech')).slice(0, 4), 'RIFF');
    assert.match(json(await call({}, '/audio/transcriptions')).text, /bytes/);
    assert.equal(json(await call(undefined, '/models', 'GET')).data.length, 2);
    assert.equal(json(await call(undefined, '/models/org%2Fx', 'GET')).id, 'org/x');
  });
});
