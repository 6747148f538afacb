// Streams that hooks look at, in every dialect, relayed and translated: what they may not change, what they add and where, and what becomes
// of streams that fail, break off, are too long, or that nobody reads any more.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkChatChunks, checkMessagesEvents, checkResponsesEvents, SseReader } from '@gateway/plugin-sdk/testing';
import { apiKey, startTestGateway, type TestGateway } from '../support/gateway.js';
import { chatChunks, sendJson, startUpstream, type Answer } from '../support/upstream.js';
import { openWire } from '../support/wire.js';

const upstream = await startUpstream();
const judge = await startUpstream();
const gateway = await startTestGateway();
const narrowBytes = 40_000;
const narrow = await startTestGateway({ GATEWAY_COLLECTED_BYTES_MAX: String(narrowBytes) });

type Dialect = 'chat' | 'messages' | 'responses';
interface Route { readonly name: string; readonly dialect: Dialect; readonly provider: string; readonly wire: Dialect }

const relays: readonly Route[] = [
  { name: 'chat, relayed', dialect: 'chat', provider: 'openai', wire: 'chat' },
  { name: 'messages, relayed', dialect: 'messages', provider: 'anthropic', wire: 'messages' },
  { name: 'responses, relayed', dialect: 'responses', provider: 'openai', wire: 'responses' },
];
const routes: readonly Route[] = [
  ...relays,
  { name: 'messages over a chat provider', dialect: 'messages', provider: 'ovhcloud', wire: 'chat' },
  { name: 'responses over a chat provider', dialect: 'responses', provider: 'ovhcloud', wire: 'chat' },
  { name: 'chat over a messages provider', dialect: 'chat', provider: 'anthropic', wire: 'messages' },
];
const chatRoute = relays[0]!;

const paths: Readonly<Record<Dialect, string>> = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' };
const bodyOf = (dialect: Dialect, isStream = true): object => (dialect === 'responses'
  ? { model: 'm', input: 'x', stream: isStream }
  : { model: 'm', messages: [{ role: 'user', content: 'x' }], stream: isStream, ...(dialect === 'messages' ? { max_tokens: 50 } : isStream ? { stream_options: { include_usage: true } } : {}) });

function headersOf(route: Route, config: object): Record<string, string> {
  const base = { provider: route.provider, api_key: 'sk', custom_host: `${upstream.url}/v1` };
  return { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ ...base, ...config }) };
}

const post = (route: Route, config: object, of: TestGateway = gateway, signal?: AbortSignal, isStream = true): Promise<Response> => fetch(of.url + paths[route.dialect], {
  method: 'POST', headers: headersOf(route, config), body: JSON.stringify(bodyOf(route.dialect, isStream)), ...(signal === undefined ? {} : { signal }),
});

// ---- what providers stream ----

const frame = (event: Readonly<Record<string, unknown>>): string => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;

function messagesFrames(words: readonly string[]): string[] {
  const events = [
    { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 9, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...words.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ];
  return events.map(frame);
}

function responsesFrames(words: readonly string[]): string[] {
  const text = words.join('');
  const part = (said: string): object => ({ type: 'output_text', text: said, annotations: [], logprobs: [] });
  const item = (status: string, content: object[]): object => ({ type: 'message', id: 'msg_1', role: 'assistant', status, content });
  const response = (status: string, output: object[], usage: object | null): object => ({
    id: 'resp_1', object: 'response', created_at: 1_700_000_000, status, error: null, model: 'gpt', output, usage, parallel_tool_calls: true, tool_choice: 'auto', tools: [], instructions: null,
    metadata: {}, temperature: 1, top_p: 1, max_output_tokens: null, previous_response_id: null, text: { format: { type: 'text' } }, truncation: 'disabled', incomplete_details: null,
  });
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const usage = { input_tokens: 9, input_tokens_details: { cached_tokens: 0 }, output_tokens: 7, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 16 };
  const events = [
    { type: 'response.created', response: response('in_progress', [], null) },
    { type: 'response.in_progress', response: response('in_progress', [], null) },
    { type: 'response.output_item.added', output_index: 0, item: item('in_progress', []) },
    { type: 'response.content_part.added', ...at, part: part('') },
    ...words.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...at, text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part: part(text) },
    { type: 'response.output_item.done', output_index: 0, item: item('completed', [part(text)]) },
    { type: 'response.completed', response: response('completed', [item('completed', [part(text)])], usage) },
  ];
  return events.map((event, index) => frame({ sequence_number: index, ...event }));
}

