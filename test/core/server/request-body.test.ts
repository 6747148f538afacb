import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it, mock } from 'node:test';
import type { GatewayError } from '../../../core/errors/gateway-error.js';
import { HeldBytes } from '../../../core/body/held-bytes.js';
import { RequestBody } from '../../../core/server/request-body.js';
import type { Readable } from 'node:stream';
import fc from '../../support/fast-check.js';
import { endOfTask, FakeUwsResponse } from './fake-uws-response.js';

const KiB = 1024;
const limits = { bodyBytesMax: 1000 * KiB, bodyTimeoutMs: 60_000, bodyDeadlineMs: 60_000, bodyRateMin: 4 * KiB };

function bench(options: { readonly hasBody?: boolean; readonly contentLength?: number; readonly bodyBytesMax?: number; readonly bodyTimeoutMs?: number; readonly bodyDeadlineMs?: number; readonly bodyRateMin?: number } = {}) {
  const response = new FakeUwsResponse();
  const { hasBody = true, contentLength = -1, ...changed } = options;
  const body = new RequestBody(response, { ...limits, ...changed }, held, hasBody, contentLength);
  made.push(body);
  return { response, body };
}

const held = new HeldBytes(HeldBytes.allocate(), 1024 * 1024 * KiB);
const made: RequestBody[] = [];
// As the edge does when the answer has left; a timer would keep the process alive.
afterEach(() => {
  for (const body of made.splice(0)) body.release();
});

/** What collect() says. */
function collected(body: RequestBody): { whole: string[]; faults: string[] } {
  const heard: { whole: string[]; faults: string[] } = { whole: [], faults: [] };
  body.collect((bytes) => heard.whole.push(Buffer.from(bytes).toString()), (fault) => heard.faults.push(fault.code));
  return heard;
}

const readAll = async (stream: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

interface FakeTimer {
  readonly delayMs: number;
  readonly fire: () => void;
  refreshes: number;
  isCleared: boolean;
}

/** Runs `work` with timers that fire when the test says so. */
async function withFakeTimers(work: (timers: FakeTimer[]) => void | Promise<void>): Promise<void> {
  const { setTimeout: realSet, clearTimeout: realClear } = globalThis;
  const timers: FakeTimer[] = [];
  const set = (fire: () => void, delayMs: number): FakeTimer & { refresh(): void } => {
    const timer = { delayMs, fire, refreshes: 0, isCleared: false, refresh: () => { timer.refreshes += 1; } };
    timers.push(timer);
    return timer;
  };
  globalThis.setTimeout = set as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer: FakeTimer) => { timer.isCleared = true; }) as unknown as typeof clearTimeout;
  try {
    await work(timers);
  } finally {
    globalThis.setTimeout = realSet;
    globalThis.clearTimeout = realClear;
  }
}

describe('a collected body', () => {
  it('is given whole when its last byte is here, copied out of the library\'s memory', () => {
    const { response, body } = bench();
    response.data('{"a"', false);
    const heard = collected(body);
    response.data(':1', false);
    assert.deepEqual(heard.whole, []);
    response.data('}', true);
    assert.deepEqual(heard, { whole: ['{"a":1}'], faults: [] });
    assert.equal(body.bytesReceived, 7);
    assert.ok(body.isComplete);
  });

  it('is given at once when it was here before', () => {
    const { response, body } = bench();
    response.data('whole', true);
    assert.deepEqual(collected(body), { whole: ['whole'], faults: [] });
  });

  it('may be empty, announced or not', () => {
    const none = bench({ hasBody: false });
    assert.ok(none.body.isComplete);
    assert.ok(!none.response.hasDataHandler);
    assert.deepEqual(collected(none.body), { whole: [''], faults: [] });
    const empty = bench();
    empty.response.data('', true);
    assert.deepEqual(collected(empty.body), { whole: [''], faults: [] });
  });

  it('is given once, though the library calls again after the end', () => {
    const { response, body } = bench();
    const heard = collected(body);
    response.data('x', true);
    response.data('', true);
    assert.deepEqual(heard.whole, ['x']);
  });

  it('above the limit is a fault, told once, before the rest is here', () => {
    const { response, body } = bench({ bodyBytesMax: 10 });
    const heard = collected(body);
    response.data('12345', false);
    response.data('678901', false);
    response.data('more', false);
    response.data('', true);
    assert.deepEqual(heard, { whole: [], faults: ['BODY_TOO_LARGE'] });
  });

  it('of exactly the limit passes', () => {
    const { response, body } = bench({ bodyBytesMax: 10 });
    const heard = collected(body);
    response.data('1234567890', true);
    assert.deepEqual(heard, { whole: ['1234567890'], faults: [] });
  });

  it('above the limit before anyone asked is a fault when somebody does', () => {
    const { response, body } = bench({ bodyBytesMax: 3 });
    response.data('1234', false);
    assert.deepEqual(collected(body), { whole: [], faults: ['BODY_TOO_LARGE'] });
    const whole = bench({ bodyBytesMax: 3 });
    whole.response.data('1234', true);
    assert.deepEqual(collected(whole.body), { whole: [], faults: ['BODY_TOO_LARGE'] });
  });
});

