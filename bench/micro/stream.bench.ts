// Work on streamed answers. Tasks that run for each chunk run 500 times in one iteration, so that the clock does not drown them.
import type { EventStage } from '@gateway/plugin-sdk';
import { Bench } from 'tinybench';
import { SseParser } from '../../core/stream/sse-parser.js';
import { StageChain } from '../../core/stream/stages.js';
import { UsageTap } from '../../core/stream/usage-tap.js';

const count = 500;
const sse = (event: unknown): Buffer => Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
const chunkOf = (content: string, finish: string | null): object =>
  ({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o', choices: [{ index: 0, delta: { content }, finish_reason: finish }], usage: null });
const usage = { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29, prompt_tokens_details: { cached_tokens: 7 }, completion_tokens_details: { reasoning_tokens: 4 } };
const chunks = Array.from({ length: count }, (_, index) => sse(chunkOf(`word ${index}`, null)));
const last = Buffer.concat([sse(chunkOf('', 'stop')), sse({ model: 'gpt-4o', choices: [], usage }), Buffer.from('data: [DONE]\n\n')]);
const answer = (length: number): Buffer =>
  Buffer.from(JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-4o', choices: [{ index: 0, message: { role: 'assistant', content: 'some "words" '.repeat(length / 15) }, finish_reason: 'stop' }], usage }));
const short = answer(1_000);
const long = answer(1_000_000);

const pass: EventStage = { push: (event, out) => out.write(event), end: (out) => out.end() };
const ignore = (): void => {};
const rethrow = (error: Error): void => { throw error; };

function tapped(pieces: readonly Uint8Array[], isEventStream: boolean): UsageTap {
  const tap = new UsageTap(isEventStream);
  for (const piece of pieces) tap.push(piece);
  return tap;
}

function staged(stages: readonly EventStage[], pieces: readonly Uint8Array[]): void {
  const chain = new StageChain(stages, ignore, rethrow);
  for (const piece of pieces) chain.push(piece);
  chain.end();
}

const ended = tapped([...chunks, last], true);
const brokenOff = tapped(chunks, true);
const reads = Array.from({ length: Math.ceil(long.length / 65_536) }, (_, index) => long.subarray(index * 65_536, (index + 1) * 65_536));
const fives = Array.from({ length: count / 5 }, (_, index) => Buffer.concat(chunks.slice(index * 5, index * 5 + 5)));

const bench = new Bench({ time: 250, warmupTime: 50 });
bench.add(`UsageTap, push of ${count} chunks`, () => { tapped(chunks, true); });
bench.add('UsageTap, read of a long stream', () => { ended.read(); });
bench.add('UsageTap, read of a long stream that broke off', () => { brokenOff.read(); });
bench.add(`UsageTap, whole ${short.length} byte answer`, () => { tapped([short], false).read(); });
bench.add(`UsageTap, whole ${long.length} byte answer`, () => { tapped(reads, false).read(); });
bench.add(`SseParser, ${count} chunks`, () => {
  const parser = new SseParser(ignore);
  for (const chunk of chunks) parser.push(chunk);
  parser.end();
});
bench.add(`StageChain, 1 stage, ${count} chunks`, () => { staged([pass], chunks); });
bench.add(`StageChain, 3 stages, ${count} chunks`, () => { staged([pass, pass, pass], chunks); });
bench.add(`StageChain, 1 stage, ${count} events in ${count / 5} chunks`, () => { staged([pass], fives); });
await bench.run();
console.table(bench.table());
