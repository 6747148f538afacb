import { isProviderError, type SseEvent } from '@gateway/plugin-sdk';
import { encodeFrame, type Frame } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventStream, exceptionError } from './event-stream.js';

const event = (type: string, payload: Frame['payload']): Frame => ({ headers: { ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' }, payload });
const exception = (type: string, payload: Frame['payload']): Frame => ({ headers: { ':message-type': 'exception', ':exception-type': type, ':content-type': 'application/json' }, payload });

function decode(chunks: readonly Uint8Array[], isEnded = true): SseEvent[] {
  const events: SseEvent[] = [];
  const decoder = eventStream.decoder();
  for (const chunk of chunks) decoder.push(chunk, (each) => events.push(each));
  if (isEnded) decoder.end((each) => events.push(each));
  return events;
}

const frames = [event('messageStart', { role: 'assistant' }), event('contentBlockDelta', { delta: { text: 'Grüezi 🙂' }, contentBlockIndex: 0 }), event('messageStop', { stopReason: 'end_turn' })];
const bytes = Buffer.concat(frames.map(encodeFrame));
const events: SseEvent[] = frames.map(({ headers, payload }) => ({ event: headers[':event-type'], data: JSON.stringify(payload) }));

/** A copy with one byte changed. */
function changed(frame: Buffer, at: number): Buffer {
  const copy = Buffer.from(frame);
  copy.writeUInt8(copy.readUInt8(at) ^ 0x01, at);
  return copy;
}

function withLength(frame: Buffer, length: number): Buffer {
  const copy = Buffer.from(frame);
  copy.writeUInt32BE(length, 0);
  return copy;
}

describe('frames', () => {
  test('are events, however the bytes are cut', () => {
    assert.deepEqual(decode([bytes]), events);
    for (let at = 0; at <= bytes.length; at += 1) assert.deepEqual(decode([bytes.subarray(0, at), bytes.subarray(at)]), events, `cut at byte ${at}`);
    for (const size of [1, 2, 3, 5, 7, 64]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
      assert.deepEqual(decode(chunks), events, `pieces of ${size}`);
    }
  });

  test('come out as soon as they are whole', () => {
    const first = encodeFrame(frames[0]!);
    assert.deepEqual(decode([bytes.subarray(0, first.length)], false), events.slice(0, 1));
    assert.deepEqual(decode([bytes.subarray(0, first.length - 1)], false), []);
  });

  test('may be in the middle of a larger buffer', () => {
    const larger = Buffer.concat([Buffer.alloc(13, 0xff), bytes, Buffer.alloc(5, 0xff)]);
    assert.deepEqual(decode([new Uint8Array(larger.buffer, larger.byteOffset + 13, bytes.length)]), events);
  });

  test('may be large, and arrive in small pieces', () => {
    const text = 'x'.repeat(3_000_000);
    const large = encodeFrame(event('chunk', { bytes: text }));
    const chunks: Buffer[] = [];
    for (let from = 0; from < large.length; from += 16_384) chunks.push(large.subarray(from, from + 16_384));
    const started = process.cpuUsage().user;
    const [only] = decode(chunks);
    assert.equal(only?.data.length, text.length + '{"bytes":""}'.length);
    // Joining what came at each chunk anew would copy 275 MB.
    assert.ok(process.cpuUsage().user - started < 2_000_000);
  });

  test('without payload or name are events too', () => {
    assert.deepEqual(decode([encodeFrame({ headers: {}, payload: {} })]), [{ event: undefined, data: '{}' }]);
    assert.deepEqual(decode([]), []);
  });
});

describe('corrupt streams fail', () => {
  const frame = encodeFrame(frames[1]!);

  test('whatever byte is changed', () => {
    for (let at = 0; at < frame.length; at += 1) assert.throws(() => decode([changed(frame, at)]), Error, `byte ${at}`);
  });

  test('checksum of the prelude', () => assert.throws(() => decode([changed(frame, 8)]), /checksum/i));
  test('checksum of the message', () => assert.throws(() => decode([changed(frame, frame.length - 1)]), /checksum/i));

  test('what was whole before comes out', () => {
    const seen: SseEvent[] = [];
    const decoder = eventStream.decoder();
    assert.throws(() => decoder.push(Buffer.concat([bytes, changed(frame, 20)]), (each) => seen.push(each)));
    assert.deepEqual(seen, events);
  });

  test('an end in the middle of a frame', () => {
    for (const length of [1, 3, 4, 11, bytes.length - 1]) assert.throws(() => decode([bytes.subarray(0, length)]), /ended \d+ bytes into a frame/, `after ${length} bytes`);
  });

  test('impossible lengths, told before they are waited for', () => {
    for (const length of [0, 15, 25 * 1024 * 1024, 0xffff_ffff]) assert.throws(() => decode([withLength(frame, length)], false), /says it is \d+ bytes long/, String(length));
    // An answer that is not an event stream at all.
    assert.throws(() => decode([Buffer.from('{"message":"no"}')], false), /bytes long/);
  });
});

describe('exceptions', () => {
  const told = (frame: Frame): { message: string; status: number; type: string | undefined } | undefined => {
    const [only] = decode([encodeFrame(frame)]);
    const error = only === undefined ? undefined : exceptionError(only);
    return isProviderError(error) ? { message: error.message, status: error.status, type: error.type } : undefined;
  };

  test('become errors of the provider with the status that it would have answered with', () => {
    const statuses: readonly (readonly [string, number])[] = [
      ['throttlingException', 429], ['validationException', 400], ['modelStreamErrorException', 424], ['internalServerException', 500], ['serviceUnavailableException', 503],
      ['modelTimeoutException', 408], ['newException', 502],
    ];
    for (const [type, status] of statuses) assert.deepEqual(told(exception(type, { message: 'No.' })), { message: 'No.', status, type });
  });

  test('have a message whatever their payload is', () => {
    assert.equal(told(exception('throttlingException', { Message: 'Slow down.' }))?.message, 'Slow down.');
    assert.equal(told(exception('throttlingException', 'Slow down.'))?.message, '"Slow down."');
    assert.equal(told(exception('throttlingException', { message: '' }))?.message, 'the provider broke the stream off with throttlingException');
    assert.equal(told(exception('throttlingException', { message: { a: 1 }, type: 'other' }))?.type, 'throttlingException');
  });

  test('error frames tell it in headers', () => {
    const frame = { headers: { ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'Oops.' }, payload: {} };
    assert.deepEqual(told(frame), { message: 'Oops.', status: 502, type: 'InternalError' });
  });

  test('are nothing that an ordinary event can pass itself off as', () => {
    for (const each of events) assert.equal(exceptionError(each), undefined);
    assert.equal(told(event('throttlingException', { message: 'text of the model' })), undefined);
  });
});
