import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { OnReadOpts } from '../../../../core/upstream/egress.js';
import { Connection, ConnectionFault, type ConnectionOwner, type ServedCall } from '../../../../core/upstream/http/connection.js';
import { lend, readBuffer } from '../../../../core/upstream/http/read-buffer.js';
import { RequestHead } from '../../../../core/upstream/http/request-head.js';
import { tickMs, TimerWheel } from '../../../../core/upstream/timer-wheel.js';

const idleTimeoutMs = 8_000;

/** The clock and the timers are the test's; what the server says is put into the buffer. */
class Line implements ServedCall {
  readonly head = new RequestHead('GET', '/', [], Buffer.from('GET / HTTP/1.1\r\n'), -1, false);
  readonly body = null;
  readonly upload = null;
  readonly caller = '';
  isPaused = false;
  chunks = 0;
  faultAt = 0;
  fault: Error | null = null;
  now = 0;
  readonly connection: Connection;
  #onread: OnReadOpts | null = null;

  constructor(readonly context: TestContext) {
    context.mock.method(performance, 'now', () => this.now);
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const timers = new TimerWheel();
    const owner: ConnectionOwner = {
      target: { protocol: 'http:', hostname: '127.0.0.1', port: '80' },
      timers,
      idleTimeoutMs,
      firstByteTimeoutMs: 60_000,
      release: () => assert.fail('released'),
      drop: (connection) => {
        connection.isDropped = true;
        connection.close();
      },
      dial: (_target, callback, _caller, onread) => {
        this.#onread = onread ?? null;
        callback(null, new Socket());
        return { cancel: () => {} };
      },
    };
    this.connection = new Connection(owner);
    this.connection.send(this);
    this.says('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\na');
  }

  says(text: string): void {
    const onread = this.#onread;
    if (onread === null) assert.fail('nothing reads');
    onread.callback(readBuffer.write(text), readBuffer);
  }

  /** Time passes in steps of a tick. */
  pass(ms: number): void {
    for (const until = this.now + ms; this.now < until && this.fault === null;) {
      this.now += tickMs;
      this.context.mock.timers.tick(tickMs);
    }
  }

  onHead(): void {}
  onDone(): void {}

  onBytes(): void {
    this.chunks += 1;
  }

  onFault(fault: Error): void {
    this.fault = fault;
    this.faultAt = this.now;
  }

  assertIdleSince(from: number): void {
    assert.ok(this.fault instanceof ConnectionFault);
    assert.equal(this.fault.kind, 'bodyTimeout');
    const lateMs = this.faultAt - from - idleTimeoutMs;
    assert.ok(lateMs >= 0, `${-lateMs} ms too early`);
    assert.ok(lateMs <= idleTimeoutMs / 16 + 4 * tickMs, `${lateMs} ms late`);
  }
}

describe('the idle time-out of an answer', () => {
  it('never ends one that goes on in time, and comes a sixteenth too late at the most', (context) => {
    const line = new Line(context);
    for (const gapMs of [10, 490, 510, 1_000, 3_990, 7_000, 7_900, 7_980, 20, 7_980]) {
      line.pass(gapMs);
      line.says('b');
    }
    assert.deepEqual([line.fault, line.chunks], [null, 11]);
    const since = line.now;
    line.pass(20_000);
    line.assertIdleSince(since);
  });

  it('comes when nothing follows the first bytes', (context) => {
    const line = new Line(context);
    line.pass(20_000);
    line.assertIdleSince(0);
  });

  it('does not run while the call is paused, and begins anew when it is resumed', (context) => {
    const line = new Line(context);
    line.pass(4_000);
    line.isPaused = true;
    line.pass(30_000);
    assert.equal(line.fault, null);
    line.isPaused = false;
    line.connection.resume();
    const since = line.now;
    line.pass(20_000);
    line.assertIdleSince(since);
  });
});

describe('a view that is lent', () => {
  it('shows what was asked for, whatever was lent before', () => {
    for (const [from, to] of [[0, 0], [4, 100], [4, 356], [260, 356], [4, 100], [0, 65_536], [0, 0], [0, 256], [256, 256]] as const) {
      const view = lend(from, to);
      assert.deepEqual([view.buffer === readBuffer.buffer, view.byteOffset, view.length], [true, readBuffer.byteOffset + from, to - from]);
    }
  });

  it('is not made again for the same place', () => {
    assert.equal(lend(7, 207), lend(7, 207));
  });
});