const framesOf: Readonly<Record<Dialect, (words: readonly string[]) => string[]>> = {
  chat: (words) => chatChunks(words).map((chunk) => `${chunk}\n\n`), messages: messagesFrames, responses: responsesFrames,
};
/** Up to the second word, and no further. */
const begun = (wire: Dialect, words: readonly string[]): string => {
  const frames = framesOf[wire](words);
  return frames.slice(0, frames.findIndex((text) => text.includes(JSON.stringify(words[1]))) + 1).join('');
};

const streams = (text: string): Answer => (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(text);
};
const says = (route: Route, words: readonly string[]): void => { upstream.answer = streams(framesOf[route.wire](words).join('')); };

function plainOf(wire: Dialect, text: string): object {
  if (wire === 'messages') return { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [{ type: 'text', text }], stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 9, output_tokens: 7 } };
  if (wire === 'chat') return { id: 'c', object: 'chat.completion', created: 1, model: 'gpt', choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop', logprobs: null }], usage: { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 } };
  return JSON.parse((responsesFrames([text]).at(-1) ?? '').split('data: ')[1] ?? '').response;
}

// ---- what clients read ----

interface Event { readonly event?: string; readonly data: any }
interface Read { readonly events: readonly Event[]; readonly text: string; readonly results: readonly any[]; readonly isEnded: boolean }

function read(dialect: Dialect, raw: string): Read {
  const events: Event[] = [];
  const reader = new SseReader();
  let hasDone = false;
  const emit = ({ event, data }: { event: string | undefined; data: string }): void => {
    if (data === '[DONE]') hasDone = true;
    else events.push({ ...(event === undefined ? {} : { event }), data: JSON.parse(data) });
  };
  reader.push(Buffer.from(raw), emit);
  reader.end(emit);
  const texts = events.map(({ event, data }) => (dialect === 'chat' ? data.choices?.[0]?.delta?.content : dialect === 'messages' ? data.delta?.text : event === 'response.output_text.delta' ? data.delta : '') ?? '');
  const results = events.flatMap(({ data }) => [data.hook_results, data.response?.hook_results]).filter((found) => found !== undefined);
  const isEnded = dialect === 'chat' ? hasDone : events.some(({ event }) => event === (dialect === 'messages' ? 'message_stop' : 'response.completed'));
  return { events, text: texts.join(''), results, isEnded };
}

function faultsOf(dialect: Dialect, events: readonly Event[]): string[] {
  if (dialect === 'messages') return checkMessagesEvents(events as any);
  if (dialect === 'responses') return checkResponsesEvents(events as any);
  return checkChatChunks(events.filter(({ data }) => data.hook_results === undefined).map(({ data }) => data));
}

/** Ids and times that each answer has for itself. */
const steady = (raw: string): string => raw.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replace(/(?:msg|resp|chatcmpl|rs|fc|item)_?(?:gw_)?[0-9A-Za-z]{16,}/g, 'ID').replace(/("created(?:_at)?"):\d+/g, '$1:0');

/** The stream as it were without the hooks' results. */
function withoutResults(dialect: Dialect, raw: string): string {
  const frames = raw.split('\n\n');
  if (dialect !== 'responses') return frames.filter((text) => !text.includes('"hook_results"')).join('\n\n');
  return frames.map((text) => {
    if (!text.includes('"hook_results"')) return text;
    const at = text.indexOf('data: ') + 6;
    const data = JSON.parse(text.slice(at));
    delete data.response.hook_results;
    return text.slice(0, at) + JSON.stringify(data);
  }).join('\n\n');
}

/** Without the events that bring text. */
const withoutTexts = (raw: string): string => raw.split('\n\n').filter((text) => !/"delta":\{"content":"[^"]|text_delta|output_text\.delta/.test(text)).join('\n\n').replace(/"sequence_number":\d+/g, '"sequence_number":0');

const words = ['The answer ', 'is forty', '-two, ', 'and that ', 'is all. ', '12', '34 says', ' the secret book.'];
const said = words.join('');

