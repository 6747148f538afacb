// A dialect that the gateway does not have, made here of one object, through the whole pipeline: nothing outside core/dialect has to know it.
// The endpoint is a stand-in: its name has to be one of the SDK's.

import { isObject, readJson, type AnswerEvent, type EventSink, type JsonObject, type LogRecord, type UpstreamListener } from '@gateway/plugin-sdk';
import { SseReader } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Config } from '../../../core/config/config.js';
import type { Accumulator } from '../../../core/dialect/common/accumulator.js';
import { assembler } from '../../../core/dialect/common/assembler.js';
import type { Deltas } from '../../../core/dialect/common/deltas.js';
import { replay } from '../../../core/dialect/common/replay.js';
import type { Channel, TextGate } from '../../../core/dialect/common/text-gate.js';
import { defineDialect, type TranslationStage } from '../../../core/dialect/dialect.js';
import type { EndpointDefinition } from '../../../core/exchange/endpoint.js';
import { InFlight } from '../../../core/pipeline/cache/in-flight.js';
import { Refreshed } from '../../../core/pipeline/cache/refreshed.js';
import { Pipeline } from '../../../core/pipeline/request/run.js';
import type { PipelineServices } from '../../../core/pipeline/services.js';
import { compilePlan } from '../../../core/plan/compile.js';
import { CheckStage } from '../../../core/stream/check-stage.js';
import { exchangeOf, RecordingResponder } from '../exchange/fakes.js';
import { planServices } from '../plan/plan-services.js';
import { temporaryFolder, writePackage } from '../registry/plugin-package.js';
import { redactor, secret } from './common/test-streams.js';

// ---- the dialect: {"ask": "..."} -> {"verse": "..."}, as a stream `line` events and one `rest` with all of it ----

const firstChoice = (body: JsonObject): JsonObject => (Array.isArray(body.choices) && isObject(body.choices[0]) ? body.choices[0] : {});
const textIn = (value: unknown): string => (isObject(value) && typeof value.content === 'string' ? value.content : '');

class VerseStage implements TranslationStage {
  nextSequence = 0;
  #verse = '';
  #isDone = false;