describe('a body nobody has decided about', () => {
  it('is held up to a bound, then the client is paused until somebody asks', () => {
    const { response, body } = bench();
    const chunk = 'x'.repeat(100 * KiB);
    response.data(chunk, false);
    response.data(chunk, false);
    assert.equal(response.pauses, 0);
    response.data(chunk, false);
    assert.equal(response.pauses, 1);
    // Already under way when the pause took hold.
    response.data(chunk, false);
    assert.equal(response.pauses, 1);
    const heard = collected(body);
    assert.equal(response.resumes, 1);
    response.data('end', true);
    assert.equal(heard.whole[0]?.length, 4 * 100 * KiB + 3);
  });
});

describe('a client that stops sending', () => {
  it('is a fault after the time from the last byte', () => withFakeTimers((timers) => {
    const { response, body } = bench({ bodyTimeoutMs: 750 });
    const faults: GatewayError[] = [];
    body.collect(() => assert.fail('whole'), (fault) => faults.push(fault));
    assert.equal(timers.length, 0);
    response.data('a', false);
    response.data('b', false);
    assert.equal(timers.length, 1);
    assert.deepEqual([timers[0]?.delayMs, timers[0]?.refreshes], [750, 1]);
    timers[0]?.fire();
    assert.deepEqual(faults.map(({ code, message }) => [code, message]), [['BODY_TIMEOUT', 'the request body did not arrive within 750 ms of the last byte']]);
    response.data('late', true);
    assert.equal(faults.length, 1);
  }));

  it('costs a whole body no timer', () => withFakeTimers((timers) => {
    const { response, body } = bench();
    collected(body);
    response.data('all', true);
    assert.equal(timers.length, 0);
  }));

  it('is not to blame while it is paused', () => withFakeTimers((timers) => {
    const { response, body } = bench();
    response.data('x'.repeat(300 * KiB), false);
    assert.equal(response.pauses, 1);
    assert.ok(timers.every((timer) => timer.isCleared));
    response.data('y', false);
    assert.ok(timers.every((timer) => timer.isCleared), 'what was under way starts no clock');
    collected(body);
    assert.equal(timers.filter((timer) => !timer.isCleared).length, 1);
    response.data('', true);
    assert.ok(timers.every((timer) => timer.isCleared));
  }));

  it('leaves no timer behind when the answer has been sent', () => withFakeTimers((timers) => {
    const { response, body } = bench();
    collected(body);
    response.data('x', false);
    body.release();
    assert.ok(timers.length === 1 && timers.every((timer) => timer.isCleared));
  }));
});

