// Streams put together, and answers told as streams. A task is a whole stream; the time for each event is printed beside it.
import type { AnswerEvent, JsonObject } from '@gateway/plugin-sdk';
import { Bench } from 'tinybench';
import { assembler } from '../../core/dialect/common/assembler.js';
import { replay } from '../../core/dialect/common/replay.js';
import type { Dialect } from '../../core/dialect/dialect.js';
import { dialects } from '../../core/dialect/dialects.js';

const count = 500;
const envelope = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o', service_tier: 'default', system_fingerprint: 'fp_1' };
const chunkOf = (delta: JsonObject, finish: string | null, logprobs: JsonObject | null = null): JsonObject =>
  ({ ...envelope, choices: [{ index: 0, delta, logprobs, finish_reason: finish }], usage: null });
const named = (event: string, data: JsonObject): AnswerEvent => ({ event, data: { type: event, ...data } });
const words = Array.from({ length: count }, (_, index) => `word ${index} `);
const tokenOf = (token: string): JsonObject =>
  ({ token, logprob: -0.1, bytes: [1, 2, 3], top_logprobs: [{ token, logprob: -0.1, bytes: [1, 2, 3] }, { token: 'x', logprob: -3, bytes: [1] }] });
const callOf = (at: number, text: string): JsonObject =>
  (at === 0 ? { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } } : { index: 0, function: { arguments: text } });

const chat = (deltas: readonly JsonObject[], logprobs?: (at: number) => JsonObject): AnswerEvent[] => [
  chunkOf({ role: 'assistant', content: '', refusal: null }, null),
  ...deltas.map((delta, at) => chunkOf(delta, null, logprobs?.(at) ?? null)),
  chunkOf({}, 'stop'),
  { ...envelope, choices: [], usage: { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 } },
].map((data) => ({ event: undefined, data }));

const message = {
  id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 25, output_tokens: 1 },
};
const messages: AnswerEvent[] = [
  named('message_start', { message }),
  named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ...words.map((text) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
  named('content_block_stop', { index: 0 }),
  named('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 15 } }),
  named('message_stop', {}),
];
const response = {
  id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-4o', status: 'completed', error: null, incomplete_details: null,
  output: [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: words.join(''), annotations: [], logprobs: [] }] }],
};
const responses: AnswerEvent[] = [
  named('response.created', { response: { ...response, status: 'in_progress', output: [] }, sequence_number: 0 }),
  ...words.map((delta, at) => named('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta, logprobs: [], sequence_number: at })),
  named('response.output_item.done', { output_index: 0, item: response.output[0] ?? {}, sequence_number: count }),
  named('response.completed', { response, sequence_number: count + 1 }),
];

const asText = (events: readonly AnswerEvent[]): AnswerEvent[] => events.map(({ event, data }) => ({ event, data: JSON.stringify(data) }));

function assembled(dialect: Dialect, events: readonly AnswerEvent[]): JsonObject {
  const whole = assembler(dialect);
  for (const event of events) whole.push(event);
  const answer = whole.answer();
  if (answer === null) throw new Error(`the ${dialect.endpoint} stream gave no answer`);
  return answer;
}

const streams: readonly (readonly [string, Dialect, readonly AnswerEvent[]])[] = [
  ['chat, text', dialects.chat, chat(words.map((content) => ({ content })))],
  ['chat, text with content_blocks', dialects.chat, chat(words.map((content) => ({ content, content_blocks: [{ index: 0, delta: { text: content } }] })))],
  ['chat, tool arguments', dialects.chat, chat(words.map((word, at) => ({ tool_calls: [callOf(at, word)] })))],
  ['chat, text with logprobs', dialects.chat, chat(words.map((content) => ({ content })), (at) => ({ content: [tokenOf(words[at] ?? '')], refusal: null }))],
  ['messages, text', dialects.messages, messages],
  ['responses, text', dialects.responses, responses],
];

const bench = new Bench({ time: 250, warmupTime: 50 });
const sizes = new Map<string, number>();
const add = (name: string, size: number, task: () => void): void => {
  sizes.set(name, size);
  bench.add(name, task);
};
for (const [what, dialect, events] of streams) {
  const texts = asText(events);
  add(`${what}: JSON.parse alone`, texts.length, () => { for (const { data } of texts) if (typeof data === 'string') JSON.parse(data); });
  add(`${what}: assembled from JSON text`, texts.length, () => { assembled(dialect, texts); });
  add(`${what}: assembled from objects`, events.length, () => { assembled(dialect, events); });
  const answer = assembled(dialect, events);
  const told = [...replay(dialect, answer, { includesUsage: true })].length;
  add(`${what}: replayed`, told, () => { for (const event of replay(dialect, answer, { includesUsage: true })) if (event.data === '') throw new Error('empty'); });
}
await bench.run();
console.table(bench.tasks.map((task) => {
  const { result } = task;
  const mean = 'latency' in result ? result.latency.mean * 1000 : Number.NaN;
  const size = sizes.get(task.name) ?? 1;
  return { task: task.name, events: size, 'µs': mean.toFixed(1), 'µs per event': (mean / size).toFixed(3) };
}));
