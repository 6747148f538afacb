import type { EventSink, EventStage, SseEvent } from '@gateway/plugin-sdk';
import { everySplit, randomSplits } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { eventCharactersMax } from '../../../core/stream/sse-parser.js';
import { StageChain } from '../../../core/stream/stages.js';

/** A chain whose outcome is recorded: each write, then maybe the error. */
function record(stages: readonly EventStage[]): { readonly chain: StageChain; readonly writes: string[]; readonly errors: Error[] } {
  const writes: string[] = [];
  const errors: Error[] = [];
  const chain = new StageChain(stages, (bytes) => writes.push(Buffer.from(bytes).toString()), (error) => errors.push(error));
  return { chain, writes, errors };
}

const stage = (push: (event: SseEvent, out: EventSink) => void, end: (out: EventSink) => void = () => {}): EventStage => ({ push, end });
const pass = (): EventStage => stage((event, out) => out.write(event));
const suffix = (text: string): EventStage => stage((event, out) => out.write({ event: event.event, data: event.data + text }));
const bytes = (text: string): Buffer => Buffer.from(text);

test('events go through the stages in order, one write for each chunk', () => {
  const { chain, writes, errors } = record([suffix('1'), suffix('2')]);
  chain.push(bytes('data: a\n\nevent: x\ndata: b\n\ndata: c'));
  chain.push(bytes('d'));
  chain.push(bytes('\n\n'));
  chain.end();
  assert.deepEqual(writes, ['data: a12\n\nevent: x\ndata: b12\n\n', 'data: cd12\n\n']);
  assert.deepEqual(errors, []);
});

test('without stages the stream is written anew', () => {
  const { chain, writes } = record([]);
  chain.push(bytes(': ping\r\ndata: a\r\n\r\ndata: b'));
  chain.end();
  assert.deepEqual(writes, ['data: a\n\n', 'data: b\n\n']);
});

test('the output is the same however the stream is cut', () => {
  const input = bytes('event: a\r\ndata: é😀\r\n\r\ndata: {"x":\r\ndata: 1}\r\n\r\ndata: [DONE]');
  const double = (): EventStage => stage((event, out) => { out.write(event); out.write(event); });
  const run = (pieces: Iterable<Uint8Array>): string => {
    const { chain, writes } = record([pass(), double(), suffix('!')]);
    for (const piece of pieces) chain.push(piece);
    chain.end();
    return writes.join('');
  };
  const expected = run([input]);
  assert.equal(expected.match(/!/g)?.length, 6);
  for (const pieces of everySplit(input)) assert.equal(run(pieces), expected);
  for (const pieces of randomSplits(input, { seed: 3, count: 60, pieceMax: 9 })) assert.equal(run(pieces), expected);
});

test('a stage may keep events and write them later or at the end, and later stages see them before their own end', () => {
  const seen: string[] = [];
  const kept: SseEvent[] = [];
  const keep = stage((event) => { kept.push(event); }, (out) => { for (const event of kept) out.write(event); out.end(); });
  const watch = stage((event, out) => { seen.push(event.data); out.write(event); }, (out) => { seen.push('end'); out.write({ event: 'done', data: '' }); });
  const { chain, writes } = record([keep, watch]);
  chain.push(bytes('data: a\n\ndata: b\n\n'));
  assert.deepEqual(writes, []);
  chain.end();
  assert.deepEqual(seen, ['a', 'b', 'end']);
  assert.deepEqual(writes, ['data: a\n\ndata: b\n\nevent: done\ndata: \n\n']);
});

test('every stage is ended once, though none passes the end on', () => {
  let ends = 0;
  const count = (): EventStage => stage((event, out) => out.write(event), () => { ends += 1; });
  const { chain } = record([count(), count(), count()]);
  chain.push(bytes('data: a\n\n'));
  chain.end();
  chain.end();
  assert.equal(ends, 3);
});

test('a stage that ends the stream early silences what comes before it', () => {
  const stop = stage((event, out) => { if (event.data === '[DONE]') out.end(); else out.write(event); });
  const tail = stage((event, out) => out.write(event), (out) => out.write({ event: undefined, data: 'tail' }));
  const { chain, writes, errors } = record([stop, tail]);
  chain.push(bytes('data: a\n\ndata: [DONE]\n\ndata: late\n\n'));
  chain.push(bytes('data: later\n\n'));
  chain.end();
  assert.deepEqual(writes, ['data: a\n\ndata: tail\n\n']);
  assert.deepEqual(errors, []);
});

test('an event that a stage writes on its own time goes out at once, after the end not at all', () => {
  let later: EventSink | undefined;
  const { chain, writes } = record([stage((_event, out) => { later = out; }), suffix('!')]);
  chain.push(bytes('data: a\n\n'));
  later?.write({ event: undefined, data: 'b' });
  assert.deepEqual(writes, ['data: b!\n\n']);
  chain.end();
  later?.write({ event: undefined, data: 'c' });
  assert.equal(writes.length, 1);
});

test('a stage that throws ends the stream through fail, once, after what came out before', () => {
  const breaks = stage((event, out) => { if (event.data === 'x') throw new Error('broken'); out.write(event); });
  const { chain, writes, errors } = record([pass(), breaks, pass()]);
  chain.push(bytes('data: a\n\ndata: x\n\ndata: b\n\ndata: x\n\n'));
  chain.push(bytes('data: x\n\n'));
  chain.end();
  assert.deepEqual(writes, ['data: a\n\n']);
  assert.deepEqual(errors.map(({ message }) => message), ['broken']);
});

test('a throw in end, a throw of no error, and a fail by a stage end it the same way', () => {
  const throwing = record([stage(() => {}, () => { throw new Error('at the end'); })]);
  throwing.chain.end();
  assert.deepEqual(throwing.errors.map(({ message }) => message), ['at the end']);

  const odd = record([stage(() => { throw 'text'; })]);
  odd.chain.push(bytes('data: a\n\n'));
  assert.deepEqual(odd.errors.map(({ message }) => message), ['text']);

  const told = record([stage((event, out) => { out.write(event); out.fail(new Error('told')); out.write(event); }), pass()]);
  told.chain.push(bytes('data: a\n\ndata: b\n\n'));
  told.chain.end();
  assert.deepEqual(told.writes, ['data: a\n\n']);
  assert.deepEqual(told.errors.map(({ message }) => message), ['told']);
});

test('a fail on a stage\'s own time is passed on at once', () => {
  let later: EventSink | undefined;
  const { chain, errors } = record([stage((_event, out) => { later = out; })]);
  chain.push(bytes('data: a\n\n'));
  later?.fail(new Error('later'));
  later?.fail(new Error('again'));
  assert.deepEqual(errors.map(({ message }) => message), ['later']);
});

test('what write throws is not taken for a fault of a stage', () => {
  const errors: Error[] = [];
  const chain = new StageChain([pass()], () => { throw new Error('the pipeline'); }, (error) => errors.push(error));
  assert.throws(() => chain.push(bytes('data: a\n\n')), /the pipeline/);
  assert.deepEqual(errors, []);
});

test('an event beyond the limit ends the stream', () => {
  const { chain, writes, errors } = record([pass()]);
  chain.push(bytes('data: a\n\ndata: '));
  chain.push(Buffer.alloc(eventCharactersMax + 100_000, 'x'));
  chain.push(bytes('\n\n'));
  assert.deepEqual(writes, ['data: a\n\n']);
  const [error] = errors;
  assert.equal(errors.length, 1);
  assert.ok(isGatewayError(error) && error.code === 'UPSTREAM_INVALID');
});
