// Hot: runs for each read of an upstream's answer.
// One connection: a socket, the parser of what comes over it, and the call it serves at present. Reads land in the thread's one buffer and are
// lent to the call; what a paused call has not taken yet is copied. A connection that is wrong in any way is closed, never used again: what
// came unasked cannot become somebody's answer.

import { fail } from '../../errors/gateway-error.js';
import type { Connect, Connecting, ConnectTarget, OnReadOpts, Socket } from '../egress.js';
import { WheelTimeout, type TimeoutOwner, type TimerWheel } from '../timer-wheel.js';
import { beginTurn, endTurn } from '../turn.js';
import { lend, onLent, readBuffer } from './read-buffer.js';
import type { RequestHead } from './request-head.js';
import { ResponseParser } from './response-parser.js';
import { sendWhole } from './send.js';
import type { Upload } from './upload.js';

/** Why a call failed. Other errors are those of sockets and of whoever gave the body. */
export type FaultKind = 'closed' | 'headTimeout' | 'bodyTimeout' | 'invalid';

export class ConnectionFault extends Error {
  constructor(readonly kind: FaultKind, reason: string) {
    super(reason);
  }
}

/** What the connection serves. None of it throws. */
export interface ServedCall {
  readonly head: RequestHead;
  readonly body: Uint8Array | null;
  /** In the place of `body`. */
  readonly upload: Upload | null;
  readonly caller: string;
  isPaused: boolean;
  onHead(status: number, headers: string[]): void;
  /** The bytes are lent, for as long as read-buffer.ts says. */
  onBytes(bytes: Buffer): void;
  onDone(): void;
  onFault(fault: Error): void;
}

/** Who has the connection. */
export interface ConnectionOwner {
  readonly target: ConnectTarget;
  readonly dial: Connect;
  readonly timers: TimerWheel;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** It can take another call; `keepMs`: the server keeps it so long. */
  release(connection: Connection, keepMs: number): void;
  /** It is not to be used again, and closed. */
  drop(connection: Connection): void;
}

const noBytes = Buffer.alloc(0);
/** The server may close earlier than it says, by the time that its word and our request are on their way. */
const keepMarginMs = 2_000;
/**
 * While an answer comes, a read only notes that it was there; the clock is read by a look now and then, in no more than this part of the idle
 * time-out and so many milliseconds. So much later than due the time-out may come, never earlier.
 */
const looksPerTimeout = 16;
const lookMsMax = 1_000;

export class Connection implements TimeoutOwner {
  /** Answers received: above 0, a failure may be the server's idle close crossing our request. */
  served = 0;
  /** While it is idle: Date.now() when it became so, and when it is not to be used any more. */
  idleSince = 0;
  idleUntil = 0;
  isDropped = false;
  /** Anything has been read since the present call was begun. */
  hasReceived = false;
  #socket: Socket | null = null;
  #connecting: Connecting | null = null;
  #call: ServedCall | null = null;
  readonly #parser = new ResponseParser();
  readonly #timeout: WheelTimeout;
  #isHeadSeen = false;
  /** The idle time-out has been begun for this answer. */
  #isWatched = false;
  /** Something has come since the last look. */
  #hasHeard = false;
  /** When the idle time-out is due, as long as nothing has come since the last look. */
  #quietAt = 0;
  /** Somebody up the stack is taking steps of the parser. */
  #isStepping = false;
  /** Read, and not looked at yet: the call was paused. */
  #held: Buffer = noBytes;
  /** The call was paused in the middle of a read. */
  #isHalted = false;
  /** The socket does not read, since nobody takes it. */
  #isStopped = false;
  /** The server has closed its side while the call was paused. */
  #hasEnded = false;
  readonly #isPlain: boolean;

  constructor(readonly owner: ConnectionOwner) {
    this.#timeout = new WheelTimeout(owner.timers, this);
    this.#isPlain = owner.target.protocol === 'http:';
  }