const checks = {
  lookBack: { 'default.regexMatch': { rule: 'zzz+', not: true }, deny: true },
  redacts: { 'default.regexReplace': { rule: '[0-9]{4}', redactText: '[PIN]', lookBack: 16 } },
  personalData: { 'default.pii': { redact: true, categories: ['EMAIL_ADDRESS'] } },
  /** Needs the whole, but has no say: holds nothing. */
  looks: { 'default.regexMatch': { rule: 'book' } },
  /** Needs the whole and has a say. */
  whole: { 'default.regexMatch': { rule: 'book' }, deny: true },
  webhook: { 'default.webhook': { webhookURL: `${judge.url}/judge` } },
} as const;
judge.answer = (_, response) => sendJson(response, 200, { verdict: true });

const unchanging: Readonly<Record<string, object>> = {
  'a look-back check': { output_guardrails: [checks.lookBack] },
  'a look-back check that may change': { output_guardrails: [checks.personalData] },
  'two checks one behind the other': { output_guardrails: [checks.personalData, checks.lookBack] },
  'two checks of one hook': { output_guardrails: [{ ...checks.personalData, ...checks.lookBack }] },
  'a check that only looks at the whole': { output_guardrails: [checks.looks] },
  'a check that holds the stream': { output_guardrails: [checks.whole] },
  'a webhook that holds the stream': { output_guardrails: [checks.webhook] },
  'a look-back check beside one that holds': { output_guardrails: [checks.lookBack, checks.whole] },
  'an async check': { output_guardrails: [{ ...checks.looks, async: true }, { ...checks.webhook, async: true }] },
  'a check on the input': { input_guardrails: [checks.lookBack] },
};

describe('a stream that hooks leave as it is', () => {
  for (const route of routes) {
    for (const [name, config] of Object.entries(unchanging)) {
      it(`${route.name}: ${name}`, async () => {
        says(route, words);
        const bare = await (await post(route, {})).text();
        const response = await post(route, config);
        const raw = await response.text();
        assert.equal(response.status, 200, raw);
        assert.equal(response.headers.get('content-type'), 'text/event-stream');
        const bytes = steady(withoutResults(route.dialect, raw));
        // What is held back goes in a later event; all the others are the same.
        if (/look-back|two checks/.test(name) && !name.includes('holds')) assert.equal(withoutTexts(bytes), withoutTexts(steady(bare)));
        else assert.equal(bytes, steady(bare));
        const { events, text, results, isEnded } = read(route.dialect, raw);
        assert.equal(text, said);
        assert.ok(isEnded);
        assert.deepEqual(faultsOf(route.dialect, events), []);
        if (name === 'an async check') {
          assert.deepEqual(results, []);
          return;
        }
        assert.equal(results.length, 1, 'the results come once');
        const hooks = [...results[0].before_request_hooks, ...results[0].after_request_hooks];
        assert.ok(hooks.length > 0 && hooks.every((hook) => hook.verdict === true && hook.transformed === false), JSON.stringify(hooks));
        assert.equal(hooks.flatMap((hook) => hook.checks).length, name.startsWith('two') || name.includes('beside') ? 2 : 1);
      });
    }
  }

  it('holds nothing back for a check that can neither deny nor change', async () => {
    for (const route of routes) {
      says(route, words);
      const bare = await (await post(route, {})).text();
      const raw = await (await post(route, { output_guardrails: [{ 'default.regexMatch': { rule: 'zzz+', not: true } }] })).text();
      assert.equal(steady(withoutResults(route.dialect, raw)), steady(bare), route.name);
    }
  });

  it('has the results in a chunk that belongs to the stream: its id and its model', async () => {
    says(chatRoute, words);
    for (const [name, config] of Object.entries(unchanging)) {
      if (name === 'an async check') continue;
      const { events } = read('chat', await (await post(chatRoute, config)).text());
      const own = events.find(({ data }) => data.hook_results !== undefined)?.data;
      assert.deepEqual([own.id, own.model, own.created, own.object], ['chatcmpl-1', 'gpt-test-2024', 1_700_000_000, 'chat.completion.chunk'], name);
    }
  });
});

