// Hot: runs for each chunk of a request body.
// The client's body from uWebSockets.js. Attached before anything can wait: the library gives no second chance. Each chunk is copied once,
// because its memory is gone when the callback returns. Until somebody decides what becomes of the body it is held, up to a bound, then
// the client is paused.

import { ByteCollector } from '@gateway/plugin-sdk';
import { Readable } from 'node:stream';
import { BodyBuffer } from '../body/body-buffer.js';
import type { HeldBytes } from '../body/held-bytes.js';
import { fail, type GatewayError } from '../errors/gateway-error.js';
import type { ClientBody } from '../exchange/client-body.js';
import { noBytes } from '../exchange/exchange.js';
import type { UwsResponse } from './uws.js';

export interface BodyLimits {
  readonly bodyBytesMax: number;
  readonly bodyTimeoutMs: number;
  /** In each span of so long, a body that is not whole must have brought as many bytes as `bodyRateMin` a second. */
  readonly bodyDeadlineMs: number;
  readonly bodyRateMin: number;
}

/** Held before anyone decided, or unread by the upstream, before the client is paused. */
const heldBytesMax = 256 * 1024;
/** Well below the library's 10 s. */
const renewEveryMs = 2000;
/** A body up to this announced length may still come behind its answer, and the connection stay open: the library closes it below 16 kB/s. */
const shortBytesMax = 64 * 1024;
/**
 * So much of a longer one is thrown away behind the answer, and for so long, before the connection is closed. Closed at once, it would be
 * reset, and most clients would never see the answer.
 */
const lingerBytesMax = 8 * 1024 * 1024;
const lingerMs = 2_000;

type Mode = 'hold' | 'collect' | 'stream' | 'discard';

export class RequestBody implements ClientBody {
  isComplete = false;
  bytesReceived = 0;
  #mode: Mode = 'hold';
  readonly #held: BodyBuffer;
  #onWhole: ((bytes: Uint8Array) => void) | null = null;
  #onFault: ((fault: GatewayError) => void) | null = null;
  #upload: Upload | null = null;
  #fault: GatewayError | null = null;
  #timer: NodeJS.Timeout | null = null;
  #renewedAt = performance.now();
  /** When the span began that the body is measured in, and what had come before. */
  #spanAt = this.#renewedAt;
  #spanFrom = 0;
  /** Bytes received at which a connection is closed that was answered already; -1: it was not. */
  #lingerUntil = -1;
  #isPaused = false;
  /** The response is aborted or ended: the library's objects must not be touched any more. */
  #isGone = false;

  /** What was collected is the call's, and counts until it lets go. */
  #isTaken = false;

