import assert from 'node:assert/strict';
import { describe, it, mock as testMock } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import type { Transport, UpstreamCall } from '@gateway/plugin-sdk';
import mock from './provider.js';
import { readKnobs } from './knobs.js';
import { Player } from './player.js';
import { piecesOf } from './text.js';

const transport = await mock.transport?.(fakeHost());
assert.ok(transport);

interface Heard {
  readonly status: number;
  readonly headers: readonly string[];
  readonly chunks: readonly Uint8Array[];
  readonly error: Error | undefined;
}

function call(body: unknown, path = '/chat/completions', method = 'POST', onCall?: (call: UpstreamCall, heard: Uint8Array[]) => void, to: Transport | undefined = transport): Promise<Heard> {
  return new Promise((resolve) => {
    let status = 0;
    let headers: readonly string[] = [];
    const chunks: Uint8Array[] = [];
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const running = to?.send({ method, url: new URL(`http://mock${path}`), headers: [], body: bytes }, {
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

  it('streams usage for completions only when asked, in a last event without choices', async () => {
    const request = { model: 'mock', prompt: 'one two', stream: true };
    const bare = events(await call(request, '/completions')).slice(0, -1).map((event) => JSON.parse(event));
    assert.ok(bare.every((chunk) => chunk.usage === undefined && chunk.choices.length === 1));
    assert.equal(bare.map((chunk) => chunk.choices[0].text).join(''), 'one two');
    const told = events(await call({ ...request, stream_options: { include_usage: true } }, '/completions')).slice(0, -1).map((event) => JSON.parse(event));
    assert.deepEqual(told.at(-1).choices, []);
    assert.equal(told.at(-1).usage.total_tokens, 4);
    assert.ok(told.slice(0, -1).every((chunk) => chunk.usage === null));
  });

  it('gives every prompt its n choices', async () => {
    const answer = json(await call({ model: 'mock', prompt: ['a', 'b'], n: 2 }, '/completions'));
    assert.deepEqual(answer.choices.map((choice: { index: number; text: string }) => `${choice.index}${choice.text}`), ['0a', '1a', '2b', '3b']);
    assert.equal(json(await call({ model: 'mock', prompt: [15339, 1917] }, '/completions')).choices[0].text, '[15339,1917]');
  });

  it('gives n choices, plain and streamed, each whole', async () => {
    assert.deepEqual(json(await call(ask('x y', { n: 3 }))).choices.map((choice: { index: number }) => choice.index), [0, 1, 2]);
    const chunks = events(await call(ask('x y', { n: 3, stream: true }))).slice(0, -1).map((event) => JSON.parse(event));
    for (const index of [0, 1, 2]) {
      const own = chunks.map((chunk) => chunk.choices[0]).filter((choice) => choice.index === index);
      assert.equal(own.map((choice) => choice.delta.content ?? '').join(''), 'x y');
      assert.equal(own.at(-1).finish_reason, 'stop');
      assert.equal(own[0].delta.role, 'assistant');
    }
  });

  it('counts the same tokens plain and streamed', async () => {
    const plain = json(await call(ask('eight tokens or something like that'))).usage;
    const streamed = JSON.parse(events(await call(ask('eight tokens or something like that', { stream: true, stream_options: { include_usage: true } }))).at(-2) ?? '');
    assert.deepEqual(streamed.usage, plain);
    assert.equal(plain.completion_tokens, 9);
  });

  it('calls what tool_choice names or requires, nothing with none or after results, and not by a part of a name', async () => {
    const tools = ['get', 'get_time'].map((name) => ({ type: 'function', function: { name } }));
    const called = async (content: string, more: object): Promise<string[] | undefined> =>
      json(await call(ask(content, { tools, ...more }))).choices[0].message.tool_calls?.map((entry: { function: { name: string } }) => entry.function.name);
    assert.deepEqual(await called('x', { tool_choice: { type: 'function', function: { name: 'get_time' } } }), ['get_time']);
    assert.deepEqual(await called('x', { tool_choice: 'required' }), ['get']);
    assert.deepEqual(await called('please call get_time now', {}), ['get_time']);
    assert.deepEqual(await called('call get.', {}), ['get']);
    assert.equal(await called('call get', { tool_choice: 'none' }), undefined);
    assert.equal(await called('call get', { messages: [{ role: 'user', content: 'call get' }, { role: 'tool', tool_call_id: 'call_mock_0_0', content: '5' }] }), undefined);
  });

  it('ends a stream of tool calls even when it was to be endless', async () => {
    const tools = [{ type: 'function', function: { name: 'alpha' } }];
    assert.equal(events(await call(ask('call alpha', { tools, stream: true, model: 'mock?endless=1' }))).at(-1), '[DONE]');
  });

  it('says as many characters and pieces as were asked for', async () => {
    const answer = json(await call(ask('x', { model: 'mock?bytes=150000' })));
    assert.equal(answer.choices[0].message.content.length, 150_000);
    const chunks = events(await call(ask('x', { model: 'mock?bytes=1000&chunks=20', stream: true }))).slice(0, -1).map((event) => JSON.parse(event));
    const contents = chunks.flatMap((chunk) => (chunk.choices[0].delta.content === undefined || chunk.choices[0].delta.role !== undefined ? [] : [chunk.choices[0].delta.content]));
    assert.deepEqual(contents.map((content: string) => content.length), Array.from({ length: 20 }, () => 50));
  });

  it('cuts text into pieces that are whole characters and give the text again', () => {
    for (const text of ['', 'a', 'één 👋👋👋 twee', '👋'.repeat(9)]) {
      for (let count = 0; count < 30; count += 1) {
        const pieces = [...piecesOf(text, count)];
        assert.equal(pieces.join(''), text);
        if (count > 0) assert.equal(pieces.length, count);
        for (const piece of pieces) assert.doesNotMatch(piece, /\p{Surrogate}/u);
      }
    }
  });

  it('counts the failures of each key for itself and forgets the oldest of very many', async () => {
    const own = await mock.transport?.(fakeHost());
    const status = async (key: string): Promise<number> => (await call(ask('x', { model: `mock?fail_first=1&status=429&key=${key}` }), undefined, undefined, undefined, own)).status;
    assert.equal(await status('first'), 429);
    assert.equal(await status('other'), 429);
    assert.equal(await status('first'), 200);
    await Promise.all(Array.from({ length: 10_000 }, (_, index) => status(`k${index}`)));
    assert.equal(await status('k9999'), 200);
    assert.equal(await status('first'), 429);
  });

  it('refuses what would cost too much or is not a request, and names the field', async () => {
    const rows: [path: string, body: unknown, param: string | null][] = [
      ['/chat/completions', { model: 'mock' }, 'messages'], ['/chat/completions', ask('x', { n: 1e9 }), 'n'], ['/chat/completions', ask('x', { n: 128, model: 'mock?bytes=10000000' }), 'n'],
      ['/completions', { model: 'mock' }, 'prompt'], ['/completions', { prompt: Array.from({ length: 200 }, () => 'x') }, 'prompt'],
      ['/embeddings', { input: 'x', dimensions: 1e9 }, 'dimensions'], ['/embeddings', { input: Array.from({ length: 5000 }, () => 'x') }, 'input'], ['/embeddings', { input: [] }, 'input'],
      ['/images/generations', { prompt: 'x', n: 1e9 }, 'n'], ['/rerank', { query: 'x', documents: [] }, 'documents'], ['/moderations', {}, 'input'], ['/audio/speech', {}, 'input'],
      ['/chat/completions', [1], null],
    ];
    for (const [path, body, param] of rows) {
      const answer = await call(body, path);
      assert.equal(answer.status, 400, path);
      assert.equal(json(answer).error.param, param, path);
    }
  });

  it('does not stumble over an id that is not a text', async () => {
    assert.equal((await call(undefined, '/models/%ff', 'GET')).status, 404);
    assert.equal((await call(undefined, '/models/', 'GET')).status, 404);
    assert.equal((await call(undefined, '/chat/completions', 'GET')).status, 404);
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

describe('the player', () => {
  /** What happened, in order, with time under the test's control. */
  function play(t: { after(work: () => void): void }, pieces: readonly string[], more: object = {}): { heard: string[]; call: Player; pass(milliseconds: number): void } {
    testMock.timers.enable({ apis: ['setTimeout', 'setImmediate'] });
    t.after(() => testMock.timers.reset());
    const heard: string[] = [];
    const call = new Player({ status: 200, headers: [], pieces: pieces.map((piece) => Buffer.from(piece)).values(), latencyMs: 0, pieceMs: 0, breakAfter: -1, ...more }, {
      onHead: (status) => { heard.push(String(status)); },
      onChunk: (chunk) => { heard.push(Buffer.from(chunk).toString()); },
      onEnd: () => { heard.push('end'); },
      onError: () => { heard.push('error'); },
    });
    return { heard, call, pass: (milliseconds) => testMock.timers.tick(milliseconds) };
  }

  it('waits before the head and between the pieces', (t) => {
    const { heard, pass } = play(t, ['a', 'b'], { latencyMs: 50, pieceMs: 10 });
    pass(49);
    assert.deepEqual(heard, []);
    pass(1);
    assert.deepEqual(heard, ['200', 'a']);
    pass(9);
    assert.deepEqual(heard, ['200', 'a']);
    pass(1);
    assert.deepEqual(heard, ['200', 'a', 'b']);
    pass(10);
    assert.deepEqual(heard, ['200', 'a', 'b', 'end']);
  });

  it('goes on where it was after any number of pauses, also within a wait', (t) => {
    const { heard, call, pass } = play(t, ['a', 'b', 'c'], { pieceMs: 10 });
    call.pause();
    pass(100);
    assert.deepEqual(heard, ['200']);
    call.pause();
    call.resume();
    call.resume();
    pass(1);
    assert.deepEqual(heard, ['200', 'a']);
    call.pause();
    call.resume();
    pass(10);
    assert.deepEqual(heard, ['200', 'a', 'b']);
    pass(10);
    pass(10);
    assert.deepEqual(heard, ['200', 'a', 'b', 'c', 'end']);
    call.resume();
    pass(100);
    assert.equal(heard.at(-1), 'end');
  });

  it('breaks off where it was told to, before the first piece too', (t) => {
    const first = play(t, ['a', 'b'], { breakAfter: 0 });
    first.pass(10);
    assert.deepEqual(first.heard, ['200', 'error']);
  });

  it('says nothing after it was cancelled, not even the head', (t) => {
    const { heard, call, pass } = play(t, ['a'], { latencyMs: 5 });
    call.cancel();
    call.cancel();
    call.pause();
    call.resume();
    pass(100);
    assert.deepEqual(heard, []);
  });
});

describe('a knob', () => {
  it('is a whole number within its bounds', () => {
    for (const model of ['mock?cut=1.5', 'mock?cut=', 'mock?cut=1e3', 'mock?cut=-1', 'mock?endless=2', 'mock?bytes=10000001', 'mock?status=302', 'mock?status=600', 'mock?__proto__=1', `mock?key=${'k'.repeat(201)}`]) {
      assert.ok(readKnobs(model).fault, model);
    }
    for (const model of [undefined, 5, 'mock', 'mock?', 'mock?status=200', 'mock?status=404&key=a%26b', 'mock?bytes=10000000']) assert.equal(readKnobs(model).fault, undefined, String(model));
    assert.equal(readKnobs('mock?key=a%26b').key, 'a&b');
  });
});
