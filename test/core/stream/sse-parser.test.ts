import type { SseEvent } from '@gateway/plugin-sdk';
import { everySplit, randomSplits } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { eventCharactersMax, SseParser } from '../../../core/stream/sse-parser.js';
import { writeEvent } from '../../../core/stream/sse-writer.js';
import fc from '../../support/fast-check.js';

function eventsOf(pieces: Iterable<Uint8Array>): SseEvent[] {
  const events: SseEvent[] = [];
  const parser = new SseParser((event) => events.push(event));
  for (const piece of pieces) parser.push(piece);
  parser.end();
  return events;
}

const event = (data: string, name?: string): SseEvent => ({ event: name, data });

const cases: readonly (readonly [name: string, text: string, events: readonly SseEvent[]])[] = [
  ['line feeds', 'data: a\n\ndata: b\n\n', [event('a'), event('b')]],
  ['CRLF', 'event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n', [event('a', 'x'), event('b')]],
  ['CR', 'data: a\r\rdata: b\revent: y\r\r', [event('a'), event('b', 'y')]],
  ['mixed line ends', 'data: a\r\n\ndata: b\n\r\ndata: c\r\rdata: d\n\n', [event('a'), event('b'), event('c'), event('d')]],
  ['data of several lines', 'data: a\ndata:\ndata:  b\n\ndata:c\r\ndata: d\r\n\r\n', [event('a\n\n b'), event('c\nd')]],
  ['comments and unknown fields', ': ping\n\nid: 7\nretry: 10\nretry: x\nfoo: bar\nfoo\ndata: a\n: mid\n\n:\n\n', [event('a')]],
  ['a byte order mark', '\ufeffdata: a\n\ndata: \ufeffb\n\n\ufeffdata: no field\n\n', [event('a'), event('\ufeffb')]],
  ['a stream that begins with a mis-decoded mark', '\u00ef\u00bb\u00bfdata: a\n\ndata: b\n\n', [event('b')]],
  ['characters of two to four bytes', 'data: é日😀\n\nevent: ü\ndata: 😀\n\n', [event('é日😀'), event('😀', 'ü')]],
  ['a missing blank line', 'data: a\n\ndata: [DONE]\n', [event('a'), event('[DONE]')]],
  ['a missing last line end', 'data: a\n\nevent: e\ndata: [DONE]', [event('a'), event('[DONE]', 'e')]],
  ['a last CR', 'data: a\r\n\r\ndata: b\r', [event('a'), event('b')]],
  ['an event without data', 'event: x\n\ndata: a\n\n', [event('a')]],
  ['empty data', 'data:\n\ndata\n\n', [event(''), event('')]],
  ['nothing', '', []],
];

for (const [name, text, expected] of cases) {
  test(`events are the same however the bytes are cut: ${name}`, () => {
    const bytes = new TextEncoder().encode(text);
    for (const pieces of everySplit(bytes)) assert.deepEqual(eventsOf(pieces), expected);
    for (const pieces of randomSplits(bytes, { seed: 7, count: 50, pieceMax: 4 })) assert.deepEqual(eventsOf(pieces), expected);
  });
}

test('bytes that are not UTF-8 become replacement characters, the same however cut', () => {
  const bytes = Buffer.concat([Buffer.from('data: a'), Buffer.from([0xff, 0xe2, 0x82]), Buffer.from('b'), Buffer.from([0xf0, 0x9f, 0x98]), Buffer.from('\n\ndata: ok\n\ndata: '), Buffer.from([0xe2, 0x82])]);
  const expected = eventsOf([bytes]);
  assert.deepEqual(expected, [event('a\ufffd\ufffdb\ufffd'), event('ok'), event('\ufffd')]);
  for (const pieces of everySplit(bytes)) assert.deepEqual(eventsOf(pieces), expected);
});

test('an event comes out with the chunk that completes it', () => {
  const events: SseEvent[] = [];
  const parser = new SseParser((arrived) => events.push(arrived));
  parser.push(Buffer.from('data: a\r\n'));
  assert.equal(events.length, 0);
  parser.push(Buffer.from('\r\n'));
  assert.equal(events.length, 1);
  parser.push(Buffer.from('data: é\n\ndata: b\n\nda'));
  assert.equal(events.length, 3);
});

test('an event beyond the limit is refused, in one chunk or many, one below it is not', () => {
  const isTooLong = (error: unknown): boolean => isGatewayError(error) && error.code === 'UPSTREAM_INVALID' && /longer than/.test(error.message);
  const long = Buffer.alloc(eventCharactersMax, 'x');
  assert.deepEqual(eventsOf([Buffer.from('data: '), long, Buffer.from('\n\n')]).map(({ data }) => data.length), [eventCharactersMax]);
  assert.throws(() => eventsOf([Buffer.concat([Buffer.from('data: y'), long, Buffer.from('\n\n')])]), isTooLong);
  assert.throws(() => eventsOf([Buffer.from('data: y'), long, Buffer.from('\n\n')]), isTooLong);
  const endless = new SseParser(() => assert.fail('no event is complete'));
  assert.throws(() => { for (let index = 0; index < 200; index += 1) endless.push(Buffer.concat([Buffer.from('\ndata: '), long.subarray(0, 64 * 1024)])); }, isTooLong);
});

test('what is written is read back, line breaks as line feeds', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[a:\r\n ]{0,8}$/));
  fc.assert(fc.property(fc.array(fc.record({ event: fc.option(text.filter((name) => name !== ''), { nil: undefined }), data: text }), { maxLength: 5 }), (events) => {
    const written = events.map(writeEvent).join('');
    const isWhole = Buffer.from(written).toString() === written;
    if (!isWhole) return;
    assert.deepEqual(eventsOf([Buffer.from(written)]), events.map(({ event: name, data }) => event(data.replace(/\r\n|\r/g, '\n'), name?.replace(/\r\n|\r|\n/g, ' '))));
  }));
});

test('events are written in the form of the standard', () => {
  assert.equal(writeEvent(event('a')), 'data: a\n\n');
  assert.equal(writeEvent(event('', '')), 'data: \n\n');
  assert.equal(writeEvent(event('a\nb\r\nc\rd', 'x')), 'event: x\ndata: a\ndata: b\ndata: c\ndata: d\n\n');
  assert.equal(writeEvent(event('a', 'x\ndata: forged')), 'event: x data: forged\ndata: a\n\n');
});

test('an event of more lines than any has is refused, comments are not counted', () => {
  const parser = new SseParser(() => undefined);
  const isTooLong = (thrown: unknown): boolean => isGatewayError(thrown) && thrown.code === 'UPSTREAM_INVALID';
  const pings = Buffer.from(': ping\n\n'.repeat(60_000) + ': ping\r\n\r\n'.repeat(60_000));
  parser.push(pings);
  parser.push(pings);
  const lines = Buffer.from('data:\n'.repeat(60_000));
  parser.push(lines);
  assert.throws(() => parser.push(lines), isTooLong);
});

test('a line without an end is refused beyond its limit, in chunks of any size', () => {
  const parser = new SseParser(() => undefined);
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  assert.throws(() => { for (let count = 0; count < 30; count += 1) parser.push(chunk); }, (thrown) => isGatewayError(thrown) && thrown.code === 'UPSTREAM_INVALID');
});
