// Replayed answers, as bytes, through the stream helpers of the official clients: what they end with is what was stored. No network.

import Anthropic from '@anthropic-ai/sdk';
import type { JsonObject } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import OpenAI from 'openai';
import { replay } from '../../../../core/dialect/common/replay.js';
import { dialects, type DialectName } from '../../../../core/dialect/dialects.js';
import { writeEvent } from '../../../../core/stream/sse-writer.js';
import fc from '../../../support/fast-check.js';
import { chatAnswer, message, response } from './replay-answers.js';

const answering = (dialect: DialectName, answer: JsonObject) => (): Promise<Response> => {
  const bytes = [...replay(dialects[dialect], answer, { includesUsage: true })].map(writeEvent).join('');
  return Promise.resolve(new Response(bytes, { status: 200, headers: { 'content-type': 'text/event-stream' } }));
};
const openai = (dialect: DialectName, answer: JsonObject): OpenAI => new OpenAI({ apiKey: 'unused', baseURL: 'http://unused.invalid/v1', maxRetries: 0, fetch: answering(dialect, answer) });
const plain = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value));

async function chatOf(answer: JsonObject): Promise<JsonObject> {
  const client = openai('chat', answer);
  return plain(await client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'hello' }], stream_options: { include_usage: true } }).finalChatCompletion());
}

async function messageOf(answer: JsonObject): Promise<JsonObject> {
  const client = new Anthropic({ apiKey: 'unused', baseURL: 'http://unused.invalid', maxRetries: 0, fetch: answering('messages', answer) });
  return plain(await client.messages.stream({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hello' }] }).finalMessage());
}

async function responseOf(answer: JsonObject): Promise<JsonObject> {
  return plain(await openai('responses', answer).responses.stream({ model: 'm', input: 'hello' }).finalResponse());
}

/** What the client adds of its own to what it got. */
function withoutParsed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutParsed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'parsed' && name !== 'parsed_arguments' && name !== 'parsed_output' && name !== 'output_parsed').map(([name, entry]) => [name, withoutParsed(entry)]));
}

const runs = { numRuns: 30 } as const;

describe('the official clients end with what was stored', () => {
  test('OpenAI, chat completions', async () => {
    await fc.assert(fc.asyncProperty(chatAnswer({ isOfficial: true }), async (answer) => {
      assert.deepEqual(withoutParsed(await chatOf(answer)), answer);
    }), runs);
  });

  test('OpenAI, responses', async () => {
    await fc.assert(fc.asyncProperty(response({ isOfficial: false }), async (answer) => {
      const { output_text: text, ...final } = await responseOf(answer);
      assert.deepEqual(withoutParsed(final), withoutParsed(answer));
      assert.equal(typeof text, 'string');
    }), runs);
  });

  test('Anthropic, messages', async () => {
    await fc.assert(fc.asyncProperty(message({ isOfficial: true }), async (answer) => {
      assert.deepEqual(withoutParsed(await messageOf(answer)), answer);
    }), runs);
  });
});

describe('the official clients see the pieces', () => {
  test('of a chat text, at most 500 characters each', async () => {
    const content = '🙂'.repeat(777);
    const answer: JsonObject = {
      id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' }],
    };
    const pieces: string[] = [];
    for await (const chunk of await openai('chat', answer).chat.completions.create({ model: 'm', messages: [], stream: true })) pieces.push(chunk.choices[0]?.delta.content ?? '');
    assert.deepEqual(pieces.map(({ length }) => length), [0, 500, 500, 500, 54, 0]);
    assert.equal(pieces.join(''), content);
    assert.ok(pieces.every((piece) => Buffer.from(piece).toString() === piece));
  });

  test('of the input of a tool, so that they can show it while it comes', async () => {
    const input = { city: 'Wien'.repeat(200) };
    const answer: JsonObject = {
      id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input }], stop_reason: 'tool_use', stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    const client = new Anthropic({ apiKey: 'unused', baseURL: 'http://unused.invalid', maxRetries: 0, fetch: answering('messages', answer) });
    const told: string[] = [];
    const stream = client.messages.stream({ model: 'm', max_tokens: 10, messages: [] }).on('inputJson', (piece) => { told.push(piece); });
    assert.deepEqual(plain(await stream.finalMessage()).content, answer.content);
    assert.equal(told.join(''), JSON.stringify(input));
  });

  test('of reasoning and arguments of a response', async () => {
    const answer: JsonObject = {
      id: 'resp_1', object: 'response', created_at: 1, status: 'completed', error: null, incomplete_details: null, model: 'm', tools: [], metadata: {}, output: [
        { id: 'rs_1', type: 'reasoning', status: 'completed', summary: [{ type: 'summary_text', text: 'thought' }], content: [{ type: 'reasoning_text', text: 'deep' }], encrypted_content: 'x' },
        { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'call_1', name: 'f', arguments: '{"a":1}' },
        { id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_2', name: 'g', input: 'free text' },
      ],
    };
    const seen: string[] = [];
    for await (const event of await openai('responses', answer).responses.create({ model: 'm', input: 'hello', stream: true })) if ('delta' in event) seen.push(`${event.type} ${event.delta}`);
    assert.deepEqual(seen, [
      'response.reasoning_summary_text.delta thought', 'response.reasoning_text.delta deep', 'response.function_call_arguments.delta {"a":1}', 'response.custom_tool_call_input.delta free text',
    ]);
  });
});