describe('a stream that hooks change', () => {
  for (const route of routes) {
    it(`${route.name}: as it passes, by two checks`, async () => {
      says(route, words);
      const raw = await (await post(route, { output_mutators: [checks.redacts, { 'default.regexReplace': { rule: 'PIN', redactText: 'NUMBER', lookBack: 16 } }] })).text();
      const { events, text, results, isEnded } = read(route.dialect, raw);
      assert.equal(text, said.replace('1234', '[NUMBER]'));
      assert.ok(isEnded);
      assert.deepEqual(faultsOf(route.dialect, events), []);
      assert.doesNotMatch(raw, /1234/);
      assert.deepEqual(results[0].after_request_hooks.map((hook: any) => hook.transformed), [true, true]);
    });

    it(`${route.name}: held, by a service, and judged by the next check as changed`, async () => {
      says(route, words);
      judge.answer = (received, response) => {
        const asked: any = received.json();
        const json = JSON.parse(JSON.stringify(asked.response.json).replaceAll('secret', 'public'));
        sendJson(response, 200, { verdict: true, transformedData: { response: { json } } });
      };
      const config = { output_guardrails: [checks.webhook, { deny: true, 'default.regexMatch': { rule: 'public' } }] };
      const raw = await (await post(route, config)).text();
      judge.answer = (_, response) => sendJson(response, 200, { verdict: true });
      const { events, text, results, isEnded } = read(route.dialect, raw);
      assert.equal(text, said.replace('secret', 'public'));
      assert.doesNotMatch(raw, /secret/);
      assert.ok(isEnded);
      assert.deepEqual(faultsOf(route.dialect, events), []);
      assert.equal(results.length, 1);
      assert.deepEqual(results[0].after_request_hooks.map((hook: any) => [hook.verdict, hook.transformed]), [[true, true], [true, false]]);
      if (route.dialect === 'chat') assert.equal(events.find(({ data }) => data.usage)?.data.usage.prompt_tokens, 9);
    });

    it(`${route.name}: denied in its midst, and denied held`, async () => {
      says(route, words);
      const passing = await (await post(route, { output_guardrails: [{ deny: true, 'default.regexMatch': { rule: 'that is', not: true } }] })).text();
      const { events, isEnded } = read(route.dialect, passing);
      assert.ok(!isEnded);
      assert.doesNotMatch(passing, /secret/);
      const last = events.at(-1);
      if (route.dialect !== 'chat') assert.equal(last?.event, 'error');
      assert.match(last?.data.error?.message ?? last?.data.message, /guardrail checks defined in the config failed/);
      assert.equal(last?.data.hook_results.after_request_hooks[0].deny, true);
      if (route.dialect === 'responses') assert.equal(last?.data.sequence_number, events.length - 1);
      const held = await post(route, { output_guardrails: [{ deny: true, 'default.regexMatch': { rule: 'nowhere' } }] });
      assert.equal(held.status, 446);
      const json: any = await held.json();
      assert.equal(json.hook_results.after_request_hooks[0].deny, true);
      assert.doesNotMatch(JSON.stringify(json), /forty|secret/);
    });

    it(`${route.name}: marked with 246 when it was held and failed, and told in its results when it had begun`, async () => {
      says(route, words);
      const held = await post(route, { output_guardrails: [checks.whole, { 'default.regexMatch': { rule: 'nowhere' } }] });
      const { text, results } = read(route.dialect, await held.text());
      assert.deepEqual([held.status, text, results[0].after_request_hooks.map((hook: any) => hook.verdict)], [246, said, [true, false]]);
      const passing = await post(route, { output_guardrails: [{ 'default.regexMatch': { rule: 'secret', not: true } }] });
      const passed = read(route.dialect, await passing.text());
      assert.deepEqual([passing.status, passed.text, passed.isEnded, passed.results[0].after_request_hooks[0].verdict], [200, said, true, false]);
    });

    it(`${route.name}: has the status of its head where another try is possible too, however much its first read brings`, async () => {
      says(route, words);
      for (const deny of [true, false]) {
        const passing = await post(route, { retry: { attempts: 1 }, output_guardrails: [{ deny, 'default.regexMatch': { rule: 'that is', not: true } }] });
        assert.deepEqual([passing.status, read(route.dialect, await passing.text()).isEnded], [200, !deny]);
      }
    });
  }
});