  send(call: ServedCall): void {
    this.#call = call;
    if (this.#socket !== null) {
      this.#write(this.#socket, call);
      return;
    }
    const onread: OnReadOpts = { buffer: readBuffer, callback: (count) => this.#onRead(count) };
    this.#connecting = this.owner.dial(this.owner.target, (fault, socket) => this.#onConnected(fault, socket), call.caller, onread);
  }

  /** Of the present call, which is not paused any more. */
  resume(): void {
    if (this.#isStepping || this.isDropped) return;
    if (this.#isHeadSeen) this.#watch(performance.now());
    if (this.#isHalted) {
      this.#isHalted = false;
      const held = this.#held;
      this.#held = noBytes;
      this.#step(held, held.length);
      if (this.isDropped || this.#call === null || this.#call.isPaused) return;
    }
    if (this.#hasEnded) this.#onEnd();
    else if (this.#isStopped) this.#read();
  }

  /** Called by its owner, once. */
  close(): void {
    this.#call = null;
    this.#held = noBytes;
    this.#timeout.remove();
    this.#connecting?.cancel();
    this.#socket?.destroy();
  }

  onTimeout(): void {
    const call = this.#call;
    if (call === null) return;
    if (!this.#isHeadSeen) {
      if (call.isPaused) this.#timeout.start(this.owner.firstByteTimeoutMs);
      else this.#fail(new ConnectionFault('headTimeout', 'timeout'));
      return;
    }
    const now = performance.now();
    if (call.isPaused || this.#hasHeard) this.#watch(now);
    else if (now < this.#quietAt) this.#lookAgain(now);
    else this.#fail(new ConnectionFault('bodyTimeout', 'timeout'));
  }

  /** The idle time-out begins, or begins anew. */
  #watch(now: number): void {
    this.#isWatched = true;
    this.#hasHeard = false;
    this.#quietAt = now + this.owner.idleTimeoutMs;
    this.#lookAgain(now);
  }

  #lookAgain(now: number): void {
    this.#timeout.start(Math.min(this.#quietAt - now, this.owner.idleTimeoutMs / looksPerTimeout, lookMsMax), now);
  }

  /** The call's upload is on its way: the server is not expected to answer before its end. */
  onUploaded(): void {
    if (!this.#isHeadSeen && this.#call !== null) this.#timeout.start(this.owner.firstByteTimeoutMs);
  }

  #onConnected(fault: Error | null, socket: Socket | null): void {
    this.#connecting = null;
    if (socket === null) {
      this.#fail(fault ?? fail('UPSTREAM_UNREACHABLE', { host: this.owner.target.hostname, reason: 'no connection' }));
      return;
    }
    this.#socket = socket;
    socket.on('error', (error: Error) => this.#fail(error));
    socket.on('end', () => this.#onEnd());
    // Behind an end that a paused call has yet to hear of, it says nothing new.
    socket.on('close', () => { if (!this.#hasEnded) this.#fail(new ConnectionFault('closed', 'closed')); });
    if (this.#call !== null) this.#write(socket, this.#call);
  }

  #write(socket: Socket, call: ServedCall): void {
    this.#parser.begin(call.head.method === 'HEAD');
    this.#isHeadSeen = false;
    this.#isWatched = false;
    this.hasReceived = false;
    this.#timeout.start(this.owner.firstByteTimeoutMs);
    if (call.upload === null) sendWhole(socket, call.head, call.body, this.#isPlain);
    else call.upload.begin(socket, call.head);
  }

  #onRead(count: number): boolean {
    beginTurn();
    try {
      return this.#take(count);
    } finally {
      endTurn();
    }
  }

  /** False: the socket stops reading. */
  #take(count: number): boolean {
    onLent();
    const call = this.#call;
    if (call === null || this.isDropped) {
      // Nobody asked for it.
      this.#dropSelf();
      return false;
    }
    this.hasReceived = true;
    if (this.#isHalted || call.isPaused) {
      // TLS may have more in hand than one read after it was told to stop; no more than it had read by then.
      this.#isHalted = true;
      this.#held = this.#held.length === 0 ? Buffer.from(readBuffer.subarray(0, count)) : Buffer.concat([this.#held, readBuffer.subarray(0, count)]);
      this.#isStopped = true;
      return false;
    }
    this.#step(readBuffer, count);
    this.#isStopped = this.#call !== null && this.#call.isPaused;
    return !this.#isStopped;
  }

  /** The call takes what it can of `bytes`; what it does not take, since it is paused, is kept. */
  #step(bytes: Buffer, to: number): void {
    const parser = this.#parser;
    const call = this.#call;
    if (call === null) return;
    parser.at = 0;
    this.#isStepping = true;
    for (;;) {
      const step = parser.step(bytes, to);
      if (step === 'more') {
        if (this.#isWatched) this.#hasHeard = true;
        else if (this.#isHeadSeen) this.#watch(performance.now());
        break;
      }
      if (step === 'end') {
        this.#isStepping = false;
        this.#finish(call, parser.at < to);
        return;
      }
      if (step === 'fault') {
        this.#isStepping = false;
        this.#fail(new ConnectionFault('invalid', parser.fault));
        return;
      }
      if (step === 'head') {
        this.#isHeadSeen = true;
        call.onHead(parser.status, parser.headers);
      } else {
        call.onBytes(bytes === readBuffer ? lend(parser.bodyFrom, parser.bodyTo) : bytes.subarray(parser.bodyFrom, parser.bodyTo));
      }
      // It may be another call's by now, or closed.
      if (this.#call !== call) break;
      if (call.isPaused) {
        this.#isHalted = true;
        if (parser.at < to) this.#held = Buffer.from(bytes.subarray(parser.at, to));
        break;
      }
    }
    this.#isStepping = false;
  }

  #finish(call: ServedCall, hasMore: boolean): void {
    this.#call = null;
    this.#timeout.stop();
    this.served += 1;
    const parser = this.#parser;
    const socket = this.#socket;
    const isSent = call.upload === null ? socket !== null && socket.writableLength === 0 : call.upload.isSent;
    const keepMs = parser.keepAliveSeconds === -1 ? Number.POSITIVE_INFINITY : parser.keepAliveSeconds * 1000 - keepMarginMs;
    // What stands behind the end of an answer is nobody's answer.
    if (!parser.keepsAlive || hasMore || !isSent || call.head.isLast || keepMs <= 0 || this.#hasEnded) this.owner.drop(this);
    else {
      if (this.#isStopped) this.#read();
      this.owner.release(this, keepMs);
    }
    call.onDone();
  }

  #read(): void {
    this.#isStopped = false;
    this.#socket?.resume();
  }

  #onEnd(): void {
    const call = this.#call;
    if (call === null) {
      this.#dropSelf();
      return;
    }
    if (this.#isHalted || call.isPaused) {
      this.#hasEnded = true;
      return;
    }
    if (this.#parser.end()) this.#finish(call, false);
    else this.#fail(this.#parser.fault === '' ? new ConnectionFault('closed', 'other side closed') : new ConnectionFault('invalid', this.#parser.fault));
  }

  #fail(fault: Error): void {
    const call = this.#call;
    this.#call = null;
    this.#dropSelf();
    if (call !== null) call.onFault(fault);
  }

  #dropSelf(): void {
    if (!this.isDropped) this.owner.drop(this);
  }
}
