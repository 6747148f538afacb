// The official clients through gateways with hooks of every kind: what the hooks add must not trouble them, and what the hooks deny must
// come out of them as an error, never as a short answer.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { sendJson, startUpstream, type Answer } from '../support/upstream.js';

const upstream = await startUpstream();
const judge = await startUpstream((_, response) => sendJson(response, 200, { verdict: true }));
const gateway = await startTestGateway();

const said = 'The answer is forty-two, says the secret book, pin 1234.';
const redacted = said.replace('1234', '[PIN]');
const args = { city: 'Zürich', note: 'a "secret" \\ place', list: [1, 2, { deep: true }] };
const tool = { name: 'lookup', description: 'Looks up', schema: { type: 'object', properties: { city: { type: 'string' } } } } as const;

// ---- the provider: tells the same in each dialect, plain and streamed ----

const cut = (text: string): string[] => text.match(/[^]{1,7}/gu) ?? [];
const frames = (events: readonly Readonly<Record<string, unknown>>[]): string => events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('');

const provider: Answer = (received, response) => {
  const body: any = received.json();
  const usesTool = body.tools !== undefined;
  const send = (plain: object, stream: string): void => {
    if (body.stream !== true) return sendJson(response, 200, plain);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // In pieces that do not know of events.
    for (const piece of stream.match(/[^]{1,333}/g) ?? []) response.write(piece);
    response.end();
  };
  if (received.url.includes('/messages')) send(...asMessages(usesTool));
  else if (received.url.includes('/responses')) send(...asResponses(usesTool));
  else send(...asChat(usesTool, body.n ?? 1, body.stream_options?.include_usage === true));
};