describe('a streamed body', () => {
  it('has what came before and after somebody asked', async () => {
    const { response, body } = bench();
    response.data('one ', false);
    const stream = body.stream();
    const text = readAll(stream);
    response.data('two ', false);
    await endOfTask();
    response.data('three', true);
    assert.equal(await text, 'one two three');
  });

  it('that was here before ends by itself', async () => {
    const { response, body } = bench();
    response.data('whole', true);
    assert.equal(await readAll(body.stream()), 'whole');
  });

  it('pauses the client when the upstream does not read, and lets it go on when it does', async () => {
    const { response, body } = bench();
    const stream = body.stream();
    for (let count = 0; count < 3; count += 1) response.data('x'.repeat(100 * KiB), false);
    assert.equal(response.pauses, 1);
    assert.equal(response.resumes, 0);
    assert.ok(stream.readableLength <= 300 * KiB);
    const text = readAll(stream);
    await endOfTask();
    assert.equal(response.resumes, 1);
    response.data('end', true);
    assert.equal((await text).length, 300 * KiB + 3);
  });

  it('above the limit is destroyed with the fault', async () => {
    const { response, body } = bench({ bodyBytesMax: 5 });
    const stream = body.stream();
    const text = readAll(stream);
    response.data('123', false);
    response.data('456', false);
    await assert.rejects(text, { code: 'BODY_TOO_LARGE' });
  });

  it('above the limit before anyone asked is destroyed with the fault', async () => {
    const { response, body } = bench({ bodyBytesMax: 5 });
    response.data('123456', false);
    await assert.rejects(readAll(body.stream()), { code: 'BODY_TOO_LARGE' });
  });

  it('of a client that leaves is destroyed', async () => {
    const { response, body } = bench();
    const stream = body.stream();
    response.data('half', false);
    const closed = new Promise<void>((resolve) => { stream.on('close', resolve); });
    response.abortFromClient();
    body.release();
    await closed;
    assert.ok(stream.destroyed && !stream.readableEnded);
  });

  it('that the upstream gives up lets the rest of the client\'s bytes pass by', async () => {
    const { response, body } = bench();
    const stream = body.stream();
    for (let count = 0; count < 3; count += 1) response.data('x'.repeat(100 * KiB), false);
    assert.equal(response.pauses, 1);
    stream.destroy();
    await endOfTask();
    assert.equal(response.resumes, 1);
    response.data('x'.repeat(300 * KiB), false);
    assert.equal(response.pauses, 1);
    response.data('', true);
    assert.ok(body.isComplete);
  });
});

describe('a body nobody wants', () => {
  it('may come behind the answer when it is short, and known to be', () => {
    assert.ok(bench({ contentLength: 64 * KiB }).body.endsSoon);
    assert.ok(!bench({ contentLength: 65 * KiB }).body.endsSoon);
    assert.ok(!bench().body.endsSoon);
    const faulty = bench({ contentLength: 10, bodyBytesMax: 3 });
    faulty.response.data('1234', false);
    assert.ok(!faulty.body.endsSoon);
  });

  it('is thrown away behind the answer until its end, up to a limit of bytes and of time, then the connection is closed', () => withFakeTimers((timers) => {
    const whole = bench();
    whole.body.linger();
    whole.response.data('x'.repeat(300 * KiB), false);
    assert.ok(!whole.response.isClosed);
    whole.response.data('', true);
    assert.ok(whole.response.isClosed);
    const long = bench();
    long.body.linger();
    for (let count = 0; count < 8; count += 1) long.response.data('x'.repeat(1024 * KiB), false);
    assert.ok(!long.response.isClosed);
    long.response.data('x', false);
    assert.ok(long.response.isClosed);
    const slow = bench();
    slow.body.linger();
    slow.response.data('x', false);
    timers.at(-1)?.fire();
    assert.ok(slow.response.isClosed);
    const gone = bench();
    gone.body.linger();
    gone.body.release();
    assert.ok(timers.at(-1)?.isCleared);
  }));

  it('wakes a paused client and holds nothing', () => {
    const { response, body } = bench();
    response.data('x'.repeat(300 * KiB), false);
    assert.equal(response.pauses, 1);
    body.discard();
    assert.equal(response.resumes, 1);
    response.data('x'.repeat(300 * KiB), false);
    assert.equal(response.pauses, 1);
  });

  it('is left alone after the client went', () => {
    const { response, body } = bench();
    response.data('x'.repeat(300 * KiB), false);
    response.abortFromClient();
    body.release();
    body.discard();
    assert.equal(response.resumes, 0);
  });
});