describe('a stream that fails', () => {
  const hooked: Readonly<Record<string, object>> = {
    'a look-back check': { output_guardrails: [checks.lookBack] },
    'a check that only looks': { output_guardrails: [checks.looks] },
    'a check on the input': { input_guardrails: [checks.lookBack] },
    'an async check': { output_guardrails: [{ ...checks.looks, async: true }] },
    'a cache': { cache: { mode: 'simple' } },
  };
  const held = { output_guardrails: [checks.whole] };

  const assertFailed = (route: Route, raw: string, name: string): void => {
    const { events, isEnded } = read(route.dialect, raw);
    assert.ok(!isEnded, `${name}: ended as if it were whole: ${raw}`);
    const last = events.findLast(({ data }) => data.hook_results === undefined || data.error !== undefined || data.type === 'error');
    assert.ok(last !== undefined && (last.event === 'error' || last.data.error !== undefined), `${name}: nobody can tell that it failed: ${raw}`);
  };

  const told = { type: 'overloaded_error', message: 'too many of you' };
  const errorFrame = (wire: Dialect): string => {
    if (wire === 'chat') return `data: ${JSON.stringify({ error: told })}\n\n`;
    return frame(wire === 'messages' ? { type: 'error', error: told } : { type: 'error', code: 'overloaded', message: told.message, param: null, sequence_number: 6 });
  };

  it('has nothing behind the error that ends it', async () => {
    for (const route of relays) {
      upstream.answer = streams(begun(route.wire, words) + errorFrame(route.wire));
      for (const [name, config] of Object.entries(hooked)) {
        const last = read(route.dialect, await (await post(route, config)).text()).events.at(-1);
        assert.ok(last?.event === 'error' || last?.data.error !== undefined, `${route.name}, ${name}: ends with ${last?.event}`);
      }
    }
  });

  for (const route of routes) {
    it(`${route.name}: broken off`, async () => {
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(begun(route.wire, words), () => response.destroy());
      };
      for (const [name, config] of Object.entries(hooked)) assertFailed(route, await (await post(route, config)).text(), name);
      const refused = await post(route, held);
      const body: any = await refused.json();
      assert.equal(refused.status, 502);
      assert.match(body.error.message, /broke off/);
    });

    it(`${route.name}: closed in good order without its end`, async () => {
      upstream.answer = streams(begun(route.wire, words));
      assertFailed(route, await (await post(route, {})).text(), 'no hook');
      for (const [name, config] of Object.entries(hooked)) assertFailed(route, await (await post(route, config)).text(), name);
      const refused = await post(route, held);
      assert.equal(refused.status, 502, await refused.text());
    });

    it(`${route.name}: without one event`, async () => {
      upstream.answer = streams('');
      const bare = await (await post(route, {})).text();
      assertFailed(route, bare, 'no hook');
      for (const [name, config] of Object.entries(hooked)) assertFailed(route, await (await post(route, config)).text(), name);
      const refused = await post(route, held);
      assert.equal(refused.status, 502, await refused.text());
    });

    it(`${route.name}: by an error of the provider in its midst`, async () => {
      upstream.answer = streams(begun(route.wire, words) + errorFrame(route.wire));
      for (const [name, config] of Object.entries({ none: {}, ...hooked })) {
        const raw = await (await post(route, config)).text();
        assertFailed(route, raw, name);
        const errors = read(route.dialect, raw).events.filter(({ event, data }) => event === 'error' || data.error != null);
        assert.equal(errors.length, 1, `${name}: ${raw}`);
        assert.match(raw, /too many of you/, name);
      }
    });

    it(`${route.name}: held, by an error of the provider in its midst, which the client is told`, async () => {
      upstream.answer = streams(begun(route.wire, words) + errorFrame(route.wire));
      const refused = await post(route, held);
      const text = await refused.text();
      assert.ok(refused.status >= 500, `${refused.status} ${text}`);
      assert.match(text, /too many of you/, 'held, the client does not learn what the provider said');
    });

    it(`${route.name}: not at all, when the provider answers in JSON`, async () => {
      upstream.answer = (_, response) => sendJson(response, 200, plainOf(route.wire, said));
      for (const [name, config] of Object.entries(unchanging)) {
        const response = await post(route, config);
        const json: any = await response.json();
        assert.equal(response.status, 200, name);
        assert.match(JSON.stringify(json), /forty-two/, name);
        assert.equal(json.hook_results === undefined, name === 'an async check', name);
      }
      const denied = await post(route, { output_guardrails: [checks.lookBack, { deny: true, 'default.regexMatch': { rule: 'secret', not: true } }] });
      assert.equal(denied.status, 446);
    });
  }

  it('is not kept in a cache when it failed a check as it passed', async () => {
    const guards = [{ 'default.regexMatch': { rule: 'secret', not: true } }];
    says(chatRoute, words);
    for (let turn = 0; turn < 5; turn += 1) {
      const response = await post(chatRoute, { cache: { mode: 'simple' }, output_guardrails: guards });
      await response.text();
      assert.equal(response.headers.get('x-gateway-cache-status'), 'MISS', 'an answer that failed its check was kept, and nobody tells so any more');
    }
  });
});