function asChat(usesTool: boolean, count: number, includesUsage: boolean): [object, string] {
  const indices = Array.from({ length: count }, (_, index) => index);
  const calls = [{ id: 'call_1', type: 'function', function: { name: tool.name, arguments: JSON.stringify(args) } }];
  const usage = { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 };
  const finish = usesTool ? 'tool_calls' : 'stop';
  const head = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'gpt-test' };
  const plain = {
    ...head, object: 'chat.completion', usage,
    choices: indices.map((index) => ({ index, message: { role: 'assistant', content: said, refusal: null, ...(usesTool ? { tool_calls: calls } : {}) }, finish_reason: finish, logprobs: null })),
  };
  const chunk = (choices: object[], more: object = {}): string => `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
  const each = (delta: object, reason: string | null = null): string => indices.map((index) => chunk([{ index, delta, finish_reason: reason, logprobs: null }])).join('');
  const texts = cut(said).map((content) => each({ content })).join('');
  const tools = usesTool
    ? each({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: tool.name, arguments: '' } }] }) + cut(JSON.stringify(args)).map((piece) => each({ tool_calls: [{ index: 0, function: { arguments: piece } }] })).join('')
    : '';
  return [plain, each({ role: 'assistant', content: '' }) + texts + tools + each({}, finish) + (includesUsage ? chunk([], { usage }) : '') + 'data: [DONE]\n\n'];
}

function asMessages(usesTool: boolean): [object, string] {
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-test' };
  const reason = usesTool ? 'tool_use' : 'end_turn';
  const content = [{ type: 'text', text: said }, ...(usesTool ? [{ type: 'tool_use', id: 'toolu_1', name: tool.name, input: args }] : [])];
  const delta = (index: number, given: object): Readonly<Record<string, unknown>> => ({ type: 'content_block_delta', index, delta: given });
  return [{ ...head, content, stop_reason: reason, stop_sequence: null, usage: { input_tokens: 9, output_tokens: 7 } }, frames([
    { type: 'message_start', message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 9, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, { type: 'ping' },
    ...cut(said).map((text) => delta(0, { type: 'text_delta', text })), { type: 'content_block_stop', index: 0 },
    ...(usesTool ? [
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'toolu_1', name: tool.name, input: {} } },
      ...cut(JSON.stringify(args)).map((piece) => delta(1, { type: 'input_json_delta', partial_json: piece })), { type: 'content_block_stop', index: 1 },
    ] : []),
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 7 } }, { type: 'message_stop' },
  ])];
}

function asResponses(usesTool: boolean): [object, string] {
  const part = (text: string): object => ({ type: 'output_text', text, annotations: [], logprobs: [] });
  const message = (status: string, content: object[]): object => ({ type: 'message', id: 'msg_1', role: 'assistant', status, content });
  const call = (status: string, given: string): object => ({ type: 'function_call', id: 'fc_1', call_id: 'call_1', name: tool.name, arguments: given, status });
  const json = JSON.stringify(args);
  const output = [message('completed', [part(said)]), ...(usesTool ? [call('completed', json)] : [])];
  const response = (status: string, items: object[], usage: object | null): object => ({
    id: 'resp_1', object: 'response', created_at: 1_700_000_000, status, error: null, model: 'gpt-test', output: items, usage, parallel_tool_calls: true, tool_choice: 'auto', tools: [], instructions: null,
    metadata: {}, temperature: 1, top_p: 1, max_output_tokens: null, previous_response_id: null, text: { format: { type: 'text' } }, truncation: 'disabled', incomplete_details: null,
  });
  const whole = response('completed', output, { input_tokens: 9, input_tokens_details: { cached_tokens: 0 }, output_tokens: 7, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 16 });
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const events = [
    { type: 'response.created', response: response('in_progress', [], null) }, { type: 'response.in_progress', response: response('in_progress', [], null) },
    { type: 'response.output_item.added', output_index: 0, item: message('in_progress', []) }, { type: 'response.content_part.added', ...at, part: part('') },
    ...cut(said).map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...at, text: said, logprobs: [] }, { type: 'response.content_part.done', ...at, part: part(said) },
    { type: 'response.output_item.done', output_index: 0, item: output[0] },
    ...(usesTool ? [
      { type: 'response.output_item.added', output_index: 1, item: call('in_progress', '') },
      ...cut(json).map((delta) => ({ type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta })),
      { type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 1, name: tool.name, arguments: json }, { type: 'response.output_item.done', output_index: 1, item: output[1] },
    ] : []),
    { type: 'response.completed', response: whole },
  ];
  return [whole, frames(events.map((event, index) => ({ ...event, sequence_number: index })))];
}

upstream.answer = provider;

// ---- the clients ----

type Hooks = Readonly<Record<string, unknown>>;
const configOf = (provider: string, hooks: Hooks): Record<string, string> =>
  ({ 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ provider, api_key: 'sk', custom_host: `${upstream.url}/v1`, ...hooks }) });
const openai = (provider: string, hooks: Hooks): OpenAI => new OpenAI({ apiKey: 'unused', baseURL: `${gateway.url}/v1`, maxRetries: 0, defaultHeaders: configOf(provider, hooks) });
const anthropic = (provider: string, hooks: Hooks): Anthropic => new Anthropic({ apiKey: 'unused', baseURL: gateway.url, maxRetries: 0, defaultHeaders: configOf(provider, hooks) });

const question = [{ role: 'user' as const, content: 'What is the answer?' }];
const chatTools = [{ type: 'function' as const, function: { name: tool.name, description: tool.description, parameters: tool.schema } }];
const messagesTools = [{ name: tool.name, description: tool.description, input_schema: tool.schema }] as any;
const responsesTools = [{ type: 'function' as const, name: tool.name, description: tool.description, parameters: tool.schema, strict: false }];

/** What is left of an answer when the dialects are forgotten. */
interface Told { readonly text: string; readonly args: unknown; readonly reason: string | null | undefined; readonly tokens: number | undefined; readonly model: string; readonly id: string }

interface Way {
  readonly name: string;
  readonly isStream: boolean;
  readonly providers: readonly string[];
  readonly ask: (provider: string, hooks: Hooks, usesTool: boolean) => Promise<Told>;
}

const fromChat = (completion: OpenAI.ChatCompletion): Told => {
  const [choice] = completion.choices;
  const [call] = choice?.message.tool_calls ?? [];
  return {
    text: choice?.message.content ?? '', reason: choice?.finish_reason, tokens: completion.usage?.completion_tokens, model: completion.model, id: completion.id,
    args: call?.type === 'function' ? JSON.parse(call.function.arguments) : undefined,
  };
};
const fromMessage = (message: Anthropic.Message): Told => ({
  text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''), reason: message.stop_reason, tokens: message.usage.output_tokens, model: message.model, id: message.id,
  args: message.content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : []))[0],
});
const fromResponse = (response: OpenAI.Responses.Response): Told => ({
  text: response.output.flatMap((item) => (item.type === 'message' ? item.content.map((part) => (part.type === 'output_text' ? part.text : '')) : [])).join(''), reason: response.status,
  tokens: response.usage?.output_tokens, model: response.model, id: response.id,
  args: response.output.flatMap((item) => (item.type === 'function_call' ? [JSON.parse(item.arguments)] : []))[0],
});

const chatBody = (usesTool: boolean): { model: string; messages: typeof question; tools?: typeof chatTools } => ({ model: 'm', messages: question, ...(usesTool ? { tools: chatTools } : {}) });
const messagesBody = (usesTool: boolean): any => ({ model: 'm', max_tokens: 100, messages: question, ...(usesTool ? { tools: messagesTools } : {}) });
const responsesBody = (usesTool: boolean): any => ({ model: 'm', input: 'What is the answer?', ...(usesTool ? { tools: responsesTools } : {}) });

const chatProviders = ['openai', 'ovhcloud', 'anthropic'];
const messagesProviders = ['anthropic', 'ovhcloud'];
const responsesProviders = ['openai', 'ovhcloud'];

const ways: readonly Way[] = [
  { name: 'chat', isStream: false, providers: chatProviders, ask: async (provider, hooks, usesTool) => fromChat(await openai(provider, hooks).chat.completions.create(chatBody(usesTool))) },
  {
    name: 'chat, streamed', isStream: true, providers: chatProviders,
    ask: async (provider, hooks, usesTool) => {
      const stream = openai(provider, hooks).chat.completions.stream({ ...chatBody(usesTool), stream_options: { include_usage: true } });
      return fromChat(await stream.finalChatCompletion() as OpenAI.ChatCompletion);
    },
  },
  {
    name: 'chat, chunk by chunk', isStream: true, providers: chatProviders,
    ask: async (provider, hooks, usesTool) => {
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      for await (const chunk of await openai(provider, hooks).chat.completions.create({ ...chatBody(usesTool), stream: true, stream_options: { include_usage: true } })) chunks.push(chunk);
      const choices = chunks.flatMap((chunk) => chunk.choices);
      const json = choices.map(({ delta }) => delta.tool_calls?.[0]?.function?.arguments ?? '').join('');
      return {
        text: choices.map(({ delta }) => delta.content ?? '').join(''), args: json === '' ? undefined : JSON.parse(json), reason: choices.findLast(({ finish_reason: reason }) => reason !== null)?.finish_reason,
        tokens: chunks.find(({ usage }) => usage != null)?.usage?.completion_tokens, model: chunks.at(-1)?.model ?? '', id: chunks.at(-1)?.id ?? '',
      };
    },
  },
  { name: 'messages', isStream: false, providers: messagesProviders, ask: async (provider, hooks, usesTool) => fromMessage(await anthropic(provider, hooks).messages.create(messagesBody(usesTool))) },
  { name: 'messages, streamed', isStream: true, providers: messagesProviders, ask: async (provider, hooks, usesTool) => fromMessage(await anthropic(provider, hooks).messages.stream(messagesBody(usesTool)).finalMessage()) },
  { name: 'responses', isStream: false, providers: responsesProviders, ask: async (provider, hooks, usesTool) => fromResponse(await openai(provider, hooks).responses.create(responsesBody(usesTool))) },
  { name: 'responses, streamed', isStream: true, providers: responsesProviders, ask: async (provider, hooks, usesTool) => fromResponse(await openai(provider, hooks).responses.stream(responsesBody(usesTool)).finalResponse() as OpenAI.Responses.Response) },
];

const match = (rule: string, isForbidden: boolean, more: object = {}): object => ({ 'default.regexMatch': { rule, not: isForbidden }, ...more });
const pin = { 'default.regexReplace': { rule: '[0-9]{4}', redactText: '[PIN]', lookBack: 16 } };

/** Hooks that let the answer pass, and what becomes of it. */
const passing: Readonly<Record<string, readonly [hooks: Hooks, text: string]>> = {
  'a check on the input': [{ input_guardrails: [match('zzz', true, { deny: true })] }, said],
  'a soft failure on the input': [{ input_guardrails: [match('answer', true)] }, said],
  'a change of the input': [{ input_mutators: [{ 'default.regexReplace': { rule: 'What', redactText: 'Which' } }] }, said],
  'a look-back check': [{ output_guardrails: [match('zzz', true, { deny: true })] }, said],
  'a soft failure on the output': [{ output_guardrails: [match('secret', true)] }, said],
  'a check that holds': [{ output_guardrails: [match('secret', false, { deny: true })] }, said],
  'a soft failure of a check that holds': [{ output_guardrails: [match('secret', false, { deny: true }), match('nowhere', false)] }, said],
  'a service that holds': [{ output_guardrails: [{ 'default.webhook': { webhookURL: `${judge.url}/judge` } }] }, said],
  'a change of the output': [{ output_mutators: [pin] }, redacted],
  'a change of the output, held': [{ output_mutators: [pin], output_guardrails: [match('secret', false, { deny: true })] }, redacted],
  'a change on both sides': [{ input_mutators: [pin], output_mutators: [pin, { 'default.pii': { redact: true, categories: ['EMAIL_ADDRESS'] } }] }, redacted],
  'async checks': [{ input_guardrails: [match('answer', true, { async: true, deny: true })], output_guardrails: [match('secret', true, { async: true, deny: true })] }, said],
  'a check nobody supplies': [{ input_guardrails: [{ 'acme.none': {} }], output_guardrails: [{ 'acme.none': {}, deny: true }] }, said],
};

describe('the official clients', () => {
  for (const way of ways) {
    for (const provider of way.providers) {
      it(`read the same answer with hooks as without: ${way.name}, from ${provider}`, async () => {
        for (const usesTool of [false, true]) {
          const bare = await way.ask(provider, {}, usesTool);
          assert.equal(bare.text, said);
          assert.deepEqual(bare.args, usesTool ? args : undefined);
          for (const [name, [hooks, text]] of Object.entries(passing)) {
            const told = await way.ask(provider, hooks, usesTool);
            const where = `${name}${usesTool ? ', with a tool' : ''}`;
            assert.equal(told.text, text, where);
            assert.deepEqual({ args: told.args, reason: told.reason, tokens: told.tokens }, { args: bare.args, reason: bare.reason, tokens: bare.tokens }, where);
          }
        }
      });
    }
  }

  for (const provider of chatProviders) {
    it(`know the answer by its id and its model, also when hooks add to the stream: ${provider}`, async () => {
      for (const way of ways.filter(({ name }) => name.startsWith('chat'))) {
        const bare = await way.ask(provider, {}, false);
        for (const [name, [hooks]] of Object.entries(passing)) {
          const told = await way.ask(provider, hooks, false);
          assert.equal(told.model, bare.model, `${way.name}, ${name}`);
          if (provider === 'openai') assert.equal(told.id, bare.id, `${way.name}, ${name}`);
        }
      }
    });
  }

  it('read several choices, each as it is', async () => {
    for (const [name, [hooks, text]] of Object.entries(passing)) {
      const client = openai('openai', hooks);
      const plain = await client.chat.completions.create({ model: 'm', messages: question, n: 2 });
      assert.deepEqual(plain.choices.map(({ message }) => message.content), [text, text], name);
      const streamed = await client.chat.completions.stream({ model: 'm', messages: question, n: 2, stream_options: { include_usage: true } }).finalChatCompletion();
      assert.deepEqual(streamed.choices.map(({ message }) => message.content), [text, text], name);
      assert.equal(streamed.usage?.total_tokens, 16, name);
    }
  });

  it('read usage when they asked for it, and no more of it than without hooks', async () => {
    const count = async (provider: string, hooks: Hooks, asks: boolean): Promise<number> => {
      let usages = 0;
      const stream = await openai(provider, hooks).chat.completions.create({ model: 'm', messages: question, stream: true, ...(asks ? { stream_options: { include_usage: true } } : {}) });
      for await (const chunk of stream) if (chunk.usage != null) usages += 1;
      return usages;
    };
    for (const provider of chatProviders) {
      const bare = await count(provider, {}, false);
      for (const [name, [hooks]] of Object.entries(passing)) {
        assert.equal(await count(provider, hooks, true), 1, `${name}, from ${provider}`);
        assert.ok(await count(provider, hooks, false) <= bare, `${name}, from ${provider}`);
      }
    }
  });

  it('see 246 as a success, and can tell it', async () => {
    const hooks = { input_guardrails: [match('answer', true)] };
    const chat = await openai('openai', hooks).chat.completions.create({ model: 'm', messages: question }).withResponse();
    assert.deepEqual([chat.response.status, chat.data.choices[0]?.message.content, (chat.data as any).hook_results.before_request_hooks[0].verdict], [246, said, false]);
    const message = await anthropic('anthropic', hooks).messages.create(messagesBody(false)).withResponse();
    assert.deepEqual([message.response.status, (message.data as any).hook_results.before_request_hooks[0].verdict], [246, false]);
    const streamed = await openai('openai', hooks).chat.completions.create({ model: 'm', messages: question, stream: true }).withResponse();
    assert.equal(streamed.response.status, 246);
  });

  it('read embeddings with results beside them', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, { object: 'list', model: 'e', data: [{ object: 'embedding', index: 0, embedding: [0.5, -1] }], usage: { prompt_tokens: 1, total_tokens: 1 } });
    try {
      const { data, response } = await openai('openai', { input_guardrails: [match('x', true)] }).embeddings.create({ model: 'e', input: 'x', encoding_format: 'float' }).withResponse();
      assert.deepEqual([response.status, data.data[0]?.embedding], [246, [0.5, -1]]);
    } finally {
      upstream.answer = provider;
    }
  });
});

const message = /guardrail checks defined in the config failed/;

/** Hooks that deny; `late` is what a stream has told before. */
const denying: Readonly<Record<string, readonly [hooks: Hooks, isLate: boolean]>> = {
  'on the input': [{ input_guardrails: [match('answer', true, { deny: true })] }, false],
  'in the midst of the output': [{ output_guardrails: [match('secret', true, { deny: true })] }, true],
  'at the end of the output, held': [{ output_guardrails: [match('nowhere', false, { deny: true })] }, false],
  'by a count at the end of the output': [{ output_guardrails: [{ 'default.wordCount': { minWords: 1000, maxWords: 2000 }, deny: true }] }, true],
};

describe('what is denied', () => {
  for (const way of ways) {
    for (const provider of way.providers) {
      it(`is an error in the client: ${way.name}, from ${provider}`, async () => {
        for (const [name, [hooks, isLate]] of Object.entries(denying)) {
          for (const usesTool of [false, true]) {
            const thrown: any = await way.ask(provider, hooks, usesTool).then((told) => assert.fail(`${name}: told ${JSON.stringify(told)}`), (error: unknown) => error);
            assert.match(String(thrown.message), message, name);
            if (isLate && way.isStream) continue;
            assert.ok(thrown instanceof OpenAI.APIError || thrown instanceof Anthropic.APIError, `${name}: ${thrown}`);
            assert.equal(thrown.status, 446, name);
          }
        }
      });
    }
  }

  it('is told with its results, and not with a word of the answer', async () => {
    for (const provider of chatProviders) {
      const thrown: any = await openai(provider, { output_guardrails: [match('secret', true, { deny: true })] }).chat.completions.create({ model: 'm', messages: question }).catch((error: unknown) => error);
      assert.deepEqual([thrown.status, thrown.type, thrown.code], [446, 'hooks_failed', 'hooks_failed']);
      assert.doesNotMatch(JSON.stringify(thrown.error), /forty-two|1234/);
    }
  });

  it('is not tried again by clients that try again', async () => {
    const before = upstream.received.length;
    const client = new OpenAI({ apiKey: 'unused', baseURL: `${gateway.url}/v1`, maxRetries: 3, defaultHeaders: configOf('openai', { output_guardrails: [match('secret', true, { deny: true })] }) });
    await assert.rejects(client.chat.completions.create({ model: 'm', messages: question }), message);
    assert.equal(upstream.received.length - before, 1);
  });

  it('gives a client that streams only what passed', async () => {
    let text = '';
    const stream = await openai('openai', { output_guardrails: [match('secret', true, { deny: true })] }).chat.completions.create({ model: 'm', messages: question, stream: true });
    await assert.rejects(async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    }, message);
    assert.ok(said.startsWith(text));
    assert.doesNotMatch(text, /secret/);
  });
});