describe('a body that takes long', () => {
  let atMs = 1_000_000;
  before(() => { mock.method(performance, 'now', () => atMs); });
  after(() => mock.restoreAll());
  const limited = { bodyDeadlineMs: 10_000, bodyRateMin: 1_000 };

  it('is refused when a span brought less than the least rate, though no pause was too long', () => {
    const { response, body } = bench(limited);
    const heard = collected(body);
    for (let second = 0; second <= 10; second += 1) {
      response.data('x', false);
      atMs += 1_000;
    }
    assert.deepEqual(heard.faults, []);
    response.data('x', false);
    assert.deepEqual(heard.faults, ['BODY_TOO_SLOW']);
  });

  it('goes on while each span brings enough', () => {
    const { response, body } = bench(limited);
    const heard = collected(body);
    for (let second = 0; second < 60; second += 1) {
      response.data('x'.repeat(1_100), false);
      atMs += 1_000;
    }
    response.data('x', true);
    assert.deepEqual(heard.faults, []);
    assert.equal(heard.whole.length, 1);
  });

  it('is not measured while the provider reads nothing', async () => {
    const { response, body } = bench(limited);
    response.data('x', false);
    response.data('x'.repeat(300 * KiB), false);
    assert.equal(response.pauses, 1);
    atMs += 1_000_000;
    const upload = body.stream();
    let isBroken = false;
    upload.on('error', () => { isBroken = true; });
    upload.resume();
    await endOfTask();
    assert.equal(response.resumes, 1);
    response.data('x', false);
    await endOfTask();
    assert.ok(!isBroken);
  });
});