describe('a stream that is too long to be held', () => {
  /** Goes on until it is cut off. */
  const endless = (route: Route, closed: () => void): Answer => (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.once('close', closed);
    const frames = framesOf[route.wire](['a', 'x'.repeat(1000)]);
    const at = frames.findIndex((text) => text.includes('xxx'));
    response.write(frames.slice(0, at).join(''));
    const pump = (): void => { while (!response.destroyed && response.write(frames[at]!)); };
    response.on('drain', pump);
    pump();
  };

  for (const route of routes) {
    it(`${route.name}: is refused, and the call to the provider ended`, async () => {
      const closed = new Promise<void>((resolve) => { upstream.answer = endless(route, resolve); });
      const response = await post(route, { output_guardrails: [checks.whole] }, narrow);
      const json: any = await response.json();
      assert.equal(response.status, 502);
      assert.match(json.error.message, new RegExp(String(narrowBytes)));
      await closed;
    });

    it(`${route.name}: passes whole when the check only looks, which errs`, async () => {
      const long = Array.from({ length: 100 }, () => 'x'.repeat(1000));
      says(route, long);
      const response = await post(route, { output_guardrails: [checks.looks] }, narrow);
      const { text, results, isEnded } = read(route.dialect, await response.text());
      assert.equal(text, long.join(''));
      assert.ok(isEnded);
      assert.match(results[0].after_request_hooks[0].checks[0].error.message, /put together/);
    });
  }
});

describe('a client that leaves', () => {
  const signal = (): { readonly promise: Promise<void>; readonly resolve: () => void } => {
    let resolve = (): void => undefined;
    const promise = new Promise<void>((done) => { resolve = done; });
    return { promise, resolve };
  };

  for (const route of routes) {
    it(`${route.name}: while its stream is held, ends the call to the provider`, async () => {
      const arrived = signal();
      const closed = signal();
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.once('close', closed.resolve);
        response.write(begun(route.wire, words), arrived.resolve);
      };
      const leaving = new AbortController();
      const called = post(route, { output_guardrails: [checks.whole] }, gateway, leaving.signal).catch(() => undefined);
      await arrived.promise;
      leaving.abort();
      await closed.promise;
      await called;
    });
  }

  for (const [name, config, isAsked] of [
    ['on the input', { input_guardrails: [{ deny: true, ...checks.webhook }] }, false],
    ['on the output', { output_guardrails: [{ deny: true, ...checks.webhook }] }, true],
  ] as const) {
    it(`while a service judges ${name}, ends the question to the service`, async () => {
      says(chatRoute, words);
      const before = upstream.received.length;
      const arrived = signal();
      const closed = signal();
      judge.answer = (_, response) => {
        response.once('close', closed.resolve);
        arrived.resolve();
      };
      const leaving = new AbortController();
      const called = post(chatRoute, config, gateway, leaving.signal).catch(() => undefined);
      await arrived.promise;
      leaving.abort();
      await closed.promise;
      await called;
      judge.answer = (_, response) => sendJson(response, 200, { verdict: true });
      // One more call on the same loop: the left one had its time.
      await (await post(chatRoute, {})).text();
      assert.equal(upstream.received.length - before, isAsked ? 2 : 1);
    });
  }
});