  push({ data }: AnswerEvent, out: EventSink): void {
    if (data === '[DONE]') {
      this.#isDone = true;
      out.write({ event: 'rest', data: { verse: this.#verse } });
      return;
    }
    const chunk = typeof data === 'string' ? readJson(data) : data;
    const line = isObject(chunk) ? textIn(firstChoice(chunk).delta) : '';
    if (line === '') return;
    this.#verse += line;
    this.nextSequence += 1;
    out.write({ event: 'line', data: { line } });
  }

  end(out: EventSink): void {
    if (!this.#isDone) out.fail(new Error('the verse has no end'));
  }
}

class VerseDeltas implements Deltas {
  readonly extra: AnswerEvent[] = [];
  readonly mayRest = true;
  readonly nextSequence = 0;
  readonly #channel: Channel;

  constructor(readonly gate: TextGate) {
    this.#channel = gate.open('verse', 'text', 0);
  }

  read(event: AnswerEvent, data: JsonObject): AnswerEvent | null {
    if (typeof data.line === 'string') {
      const line = this.gate.pass(this.#channel, data.line);
      return line === '' ? null : { event: 'line', data: { line } };
    }
    this.end();
    return typeof data.verse === 'string' ? { event: 'rest', data: { ...data, verse: this.gate.whole(this.gate.passing('all', 'text', 0), data.verse) } } : event;
  }

  end(): void {
    const line = this.gate.flush(this.#channel);
    if (line !== '') this.extra.push({ event: 'line', data: { line } });
  }
}

class VerseAccumulator implements Accumulator {
  readonly wanted: ReadonlySet<string> = new Set(['rest']);
  #answer: JsonObject | null = null;

  read(event: JsonObject): number {
    this.#answer = event;
    return JSON.stringify(event).length;
  }

  answer(): JsonObject | null {
    return this.#answer;
  }
}

const isRest = (event: AnswerEvent): boolean => event.event === 'rest';

const verses = defineDialect({
  endpoint: 'moderations',
  translation: {
    names: new Map([['messages', 'ask']]),
    request: ({ ask, ...rest }, context) => (typeof ask === 'string' ? { ...rest, messages: [{ role: 'user', content: ask }] } : context.refuse('ask', 'must be a text')),
    answer: (completion) => ({ verse: textIn(firstChoice(completion).message) }),
    stage: () => new VerseStage(),
  },
  lastPrompt: ({ ask, ...rest }) => (typeof ask === 'string' ? { text: ask, rest } : null),
  errorBody: ({ message }) => JSON.stringify({ wrong: message }),
  errorEvent: ({ message }, sequence) => `event: wrong\ndata: ${JSON.stringify({ wrong: message, sequence })}\n\n`,
  isErrorBody: ({ wrong }) => typeof wrong === 'string',
  errorEvents: ['wrong'],
  endMark: /"verse"/,
  tellsEnd: () => false,
  lastEvents: ['rest'],
  withResults: (events, results) => events.map((event) => (isRest(event) && typeof event.data !== 'string' ? { event: 'rest', data: { ...event.data, hook_results: results } } : event)),
  deltas: (gate) => new VerseDeltas(gate),
  accumulator: () => new VerseAccumulator(),
  isReplayable: ({ verse }) => typeof verse === 'string',
  replay: function* replayVerse(answer) {
    for (const line of String(answer.verse).match(/\S+\s*/g) ?? []) yield { event: 'line', data: { line } };
    yield { event: 'rest', data: answer };
  },
});

const route: EndpointDefinition = Object.freeze({ name: verses.endpoint, dialect: verses, scope: 'completions.write', body: 'json', validate: null, isSingleTarget: false });

// ---- a pipeline without sockets, whose provider has nothing but chat ----

const folder = writePackage(temporaryFolder(), {
  gateway: { namespace: 'acme', contract: { provider: 1 }, plugins: { provider: ['chatty'] } },
  files: {
    'provider/chatty.js': `import { defineProvider } from '@gateway/plugin-sdk';
export default defineProvider({ title: 'C', describe: 'C.', baseUrl: 'https://chatty.example/v1', auth: { type: 'none' }, params: { type: 'object', properties: {} }, endpoints: { chatCompletions: '/chat' } });`,
  },
});

const services = planServices([folder]);

interface Called {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  readonly json: any;
  readonly events: readonly { readonly event: string; readonly data: any }[];
  readonly sent: any;
  readonly ending: string;
}

/** One call: `answer` plays the provider. */
async function call(body: object, answer: (listener: UpstreamListener) => void, config: Config = {}): Promise<Called> {
  const plan = await compilePlan({ provider: 'acme.chatty', ...config }, { workspaceId: 'w', provider: undefined, customHost: undefined, digest: JSON.stringify(config) }, services);
  let sent: unknown = null;
  for (const origin of services.upstream.origins.values()) {
    origin.send = (request, listener) => {
      assert.ok(request.body instanceof Uint8Array);
      sent = JSON.parse(Buffer.from(request.body).toString());
      setImmediate(answer, listener);
      return { pause() {}, resume() {}, cancel() {} };
    };
  }
  const responder = new RecordingResponder();
  const exchange = exchangeOf({ route, path: '/v1/moderations', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body), responder });
  await new Promise<LogRecord>((resolve) => {
    const used = {
      settings: { retryDelayMs: 1, requestsMax: 10, collectedBytesMax: 1024 * 1024, showsCost: false },
      authenticator: { authenticate: () => ({ keyId: 'k', organisationId: 'o', workspaceId: 'w', scopes: new Set(['completions.write']), type: 'workspace-service', expiresAtMs: Infinity, defaults: null, limits: null, token: null, workspace: { id: 'w', rules: null, limits: null, policies: null, bodies: null } }) },
      plans: { find: () => plan, acquire() {}, release() {} },
      breakers: services.breakers, logger: { error: (message: string) => assert.fail(message) }, metrics: { add() {} }, cacheFaults: { add: (_: string, fault: string) => assert.fail(fault) },
      record: (given: LogRecord) => { resolve(given); return true; },
      headerMetadata: null, hostOf: () => assert.fail('no host here'), inFlight: new InFlight(), refreshed: new Refreshed(), responses: { keeps: false },
    };
    new Pipeline(used as unknown as PipelineServices).handle(exchange);
  });
  const { status, headers, text } = responder;
  return {
    status, text, sent, ending: exchange.ending,
    header: (name) => headers[headers.indexOf(name) + 1],
    get json() { return JSON.parse(text); },
    get events() { return eventsIn(text); },
  };
}

function eventsIn(text: string): { event: string; data: any }[] {
  const events: { event: string; data: any }[] = [];
  const reader = new SseReader();
  reader.push(Buffer.from(text), ({ event, data }) => events.push({ event: event ?? '', data: JSON.parse(data) }));
  reader.end(({ event, data }) => events.push({ event: event ?? '', data: JSON.parse(data) }));
  return events;
}

const plainAnswer = (content: string) => (listener: UpstreamListener): void => {
  listener.onHead(200, ['content-type', 'application/json']);
  listener.onChunk(Buffer.from(JSON.stringify({ object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] })));
  listener.onEnd();
};
const streamedAnswer = (lines: readonly string[], end: (listener: UpstreamListener) => void) => (listener: UpstreamListener): void => {
  listener.onHead(200, ['content-type', 'text/event-stream']);
  for (const content of lines) listener.onChunk(Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`));
  end(listener);
};
const done = (listener: UpstreamListener): void => {
  listener.onChunk(Buffer.from('data: [DONE]\n\n'));
  listener.onEnd();
};
const breakingOff = (listener: UpstreamListener): void => listener.onError(new Error('reset'));
const unasked = (): void => assert.fail('the provider was asked');
const line = (text: string): { event: string; data: object } => ({ event: 'line', data: { line: text } });

describe('a dialect that is one object', () => {
  test('is translated into chat, and its plain answers back', async () => {
    const { status, sent, json } = await call({ model: 'm', ask: 'why?' }, plainAnswer('because'));
    assert.deepEqual([status, sent, json], [200, { model: 'm', messages: [{ role: 'user', content: 'why?' }] }, { verse: 'because' }]);
  });

  test('refuses what it cannot translate, in its own shape of errors', async () => {
    const { status, json } = await call({ model: 'm' }, unasked);
    assert.deepEqual([status, json], [400, { wrong: 'ask: acme.chatty: must be a text', status: 'failure', message: 'ask: acme.chatty: must be a text' }]);
  });

  test('tells a provider\'s errors in its own shape, and leaves those that have it', async () => {
    const failing = (body: object) => (listener: UpstreamListener): void => {
      listener.onHead(400, ['content-type', 'application/json']);
      listener.onChunk(Buffer.from(JSON.stringify(body)));
      listener.onEnd();
    };
    assert.deepEqual((await call({ model: 'm', ask: 'a' }, failing({ error: { message: 'no such model', type: 'invalid_request_error' } }))).json, { wrong: 'no such model' });
    assert.deepEqual((await call({ model: 'm', ask: 'a' }, failing({ wrong: 'nothing', more: 1 }))).json, { wrong: 'nothing', more: 1 });
  });

  test('is streamed, and a stream that breaks off ends with an error of its own', async () => {
    const whole = await call({ model: 'm', ask: 'a', stream: true }, streamedAnswer(['one ', 'two'], done));
    assert.deepEqual([whole.sent.stream, whole.events, whole.ending], [true, [line('one '), line('two'), { event: 'rest', data: { verse: 'one two' } }], 'complete']);
    const broken = await call({ model: 'm', ask: 'a', stream: true }, streamedAnswer(['one '], breakingOff));
    assert.deepEqual([broken.events[0], broken.events[1]?.event, broken.events[1]?.data.sequence, broken.events.length], [line('one '), 'wrong', 1, 2]);
    const cut = await call({ model: 'm', ask: 'a', stream: true }, streamedAnswer(['one '], (listener) => listener.onEnd()));
    assert.deepEqual([cut.events.at(-1)?.event, cut.ending], ['wrong', 'upstream']);
  });

  test('comes out of a cache as a stream when it went in plain, and plain when it went in as a stream', async () => {
    const config: Config = { cache: { mode: 'simple' } };
    const kept = async (body: object, answer: (listener: UpstreamListener) => void): Promise<Called> => {
      const called = await call(body, answer, config);
      await new Promise((resolve) => { setImmediate(resolve); });
      return called;
    };
    assert.equal((await kept({ model: 'm', ask: 'plain' }, plainAnswer('one two'))).header('x-gateway-cache-status'), 'MISS');
    const replayed = await kept({ model: 'm', ask: 'plain', stream: true }, unasked);
    assert.deepEqual([replayed.header('x-gateway-cache-status'), replayed.events], ['HIT', [line('one '), line('two'), { event: 'rest', data: { verse: 'one two' } }]]);
    assert.equal((await kept({ model: 'm', ask: 'streamed', stream: true }, streamedAnswer(['three ', 'four'], done))).events.length, 3);
    const assembled = await kept({ model: 'm', ask: 'streamed' }, unasked);
    assert.deepEqual([assembled.header('x-gateway-cache-status'), assembled.json], ['HIT', { verse: 'three four' }]);
  });

  test('is put together and replayed', () => {
    const whole = assembler(verses);
    for (const event of replay(verses, { verse: 'one two' }, { includesUsage: false })) whole.push(event);
    assert.deepEqual(whole.answer(), { verse: 'one two' });
    assert.deepEqual([...replay(verses, { wrong: 'x' }, { includesUsage: false })], []);
  });

  test('has its texts judged in the stream', () => {
    const stage = new CheckStage({ dialect: verses, check: redactor(), lookBackMax: 11, changes: true, onFail: () => false });
    const events: AnswerEvent[] = [];
    const out: EventSink = { write: (event) => { events.push(event); }, end() {}, fail: (error) => { throw error; } };
    for (const piece of [`I am ${secret.slice(0, 5)}`, `${secret.slice(5)}!`]) stage.push({ event: 'line', data: { line: piece } }, out);
    stage.push({ event: 'rest', data: { verse: `I am ${secret}!` } }, out);
    stage.end(out);
    assert.deepEqual(events, [line('I am '), line('[SSN]!'), { event: 'rest', data: { verse: 'I am [SSN]!' } }]);
  });
});
