// Personal data in streamed answers, cut in two at every position: redacted, and put back. What the client reads is compared with the text
// that the plain answer has to have; and what the check costs an event is printed.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServerResponse } from 'node:http';
import { checkChatChunks, checkMessagesEvents, checkResponsesEvents, SseReader } from '@gateway/plugin-sdk/testing';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { chatChunks, sendJson, startUpstream, type Answer } from '../support/upstream.js';

const upstream = await startUpstream();
const gateway = await startTestGateway();

type Dialect = 'chat' | 'messages' | 'responses';
interface Route { readonly name: string; readonly dialect: Dialect; readonly provider: string; readonly wire: Dialect }

const routes: readonly Route[] = [
  { name: 'chat, relayed', dialect: 'chat', provider: 'openai', wire: 'chat' },
  { name: 'messages, relayed', dialect: 'messages', provider: 'anthropic', wire: 'messages' },
  { name: 'responses, relayed', dialect: 'responses', provider: 'openai', wire: 'responses' },
  { name: 'messages over a chat provider', dialect: 'messages', provider: 'ovhcloud', wire: 'chat' },
  { name: 'responses over a chat provider', dialect: 'responses', provider: 'ovhcloud', wire: 'chat' },
  { name: 'chat over a messages provider', dialect: 'chat', provider: 'anthropic', wire: 'messages' },
];

const paths: Readonly<Record<Dialect, string>> = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' };
const bodyOf = (dialect: Dialect, model: string, text: string, isStream: boolean): object => {
  const stream = isStream ? { stream: true } : {};
  if (dialect === 'responses') return { model, input: text, ...stream };
  return { model, messages: [{ role: 'user', content: text }], ...(dialect === 'messages' ? { max_tokens: 50 } : isStream ? { stream_options: { include_usage: true } } : {}), ...stream };
};

// ---- what providers stream ----

const sse = (events: readonly { type: string }[]): string => events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

const messagesStream = (words: readonly string[]): string => sse([
  { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 9, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...words.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
] as { type: string }[]);

function responsesStream(words: readonly string[]): string {
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
  return sse(events.map((event, index) => ({ ...event, sequence_number: index })));
}

const streamOf: Readonly<Record<Dialect, (words: readonly string[]) => string>> = {
  chat: (words) => `${chatChunks(words).join('\n\n')}\n\n`, messages: messagesStream, responses: responsesStream,
};

function plainOf(wire: Dialect, text: string): object {
  if (wire === 'messages') return { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [{ type: 'text', text }], stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 9, output_tokens: 7 } };
  if (wire === 'chat') return { id: 'c', object: 'chat.completion', created: 1, model: 'gpt', choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop', logprobs: null }], usage: { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 } };
  const last = responsesStream([text]).trim().split('\n').at(-1) ?? '';
  return JSON.parse(last.slice('data: '.length)).response;
}

/** The model says how the text is to be cut: `cut-12`, or `letters`. */
function cut(text: string, model: string): string[] {
  if (model === 'letters') return text.split('');
  const at = Number(/\d+/.exec(model)?.[0]);
  return at === 0 ? [text] : [text.slice(0, at), text.slice(at)];
}

const wireOf = (url: string): Dialect => (url.includes('/messages') ? 'messages' : url.includes('/responses') ? 'responses' : 'chat');

const answering = (textFor: (asked: string) => string): Answer => (received, response) => {
  const body: any = received.json();
  const wire = wireOf(received.url);
  const last = wire === 'responses' ? body.input : body.messages.at(-1).content;
  const asked = typeof last === 'string' ? last : last.map((part: any) => part.text ?? part.content ?? '').join('');
  const text = textFor(asked);
  if (body.stream !== true) return sendJson(response, 200, plainOf(wire, text));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(streamOf[wire](cut(text, body.model)));
};

// ---- what clients read ----

interface Read { readonly raw: string; readonly text: string; readonly usage: number; readonly faults: readonly string[]; readonly results: any }

function headersOf(route: Route, config: object): Record<string, string> {
  const base = { provider: route.provider, api_key: 'sk', custom_host: `${upstream.url}/v1` };
  return { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ ...base, ...config }) };
}