  constructor(readonly response: UwsResponse, public limits: BodyLimits, readonly held: HeldBytes, hasBody: boolean, readonly contentLength: number) {
    this.#held = new BodyBuffer(held, contentLength);
    if (!hasBody) {
      this.isComplete = true;
      return;
    }
    response.onData((chunk, isLast) => this.#onData(chunk, isLast));
  }

  /** A route that takes less than others. Before anything has come. */
  limitTo(bodyBytesMax: number): void {
    if (bodyBytesMax < this.limits.bodyBytesMax) this.limits = { ...this.limits, bodyBytesMax };
  }

  collect(onWhole: (bytes: Uint8Array) => void, onFault: (fault: GatewayError) => void): void {
    this.#mode = 'collect';
    const fault = this.#fault ?? this.#roomFault();
    if (fault !== null) onFault(fault);
    else if (this.isComplete) onWhole(this.#take());
    else {
      this.#onWhole = onWhole;
      this.#onFault = onFault;
      this.#resume();
    }
  }

  stream(): Readable {
    this.#mode = 'stream';
    const upload = new Upload(this.held, () => this.#resume(), () => this.discard());
    this.#upload = upload;
    const { length } = this.#held;
    const first = length === 0 ? null : this.#held.take();
    this.#held.release();
    if (first !== null && !upload.append(first)) this.#fault ??= this.#noRoom(length);
    if (this.#fault !== null) upload.destroy(this.#fault);
    else if (this.isComplete) upload.finish();
    return upload;
  }

  discard(): void {
    this.#mode = 'discard';
    if (!this.#isTaken) this.#held.release();
    this.#onWhole = null;
    this.#onFault = null;
    this.#upload?.letGo();
    this.#upload = null;
    if (!this.isComplete) this.#resume();
  }

  letGo(): void {
    this.#isTaken = false;
    this.#held.release();
  }

  /** What is missing is short enough to come behind the answer. */
  get endsSoon(): boolean {
    return this.contentLength >= 0 && this.contentLength <= Math.min(shortBytesMax, this.limits.bodyBytesMax) && this.#fault === null;
  }

  /** The answer has left though the body has not come, and tells the client that the connection closes: it does when the body ends, or soon. */
  linger(): void {
    this.discard();
    this.#clearTimer();
    if (this.isComplete) {
      this.response.close();
      return;
    }
    this.#lingerUntil = this.bytesReceived + lingerBytesMax;
    this.#timer = setTimeout(() => this.response.close(), lingerMs);
  }

  /** The client left or the answer ended. */
  release(): void {
    this.#isGone = true;
    this.#clearTimer();
    const upload = this.#upload;
    this.#upload = null;
    if (upload !== null) {
      upload.letGo();
      if (!this.isComplete) upload.destroy();
    }
    this.#mode = 'discard';
    if (!this.#isTaken) this.#held.release();
  }

  #onData(chunk: ArrayBuffer, isLast: boolean): void {
    // Keeps firing after the answer has been sent.
    if (this.isComplete) return;
    this.bytesReceived += chunk.byteLength;
    if (this.#lingerUntil !== -1) {
      this.isComplete = isLast;
      if (isLast || this.bytesReceived > this.#lingerUntil) this.response.close();
      return;
    }
    if (isLast) {
      this.isComplete = true;
      this.#clearTimer();
      // The rest of a read is delivered in spite of a pause. Nobody will ask for more, and the connection's next request must be read.
      this.#resume();
    } else if (this.#timer !== null) {
      this.#timer.refresh();
      if (!this.#bearWithSlowClient()) return;
    } else if (!this.#isPaused && !this.#isGone) {
      // Most bodies come whole with their head and never need a timer. A client that sends a head and then nothing at all is closed by
      // the library's own idle time-out. What still arrives after a pause was under way: it must not start the clock of a client that may
      // not send.
      this.#armTimer();
    }
    if (this.bytesReceived > this.limits.bodyBytesMax) {
      this.#fail(fail('BODY_TOO_LARGE', { maximum: this.limits.bodyBytesMax }));
      return;
    }
    switch (this.#mode) {
      case 'discard': return;
      case 'stream': {
        const upload = this.#upload;
        if (upload === null) return;
        if (!upload.appendCopy(new Uint8Array(chunk))) this.#fail(this.#noRoom(chunk.byteLength));
        else if (isLast) upload.finish();
        else if (!upload.flush()) this.#pause();
        return;
      }
      default:
        // The copy that cannot be avoided.
        if (!this.#held.append(new Uint8Array(chunk), isLast)) this.#fail(this.#noRoom(Math.max(this.bytesReceived, this.contentLength)));
        else if (isLast) {
          const onWhole = this.#onWhole;
          this.#onWhole = null;
          if (onWhole !== null) onWhole(this.#take());
        } else if (this.#mode === 'hold' && this.bytesReceived > heldBytesMax) {
          this.#pause();
        }
    }
  }

  #take(): Uint8Array {
    if (this.#held.length === 0) return noBytes;
    this.#isTaken = true;
    return this.#held.take();
  }

  /** A body that cannot be held is refused before it is read. */
  #roomFault(): GatewayError | null {
    const { contentLength } = this;
    if (contentLength <= 0 || this.isComplete) return null;
    if (contentLength > this.held.largestBytes) return fail('BODY_TOO_LARGE', { maximum: this.held.largestBytes });
    return this.#held.hasRoom ? null : this.#noRoom(contentLength);
  }

  #noRoom(bytes: number): GatewayError {
    return fail('BODY_NO_ROOM', { bytes, maximum: this.held.bytesMax });
  }

  #fail(fault: GatewayError): void {
    this.#clearTimer();
    this.#fault = fault;
    const onFault = this.#onFault;
    const upload = this.#upload;
    this.discard();
    this.#fault = fault;
    if (onFault !== null) onFault(fault);
    else if (upload !== null) upload.destroy(fault);
  }

  #pause(): void {
    if (this.#isPaused || this.#isGone || this.isComplete) return;
    this.#isPaused = true;
    this.#clearTimer();
    this.response.pause();
  }

  #resume(): void {
    if (!this.#isPaused || this.#isGone) return;
    this.#isPaused = false;
    if (!this.isComplete) this.#armTimer();
    // The client could not send meanwhile.
    this.#beginSpan(performance.now());
    this.response.resume();
  }

  /**
   * The library closes a connection that sends less than 16 kB/s, without an answer. Our own limits judge pauses and spans instead: stopping
   * and starting to read renews the library's. False: too slow for ours.
   */
  #bearWithSlowClient(): boolean {
    const now = performance.now();
    const { bodyDeadlineMs, bodyRateMin } = this.limits;
    if (now - this.#spanAt > bodyDeadlineMs) {
      if (this.bytesReceived - this.#spanFrom < bodyRateMin * (bodyDeadlineMs / 1000)) {
        this.#fail(fail('BODY_TOO_SLOW', { deadlineMs: bodyDeadlineMs, bytesPerSecond: bodyRateMin }));
        return false;
      }
      this.#beginSpan(now);
    }
    if (now - this.#renewedAt >= renewEveryMs && !this.#isPaused) {
      this.#renewedAt = now;
      this.response.pause();
      this.response.resume();
    }
    return true;
  }

  #beginSpan(now: number): void {
    this.#spanAt = now;
    this.#spanFrom = this.bytesReceived;
  }

  #armTimer(): void {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#fail(fail('BODY_TIMEOUT', { timeoutMs: this.limits.bodyTimeoutMs }));
    }, this.limits.bodyTimeoutMs);
  }

  #clearTimer(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** The body on its way up: what nobody has read yet waits as bytes, not as chunks, and beyond the mark pauses the client. */
class Upload extends Readable {
  readonly #waiting = new ByteCollector();
  #isWanted = false;
  #isFinished = false;
  #isLetGo = false;
  /** Of what waits, and of what was given to the reader, until it asks for more. */
  #counted = 0;

  constructor(readonly held: HeldBytes, readonly onRead: () => void, readonly onClosed: () => void) {
    // Nothing is kept on the stream's side: it reads when it has nothing.
    super({ highWaterMark: 1 });
  }

  /** False: there is no room for it. */
  append(chunk: Uint8Array): boolean {
    if (!this.#count(chunk.byteLength)) return false;
    this.#waiting.append(chunk);
    return true;
  }

  /** The same for a chunk whose memory is only lent. */
  appendCopy(chunk: Uint8Array): boolean {
    if (chunk.byteLength === 0) return true;
    if (!this.#count(chunk.byteLength)) return false;
    this.#waiting.appendCopy(chunk);
    return true;
  }

  /** False: so much waits that the client has to. */
  flush(): boolean {
    if (this.#isWanted && this.#waiting.length > 0) {
      this.#isWanted = false;
      this.push(this.#waiting.take());
    }
    return this.#waiting.length < heldBytesMax;
  }

  finish(): void {
    this.#isFinished = true;
    if (this.#waiting.length > 0) this.push(this.#waiting.take());
    this.push(null);
  }

  #count(bytes: number): boolean {
    if (this.#isLetGo) return true;
    if (!this.held.take(bytes, false)) return false;
    this.#counted += bytes;
    return true;
  }

  /** All but what still waits. */
  #uncount(): void {
    const left = Math.min(this.#counted, this.#waiting.length);
    this.held.give(this.#counted - left);
    this.#counted = left;
  }

  /** The call is over: nothing of it counts any more. */
  letGo(): void {
    this.#isLetGo = true;
    this.held.give(this.#counted);
    this.#counted = 0;
  }

  override _read(): void {
    this.#isWanted = true;
    this.#uncount();
    if (!this.#isFinished && this.flush()) this.onRead();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#waiting.takePieces();
    this.letGo();
    this.onClosed();
    callback(error);
  }
}