describe('the room for bodies', () => {
  const MiB = 1024 * KiB;
  const roomy = { bodyBytesMax: 100 * MiB, bodyTimeoutMs: 60_000, bodyDeadlineMs: 60_000, bodyRateMin: 0 };
  const bodyIn = (room: HeldBytes, contentLength = -1) => {
    const response = new FakeUwsResponse();
    const body = new RequestBody(response, roomy, room, true, contentLength);
    made.push(body);
    return { response, body };
  };
  const roomOf = (bytesMax: number): HeldBytes => new HeldBytes(HeldBytes.allocate(), bytesMax);

  it('is taken until the call lets go, not until the answer has left', () => {
    const room = roomOf(8 * MiB);
    const { response, body } = bodyIn(room, 5);
    const heard = collected(body);
    response.data('whole', true);
    assert.deepEqual(heard.whole, ['whole']);
    assert.equal(room.bytes, 5);
    body.release();
    assert.equal(room.bytes, 5);
    body.letGo();
    body.letGo();
    assert.equal(room.bytes, 0);
  });

  it('is free again at once when a client leaves in the middle', () => {
    const room = roomOf(8 * MiB);
    const { response, body } = bodyIn(room, MiB);
    const heard = collected(body);
    response.data('x'.repeat(100 * KiB), false);
    assert.ok(room.bytes >= 100 * KiB);
    body.release();
    assert.equal(room.bytes, 0);
    assert.deepEqual(heard, { whole: [], faults: [] });
  });

  it('is refused to a body that announces too much, before any of it came', () => {
    const room = roomOf(8 * MiB);
    assert.ok(room.take(6 * MiB, false));
    const { body } = bodyIn(room, 2 * MiB);
    assert.deepEqual(collected(body), { whole: [], faults: ['BODY_NO_ROOM'] });
    assert.deepEqual(collected(bodyIn(room, MiB).body).faults, []);
  });

  it('is refused for good to a body that could never be held', () => {
    assert.deepEqual(collected(bodyIn(roomOf(8 * MiB), 7 * MiB + 1).body).faults, ['BODY_TOO_LARGE']);
  });

  it('is refused to a body that announces nothing, when it would be too much', () => {
    const room = roomOf(8 * MiB);
    const { response, body } = bodyIn(room);
    const heard = collected(body);
    for (let count = 0; count < 7; count += 1) response.data('x'.repeat(MiB), false);
    assert.deepEqual(heard.faults, []);
    response.data('x'.repeat(MiB), false);
    assert.deepEqual(heard, { whole: [], faults: ['BODY_NO_ROOM'] });
    assert.equal(room.bytes, 0);
  });

  it('is refused before anyone has asked for the body, and told to who asks', () => {
    const room = roomOf(8 * MiB);
    assert.ok(room.take(7 * MiB, false));
    const { response, body } = bodyIn(room);
    response.data('x'.repeat(100 * KiB), false);
    assert.deepEqual(collected(body).faults, ['BODY_NO_ROOM']);
  });

  it('is there for small bodies when large ones have filled theirs', () => {
    const room = roomOf(8 * MiB);
    assert.ok(room.take(7 * MiB, false));
    const { response, body } = bodyIn(room, 64 * KiB);
    const heard = collected(body);
    response.data('x'.repeat(64 * KiB), true);
    assert.deepEqual(heard.faults, []);
    assert.equal(heard.whole.length, 1);
    assert.deepEqual(collected(bodyIn(room, 400 * KiB).body).faults, ['BODY_NO_ROOM']);
  });

  it('is taken by what of an upload nobody has read', async () => {
    const room = roomOf(8 * MiB);
    const { response, body } = bodyIn(room);
    response.data('x'.repeat(10 * KiB), false);
    const upload = body.stream();
    response.data('x'.repeat(90 * KiB), false);
    assert.equal(room.bytes, 100 * KiB);
    const text = readAll(upload);
    await endOfTask();
    assert.equal(room.bytes, 0);
    response.data('x'.repeat(50 * KiB), true);
    assert.equal((await text).length, 150 * KiB);
    await endOfTask();
    assert.equal(room.bytes, 0);
  });

  it('ends an upload that finds none', async () => {
    const room = roomOf(8 * MiB);
    const { response, body } = bodyIn(room);
    const upload = body.stream();
    assert.ok(room.take(7 * MiB, false));
    response.data('x'.repeat(KiB * 300), false);
    await assert.rejects(readAll(upload), { code: 'BODY_NO_ROOM' });
    assert.equal(room.bytes, 7 * MiB);
  });

  it('of an upload that nobody ever reads is free when the answer has left', () => {
    const room = roomOf(8 * MiB);
    const { response, body } = bodyIn(room);
    body.stream();
    response.data('x'.repeat(10 * KiB), true);
    assert.equal(room.bytes, 10 * KiB);
    body.release();
    assert.equal(room.bytes, 0);
  });

  it('is all free again in the end, whatever became of the bodies', async () => {
    type Step = 'data' | 'large' | 'last' | 'collect' | 'stream' | 'read' | 'discard' | 'linger' | 'release' | 'letGo' | 'destroy';
    const steps = fc.array(fc.constantFrom<Step>('data', 'large', 'last', 'collect', 'stream', 'read', 'discard', 'linger', 'release', 'letGo', 'destroy'), { maxLength: 12 });
    await fc.assert(fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(-1, 10, 70 * KiB, 3 * MiB), steps), { minLength: 1, maxLength: 4 }), async (bodies) => {
      const room = roomOf(2 * MiB);
      for (const [contentLength, story] of bodies) {
        const { response, body } = bodyIn(room, contentLength);
        let upload: Readable | null = null;
        let isAsked = false;
        let isOver = false;
        for (const step of story) {
          if (isOver && step !== 'letGo') continue;
          switch (step) {
            case 'data': response.data('x'.repeat(5 * KiB), false); break;
            case 'large': response.data('x'.repeat(400 * KiB), false); break;
            case 'last': response.data('x', true); break;
            case 'collect': if (!isAsked) collected(body); isAsked = true; break;
            case 'stream':
              if (!isAsked) upload = body.stream().on('error', () => undefined);
              isAsked = true;
              break;
            case 'read': upload?.resume(); break;
            case 'destroy': upload?.destroy(); break;
            case 'discard': body.discard(); break;
            case 'linger': body.linger(); isOver = true; break;
            case 'release': body.release(); isOver = true; break;
            case 'letGo': body.letGo(); break;
          }
          assert.ok(room.bytes >= 0 && room.bytes <= room.bytesMax);
        }
        // What the edge and the end of every call do.
        await endOfTask();
        body.letGo();
        body.release();
      }
      await endOfTask();
      assert.equal(room.bytes, 0);
    }), { numRuns: 200 });
  });
});