async function ask(route: Route, config: object, model: string, text = 'x'): Promise<Read> {
  const response = await fetch(gateway.url + paths[route.dialect], { method: 'POST', headers: headersOf(route, config), body: JSON.stringify(bodyOf(route.dialect, model, text, model !== 'plain')) });
  const raw = await response.text();
  assert.equal(response.status, 200, raw);
  return model === 'plain' ? readPlain(route.dialect, raw) : readStream(route.dialect, raw);
}

function readPlain(dialect: Dialect, raw: string): Read {
  const json = JSON.parse(raw);
  const text = dialect === 'chat' ? json.choices[0].message.content : dialect === 'messages' ? json.content[0].text : json.output[0].content[0].text;
  return { raw, text, usage: json.usage.output_tokens ?? json.usage.completion_tokens, faults: [], results: json.hook_results };
}

function readStream(dialect: Dialect, raw: string): Read {
  const events: { event?: string; data: any }[] = [];
  const reader = new SseReader();
  let isDone = false;
  const emit = ({ event, data }: { event: string | undefined; data: string }): void => {
    if (data === '[DONE]') isDone = true;
    else events.push({ ...(event === undefined ? {} : { event }), data: JSON.parse(data) });
  };
  reader.push(Buffer.from(raw), emit);
  reader.end(emit);
  if (dialect === 'chat') {
    const own = events.filter(({ data }) => data.hook_results === undefined);
    const faults = [...checkChatChunks(own.map(({ data }) => data)), ...(isDone ? [] : ['no [DONE]'])];
    const text = own.map(({ data }) => data.choices[0]?.delta?.content ?? '').join('');
    return { raw, text, usage: own.find(({ data }) => data.usage)?.data.usage.completion_tokens, faults, results: events.find(({ data }) => data.hook_results !== undefined)?.data.hook_results };
  }
  if (dialect === 'messages') {
    const text = events.map(({ data }) => data.delta?.text ?? '').join('');
    const usage = events.find(({ event }) => event === 'message_delta')?.data.usage.output_tokens;
    return { raw, text, usage, faults: checkMessagesEvents(events as any), results: events.find(({ data }) => data.hook_results !== undefined)?.data.hook_results };
  }
  const text = events.map(({ event, data }) => (event === 'response.output_text.delta' ? data.delta : '')).join('');
  const last = events.at(-1)?.data.response;
  const faults = [...checkResponsesEvents(events as any), ...(last?.output[0].content[0].text === text ? [] : ['the response has another text than its deltas'])];
  return { raw, text, usage: last?.usage.output_tokens, faults, results: last?.hook_results };
}

/** So many requests at once, in order. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(Array.from({ length: 16 }, async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  }));
}

const modelsFor = (text: string): string[] => ['plain', 'letters', ...Array.from({ length: text.length }, (_, at) => `cut-${at}`)];

const said = 'Dear all: write to ada.lovelace@analytical.org, the card is 4111 1111 1111 1111, call +44 20 7946 0958 or pay to DE89 3704 0044 0532 0130 00 by Monday.';
const redacted = 'Dear all: write to [EMAIL_ADDRESS], the card is [CREDIT_CARD], call [PHONE_NUMBER] or pay to [IBAN] by Monday.';
/** Parts of the values that stand in nothing else: ids and times are digits, too. */
const traces = ['ada.', 'lovelace', '@', 'analytical', '4111 ', ' 1111', '+44', '20 7946', ' 0958', 'DE89', '3704 ', ' 0044', '0532 0', ' 0130'];
const categories = ['EMAIL_ADDRESS', 'CREDIT_CARD', 'PHONE_NUMBER', 'IBAN'];

