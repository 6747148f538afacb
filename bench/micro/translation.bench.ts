// Streams that change their dialect on the way: each task is one streamed answer of 500 text events. The first task parses and writes the
// same events without translating; what is above it is the cost of the translation. The table at the end says it per event.
import type { EndpointSpec, ProviderPlugin } from '@gateway/plugin-sdk';
import { encodeFrame, fakeCall } from '@gateway/plugin-sdk/testing';
import { Bench } from 'tinybench';
import { MessagesStage } from '../../core/dialect/messages/stream.js';
import { ResponsesStage } from '../../core/dialect/responses/stream.js';
import { StageChain } from '../../core/stream/stages.js';
import anthropic from '../../providers/anthropic/provider.js';
import bedrock from '../../providers/bedrock/provider.js';
import cohere from '../../providers/cohere/provider.js';
import google from '../../providers/google/provider.js';
import groq from '../../providers/groq/provider.js';
import ollama from '../../providers/ollama/provider.js';

const count = 500;
const words = Array.from({ length: count }, (_, index) => `word ${index} `);
const event = (data: object, name?: string): Buffer => Buffer.from(`${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);
const named = (data: { readonly type: string }): Buffer => event(data, data.type);
const chunk = (delta: object, finish: string | null): Buffer =>
  event({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] });
const frame = (type: string, payload: object): Buffer => encodeFrame({ headers: { ':message-type': 'event', ':event-type': type }, payload: JSON.parse(JSON.stringify(payload)) });

const upstreams: Readonly<Record<string, { readonly plugin: ProviderPlugin; readonly model: string; readonly chunks: readonly Buffer[] }>> = {
  openai: {
    plugin: groq, model: 'm',
    chunks: [
      chunk({ role: 'assistant', content: '' }, null), ...words.map((content) => chunk({ content }, null)), chunk({}, 'stop'),
      event({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 9, completion_tokens: count, total_tokens: 9 + count } }),
      Buffer.from('data: [DONE]\n\n'),
    ],
  },
  anthropic: {
    plugin: anthropic, model: 'claude-opus-4-5',
    chunks: [
      event({ type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 9, output_tokens: 1 } } }, 'message_start'),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, 'content_block_start'),
      ...words.map((text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, 'content_block_delta')),
      event({ type: 'content_block_stop', index: 0 }, 'content_block_stop'),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: count } }, 'message_delta'),
      named({ type: 'message_stop' }),
    ],
  },
  google: {
    plugin: google, model: 'gemini-2.5-flash',
    chunks: words.map((text, index) => event({
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...(index === count - 1 ? { finishReason: 'STOP' } : {}) }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: index + 1, totalTokenCount: index + 10 }, modelVersion: 'm', responseId: 'r',
    })),
  },
  bedrock: {
    plugin: bedrock, model: 'amazon.nova-pro-v1:0',
    chunks: [
      frame('messageStart', { role: 'assistant' }),
      ...words.map((text) => frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } })),
      frame('contentBlockStop', { contentBlockIndex: 0 }), frame('messageStop', { stopReason: 'end_turn' }),
      frame('metadata', { usage: { inputTokens: 9, outputTokens: count, totalTokens: 9 + count }, metrics: { latencyMs: 1 } }),
    ],
  },
  cohere: {
    plugin: cohere, model: 'command-a-03-2025',
    chunks: [
      event({ type: 'message-start', id: 'm', delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } } }, 'message-start'),
      event({ type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } }, 'content-start'),
      ...words.map((text) => event({ type: 'content-delta', index: 0, delta: { message: { content: { text } } } }, 'content-delta')),
      event({ type: 'content-end', index: 0 }, 'content-end'),
      event({ type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: { tokens: { input_tokens: 9, output_tokens: count } } } }, 'message-end'),
    ],
  },
  ollama: {
    plugin: ollama, model: 'm',
    chunks: [
      ...words.map((content) => Buffer.from(`${JSON.stringify({ model: 'm', created_at: '2026-01-01T00:00:00Z', message: { role: 'assistant', content }, done: false })}\n`)),
      Buffer.from(`${JSON.stringify({ model: 'm', created_at: '2026-01-01T00:00:00Z', message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 9, eval_count: count })}\n`),
    ],
  },
};

const fault = (error: Error): void => { throw error; };
let written = 0;
const write = (bytes: Uint8Array): void => { written += bytes.length; };

function run(name: string, dialect: 'chat' | 'messages' | 'responses' | 'none'): void {
  const upstream = upstreams[name];
  if (upstream === undefined) throw new Error(name);
  const call = fakeCall({ model: upstream.model, stream: true, messages: [] }, { isStrict: dialect === 'chat' });
  const entry = upstream.plugin.endpoints.chatCompletions;
  const chosen = typeof entry === 'function' ? entry(call) : entry;
  const spec: EndpointSpec = typeof chosen === 'string' ? { path: chosen } : chosen ?? { path: '' };
  const stages = spec.stream === undefined || dialect === 'none' ? [] : [spec.stream(call)];
  const translators = dialect === 'messages' ? [new MessagesStage({ id: 'exchange', model: 'm' })]
    : dialect === 'responses' ? [new ResponsesStage({ id: 'resp_1', createdAt: 1, model: 'm', request: {}, isStored: false })] : [];
  const chain = new StageChain([...stages, ...translators], write, fault, spec.framing?.decoder() ?? null);
  for (const bytes of upstream.chunks) chain.push(bytes);
  chain.end();
}

const bench = new Bench({ time: 300, warmupTime: 100 });
bench.add('openai, not translated', () => { run('openai', 'none'); });
for (const name of Object.keys(upstreams)) {
  for (const dialect of ['chat', 'messages', 'responses'] as const) if (name !== 'openai' || dialect !== 'chat') bench.add(`${name} to ${dialect}`, () => { run(name, dialect); });
}
await bench.run();
console.table(bench.tasks.map((task) => {
  const { result } = task;
  const us = result !== undefined && 'latency' in result ? (result.latency.p50 * 1000) / count : Number.NaN;
  return { 'stream of 500 events': task.name, 'us per event (p50)': Number(us.toFixed(2)) };
}));
if (written === 0) throw new Error('nothing was written');
