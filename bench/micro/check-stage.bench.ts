// What a check costs that reads a streamed answer: the same stream of 500 events of 4 words through a chain without it, with a check that
// finds nothing and keeps nothing, and with one that looks for a pattern and keeps what may begin it. Divide by 500 for one event.
import type { AnswerEvent, EventStage, StreamCheck } from '@gateway/plugin-sdk';
import { Bench } from 'tinybench';
import { dialects, type DialectName } from '../../core/dialect/dialects.js';
import { CheckStage } from '../../core/stream/check-stage.js';
import { writeEvent } from '../../core/stream/sse-writer.js';
import { StageChain } from '../../core/stream/stages.js';

const count = 500;
const words = (index: number): string => `some words ${index} more `;
const whole = Array.from({ length: count }, (_, index) => words(index)).join('');
const chunk = (choice: object): object => ({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o', system_fingerprint: 'fp_1', choices: [choice], usage: null });
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const part = { type: 'output_text', text: whole, annotations: [], logprobs: [] };
const item = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [part] };

const streams: Readonly<Record<DialectName, readonly object[]>> = {
  chat: [
    ...Array.from({ length: count }, (_, index) => chunk({ index: 0, delta: { content: words(index) }, logprobs: null, finish_reason: null })),
    chunk({ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }),
  ],
  completions: [
    ...Array.from({ length: count }, (_, index) => chunk({ index: 0, text: words(index), logprobs: null, finish_reason: null })),
    chunk({ index: 0, text: '', logprobs: null, finish_reason: 'stop' }),
  ],
  messages: [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...Array.from({ length: count }, (_, index) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words(index) } })),
    { type: 'content_block_stop', index: 0 },
  ],
  responses: [
    ...Array.from({ length: count }, (_, index) => ({ type: 'response.output_text.delta', ...place, delta: words(index), logprobs: [] })),
    { type: 'response.output_text.done', ...place, text: whole, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'resp_1', object: 'response', output: [item] } },
  ].map((event, index) => ({ ...event, sequence_number: index })),
};

const noCheck = (): StreamCheck => ({ push: ({ text }) => ({ release: text.length }), verdict: () => ({ pass: true }) });

const pattern = /\d{3}-\d{2}-\d{4}/g;
const beginning = /(?:\d{1,3}|\d{3}-\d{0,2}|\d{3}-\d{2}-\d{0,3})$/;
const redactor = (): StreamCheck => ({
  push: ({ text, isLast }) => {
    const edits = [];
    let end = 0;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      end = pattern.lastIndex;
      edits.push({ from: match.index, to: end, text: '[SSN]' });
    }
    const open = isLast ? -1 : text.search(beginning);
    return { release: open === -1 || open < end ? text.length : open, edits };
  },
  verdict: () => ({ pass: true }),
});
/** Keeps the last 11 characters of every text, so that no event stays as it was. */
const keeper = (): StreamCheck => ({ push: ({ text, isLast }) => ({ release: isLast ? text.length : Math.max(0, text.length - 11) }), verdict: () => ({ pass: true }) });

const pass: EventStage<AnswerEvent> = { push: (event, out) => out.write(event), end: () => {} };
const ignore = (): void => {};
const rethrow = (error: Error): void => { throw error; };
const bytesOf = (dialect: DialectName): Buffer[] => streams[dialect].map((data) => {
  const name = 'type' in data ? String(data.type) : undefined;
  return Buffer.from(writeEvent({ event: name, data: JSON.stringify(data) }));
});

function play(stages: readonly EventStage<AnswerEvent>[], pieces: readonly Uint8Array[]): void {
  const chain = new StageChain(stages, ignore, rethrow);
  for (const piece of pieces) chain.push(piece);
  chain.end();
}

const stageOf = (dialect: DialectName, check: StreamCheck): CheckStage => new CheckStage({ dialect: dialects[dialect], check, lookBackMax: 11, changes: true, onFail: () => false });

const bench = new Bench({ time: 250, warmupTime: 100 });
for (const dialect of Object.keys(streams) as DialectName[]) {
  const pieces = bytesOf(dialect);
  const parsing: EventStage<AnswerEvent> = { push: ({ event, data }, out) => { if (typeof data === 'string') JSON.parse(data); out.write({ event, data }); }, end: () => {} };
  bench.add(`${dialect}, ${count} events, no check`, () => { play([pass], pieces); });
  bench.add(`${dialect}, ${count} events, parsed only`, () => { play([parsing], pieces); });
  bench.add(`${dialect}, ${count} events, a check that does nothing`, () => { play([stageOf(dialect, noCheck())], pieces); });
  bench.add(`${dialect}, ${count} events, two checks that do nothing`, () => { play([stageOf(dialect, noCheck()), stageOf(dialect, noCheck())], pieces); });
  bench.add(`${dialect}, ${count} events, a redactor`, () => { play([stageOf(dialect, redactor())], pieces); });
  bench.add(`${dialect}, ${count} events, a check that keeps 11 characters`, () => { play([stageOf(dialect, keeper())], pieces); });
}
await bench.run();
console.table(bench.table());