describe('personal data in a streamed answer', () => {
  for (const route of routes) {
    it(`is redacted wherever it is cut: ${route.name}`, async () => {
      upstream.answer = answering(() => said);
      const guard = { output_guardrails: [{ 'default.pii': { redact: true, categories } }] };
      let usage: number | undefined;
      await inParallel(modelsFor(said), async (model) => {
        const read = await ask(route, guard, model);
        assert.equal(read.text, redacted, `${model}: ${read.raw}`);
        for (const trace of traces) assert.ok(!read.raw.includes(trace), `${model}: ${trace} is in ${read.raw}`);
        assert.deepEqual(read.faults, [], `${model}: ${read.raw}`);
        assert.equal(read.results?.after_request_hooks?.[0]?.transformed, true, model);
        if (model !== 'plain') {
          assert.ok(read.usage > 0, `${model}: no usage in ${read.raw}`);
          if (route.wire !== 'chat') usage ??= read.usage;
          if (usage !== undefined) assert.equal(read.usage, usage);
        }
      });
    });
  }

  it('is redacted with every category on, at every position, and the text around it stays', async () => {
    upstream.answer = answering(() => said);
    const plain = await ask(routes[0]!, { output_guardrails: [{ 'default.pii': { redact: true } }] }, 'plain');
    await inParallel(modelsFor(said), async (model) => {
      assert.equal((await ask(routes[0]!, { output_guardrails: [{ 'default.pii': { redact: true } }] }, model)).text, plain.text, model);
    });
    for (const trace of traces) assert.ok(!plain.text.includes(trace), plain.text);
  });

  it('is redacted where other letters are wide, and where a value stands at either end', async () => {
    const texts = ['ada.lovelace@analytical.org', '😀 ada.lovelace@analytical.org 😀', 'Grüße an ada.lovelace@analytical.org\n\n', '"ada.lovelace@analytical.org"\\n'];
    for (const text of texts) {
      upstream.answer = answering(() => text);
      const wanted = text.replace('ada.lovelace@analytical.org', '[EMAIL_ADDRESS]');
      await inParallel(modelsFor(text).filter((model) => model !== 'letters' || !text.includes('😀')), async (model) => {
        // A provider cuts between characters, not within one.
        const at = Number(/\d+/.exec(model)?.[0] ?? 0);
        if (at > 0 && text.charCodeAt(at) >= 0xdc00 && text.charCodeAt(at) <= 0xdfff) return;
        const read = await ask(routes[0]!, { output_guardrails: [{ 'default.pii': { redact: true, categories } }] }, model);
        assert.equal(read.text, wanted, `${model} of ${text}`);
      });
    }
  });

  it('ends the stream before a character of it has gone, where it is denied', async () => {
    upstream.answer = answering(() => said);
    for (const route of routes) {
      await inParallel(modelsFor(said).filter((model, index) => model !== 'plain' && index % 3 === 0), async (model) => {
        const guard = { output_guardrails: [{ deny: true, 'default.pii': { categories } }] };
        const response = await fetch(gateway.url + paths[route.dialect], { method: 'POST', headers: headersOf(route, guard), body: JSON.stringify(bodyOf(route.dialect, model, 'x', true)) });
        const raw = await response.text();
        for (const trace of traces) assert.ok(!raw.includes(trace), `${route.name} ${model}: ${trace} is in ${raw}`);
        assert.match(raw, /guardrail checks defined in the config failed/);
        assert.doesNotMatch(raw, /\[DONE\]|message_stop|response\.completed/);
      });
    }
  });
});