describe('a client that does not read', () => {
  // More than the kernel's buffers of two connections take, which on a busy machine is nearly forty megabytes.
  const totalFrames = 9000;
  const body = 'word '.repeat(1000);

  for (const [name, config] of Object.entries({
    'a look-back check': { output_guardrails: [checks.personalData] }, 'a check that only looks': { output_guardrails: [checks.lookBack] },
    'a shared answer': { cache: { mode: 'simple', share_in_flight: true } },
  })) {
    it(`slows its provider down, and gets everything in the end: ${name}`, async () => {
      const frames = framesOf.chat([body]);
      let sent = 0;
      let stalled = (): void => undefined;
      const isStalled = new Promise<void>((resolve) => { stalled = resolve; });
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(frames[0]!);
        const pump = (): void => {
          while (sent < totalFrames) {
            sent += 1;
            if (!response.write(frames[1]!)) {
              stalled();
              response.once('drain', pump);
              return;
            }
          }
          response.end(frames.slice(2).join(''));
        };
        pump();
      };
      const wire = await openWire(gateway.port);
      wire.socket.pause();
      const content = JSON.stringify(bodyOf('chat'));
      const lines = Object.entries({ host: 'g', ...headersOf(chatRoute, config), 'content-length': String(content.length) });
      wire.write(`POST /v1/chat/completions HTTP/1.1\r\n${lines.map(([header, value]) => `${header}: ${value}\r\n`).join('')}\r\n${content}`);
      await isStalled;
      for (let seen = -1; seen !== sent;) {
        seen = sent;
        await new Promise((resolve) => { setTimeout(resolve, 60); });
      }
      assert.ok(sent < totalFrames, `${sent} of ${totalFrames} events left the provider although nobody reads`);
      wire.socket.removeAllListeners('data');
      let bytes = 0;
      let tail = '';
      const done = new Promise<void>((resolve) => {
        wire.socket.on('data', (data: Buffer) => {
          bytes += data.length;
          tail = (tail + data.toString('latin1')).slice(-200);
          if (tail.endsWith('\r\n0\r\n\r\n')) resolve();
        });
      });
      wire.socket.resume();
      await done;
      assert.match(tail, /\[DONE\]/);
      assert.ok(bytes > totalFrames * body.length);
      wire.destroy();
    });
  }
});

describe('a stream of several choices and tools', () => {
  const chunk = (choices: object[], more: object = {}): string => `data: ${JSON.stringify({ id: 'c-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })}\n\n`;
  const delta = (index: number, content: object, finish: string | null = null): object => ({ index, delta: content, finish_reason: finish });
  const frames = [
    chunk([delta(0, { role: 'assistant', content: '' }), delta(1, { role: 'assistant', content: '' })]),
    chunk([delta(1, { content: 'pin 12' })]),
    chunk([delta(0, { content: 'pin 9' }), delta(1, { content: '34 ok' })]),
    chunk([delta(0, { content: '876' })]),
    chunk([delta(0, { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] })]),
    chunk([delta(0, { tool_calls: [{ index: 0, function: { arguments: '{"pin":"55' } }] })]),
    chunk([delta(0, { tool_calls: [{ index: 0, function: { arguments: '55","x":"\\u0039' } }] })]),
    chunk([delta(0, { tool_calls: [{ index: 0, function: { arguments: '999"}' } }] })]),
    chunk([delta(1, {}, 'stop')]), chunk([delta(0, {}, 'tool_calls')]),
    chunk([], { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }), 'data: [DONE]\n\n',
  ];

  it('is redacted in each of them by itself, and arguments stay JSON', async () => {
    upstream.answer = streams(frames.join(''));
    for (const config of [{ output_mutators: [checks.redacts] }, { output_mutators: [checks.redacts], output_guardrails: [checks.whole] }]) {
      const response = await post(chatRoute, config.output_guardrails === undefined ? config : { ...config, output_guardrails: [{ deny: true, 'default.regexMatch': { rule: 'pin' } }] });
      const raw = await response.text();
      assert.equal(response.status, 200, raw);
      const { events, isEnded } = read('chat', raw);
      assert.ok(isEnded);
      assert.deepEqual(faultsOf('chat', events), [], raw);
      const texts = ['', ''];
      let args = '';
      for (const { data } of events) for (const choice of data.choices) {
        texts[choice.index] += choice.delta.content ?? '';
        for (const call of choice.delta.tool_calls ?? []) args += call.function.arguments;
      }
      assert.deepEqual(texts, ['pin [PIN]', 'pin [PIN] ok']);
      assert.deepEqual(JSON.parse(args), { pin: '[PIN]', x: '[PIN]' });
    }
  });
});