describe('personal data that is put back', () => {
  const config = { input_guardrails: [{ 'default.pii': { redact: true, restore: true, categories } }], output_guardrails: [{ 'default.pii': { restore: true } }] };
  const question = 'Ask ada@analytical.org or bob@analytical.org about card 4111 1111 1111 1111';

  for (const route of routes) {
    it(`never reaches the provider, and comes back wherever its placeholder is cut: ${route.name}`, async () => {
      let length = 0;
      upstream.answer = answering((asked) => { length = asked.length + 12; return `Re: ${asked}, done.`; });
      const before = upstream.received.length;
      const plain = await ask(route, config, 'plain', question);
      assert.equal(plain.text, `Re: ${question}, done.`);
      await inParallel(modelsFor('x'.repeat(length)), async (model) => {
        const read = await ask(route, config, model, question);
        assert.equal(read.text, `Re: ${question}, done.`, `${model}: ${read.raw}`);
        assert.deepEqual(read.faults, [], model);
      });
      for (const { body } of upstream.received.slice(before)) assert.doesNotMatch(body.toString(), /analytical|4111/);
    });
  }

  for (const cache of [{ mode: 'simple' }, { mode: 'simple', share_in_flight: true }]) {
    for (const model of ['plain', 'cut-3']) {
      it(`is each caller's own where answers are ${'share_in_flight' in cache ? 'shared' : 'cached'}: ${model}`, async () => {
        upstream.answer = answering((asked) => `Re: ${asked}`);
        // The placeholders make these the same question at the provider.
        const asking = async (who: string): Promise<string> => (await ask(routes[0]!, { ...config, cache }, model, `Mail of ${who}@analytical.org ${JSON.stringify(cache)}`)).text;
        const callers = ['ada', 'bob', 'eve', 'kim'];
        const texts = await Promise.all(callers.map((who) => asking(who)));
        assert.deepEqual(texts.map((text) => /(\w+)@/.exec(text)?.[1]), callers);
        // What is stored after an answer is stored a moment later.
        for (let turn = 0; turn < 20; turn += 1) assert.match(await asking('joe'), /joe@/, 'joe got the data of another');
      });
    }
  }
});

describe('what the check costs an event', () => {
  it('is printed', async (t) => {
    const words = Array.from({ length: 300 }, (_, index) => (index % 10 === 9 ? `at 10:${index % 60} on day ${index}, ` : ['plain ', 'words ', 'pass ', 'by ', 'here '][index % 5] ?? ''));
    const guard = { output_guardrails: [{ 'default.pii': { redact: true } }] };
    await paced(words, guard);
    const bare = await paced(words, {});
    const guarded = await paced(words, guard);
    const median = (times: readonly number[]): number => [...times].sort((left, right) => left - right)[Math.floor(times.length / 2)] ?? 0;
    t.diagnostic(`write to read of an event, median of ${words.length}: ${(median(bare.times) * 1000).toFixed(0)} us without, ${(median(guarded.times) * 1000).toFixed(0)} us with the check, `
      + `added ${((median(guarded.times) - median(bare.times)) * 1000).toFixed(0)} us; some text held back for the next event: ${bare.held} and ${guarded.held} times`);
    assert.equal(bare.held, 0);
    assert.equal(guarded.text, words.join(''));
    assert.ok(guarded.held < words.length / 4, `${guarded.held} events were held back`);
  });

  /** One event at a time: written, awaited, next. An event of no text follows each, which nothing may hold back. */
  async function paced(words: readonly string[], config: object): Promise<{ times: number[]; held: number; text: string }> {
    const [role = '', ...rest] = chatChunks(words);
    let response: ServerResponse | undefined;
    upstream.answer = (_, opened) => {
      response = opened;
      opened.writeHead(200, { 'content-type': 'text/event-stream' });
      opened.write(`${role}\n\n`);
    };
    const client = await fetch(gateway.url + paths.chat, { method: 'POST', headers: headersOf(routes[0]!, config), body: JSON.stringify(bodyOf('chat', 'm', 'x', true)) });
    const body = client.body!.getReader();
    let seen = '';
    const until = async (mark: string): Promise<void> => {
      while (!seen.includes(mark)) {
        const { done, value } = await body.read();
        assert.ok(!done, 'the stream ended early');
        seen += Buffer.from(value).toString();
      }
    };
    const take = (): string => {
      const text = [...seen.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)].map((match) => JSON.parse(match[1] ?? '')).join('');
      seen = '';
      return text;
    };
    await until('assistant');
    let text = take();
    let sent = '';
    let held = 0;
    const times: number[] = [];
    for (const [index, word] of words.entries()) {
      const tick = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[],"tick":${index}}\n\n`;
      const from = performance.now();
      response!.write(`${rest[index]}\n\n${tick}`);
      await until(`"tick":${index}}`);
      times.push(performance.now() - from);
      text += take();
      sent += word;
      if (text !== sent) held += 1;
    }
    response!.end(`${rest.slice(words.length).join('\n\n')}\n\n`);
    await until('[DONE]');
    text += take();
    await body.cancel();
    return { times, held, text };
  }
});
