// Hot: runs for each chunk of an answer that several clients share.
// One upstream call for identical requests in flight: stands in the place of the first request's responder, keeps the answer while it passes,
// and writes it to everybody who has joined, each at the pace of its own client. Who joins late gets what has passed and then goes along.

import type { Exchange } from '../../exchange/exchange.js';
import { HookLog } from '../../exchange/hook-log.js';
import type { DrainListener, HeaderList, Responder } from '../../exchange/responder.js';
import type { Usage } from '../../exchange/usage.js';
import { beginAt } from '../response/client-response.js';
import { responseHeaders } from '../response/response-headers.js';

/** Of an answer so much is kept for those who read it more slowly, or join later. Beyond it nobody may join, and the slowest sets the pace. */
const keptBytesMax = 16 * 1024 * 1024;
/** Clients of one answer. */
const readersMax = 1000;

/** Smaller chunks are copied together: an object for each costs more than they do, and every reader would get each by itself. */
const smallBytes = 4 * 1024;
const blockBytes = 16 * 1024;

class Reader implements DrainListener {
  /** The next piece to write, and how much of it has been written. */
  at = 0;
  from = 0;
  isBlocked = false;

  constructor(readonly shared: CoalescedResponse, readonly exchange: Exchange, readonly responder: Responder, readonly onDone: () => void) {}

  onDrain(): void {
    this.isBlocked = false;
    this.shared.onRoom(this);
  }
}

export class CoalescedResponse implements Responder {
  drainListener: DrainListener | null = null;
  readonly #readers = new Set<Reader>();
  /** The last may be a block that is still filled: `#filled` bytes of it count. */
  readonly #pieces: (Uint8Array | null)[] = [];
  #block: Uint8Array | null = null;
  #filled = 0;
  #bytes = 0;
  /** Pieces at the beginning that nobody needs any more, and their bytes. */
  #gone = 0;
  #released = 0;
  #status = 0;
  #headers: HeaderList = [];
  #isStarted = false;
  #isEnded = false;
  #isAborted = false;
  /** A whole answer comes with its length. */
  #length = -1;
  #isWaiting = false;

  /** Usage and the rest that the answer said of itself, for the records of those who joined; known at its end. */
  usage: Usage | null = null;

  /** `first`: whose call it is. `onEnd`: nobody can join any more. `onAbandoned`: nobody is left to read, and the answer has not ended. */
  constructor(readonly first: Exchange, readonly onEnd: () => void, readonly onAbandoned: () => void) {}

  get isOpen(): boolean {
    return !this.#isEnded && this.#readers.size > 0;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  get bytesSent(): number {
    return this.#bytes;
  }

  get mayJoin(): boolean {
    return !this.#isEnded && this.#bytes <= keptBytesMax && this.#readers.size < readersMax;
  }

  /** `onDone`: the reader has got everything, or its client has left. */
  join(exchange: Exchange, responder: Responder, onDone: () => void): void {
    const reader = new Reader(this, exchange, responder, onDone);
    this.#readers.add(reader);
    responder.drainListener = reader;
    if (this.#isStarted) {
      this.#open(reader);
      this.#pump(reader);
    }
  }

  onRoom(reader: Reader): void {
    this.#pump(reader);
    this.#resume();
  }

  /** The client of `exchange` has left; the others go on. */
  leave(exchange: Exchange): void {
    for (const reader of this.#readers) if (reader.exchange === exchange) this.#readers.delete(reader);
    if (this.#readers.size > 0) {
      this.#resume();
    } else if (!this.#isEnded) {
      this.#isEnded = true;
      this.onEnd();
      this.onAbandoned();
    }
  }

  send(status: number, headers: HeaderList, body: Uint8Array | string): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    this.start(status, headers, bytes.length);
    this.write(bytes);
    this.end();
  }

  start(status: number, headers: HeaderList, bodyBytes: number): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#status = status;
    this.#headers = headers;
    this.#length = bodyBytes;
    for (const reader of this.#readers) this.#open(reader);
  }

  write(chunk: Uint8Array): boolean {
    if (this.#isEnded) return true;
    if (chunk.length > 0) {
      this.#keep(chunk);
      this.#bytes += chunk.length;
    }
    for (const reader of this.#readers) this.#pump(reader);
    if (this.#bytes > keptBytesMax) this.#release();
    return this.#mayGoOn() || !(this.#isWaiting = true);
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#readUsage();
    this.onEnd();
    for (const reader of this.#readers) this.#pump(reader);
  }

  abort(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#isAborted = true;
    this.#readUsage();
    this.onEnd();
    for (const reader of this.#readers) this.#pump(reader);
  }

  /** The call may go on for slow readers after its first one has its record. */
  #readUsage(): void {
    const { running } = this.first;
    if (this.#readers.size > 0 && running !== null) this.usage = running.usage();
  }

  #open({ exchange, responder }: Reader): void {
    const { first } = this;
    // Whoever joined on its way to one target got the answer of the target that answered.
    exchange.provider = first.provider;
    exchange.providerSlug = first.providerSlug;
    exchange.targetPath = first.targetPath;
    exchange.unsupported = first.unsupported;
    exchange.isStream = first.isStream;
    beginAt(exchange, responder, this.#status, this.#headersFor(exchange), this.#length);
  }

  /** How the call ended, and what hooks said of its answer. */
  #settle({ exchange }: Reader): void {
    const { first } = this;
    if (exchange === first) return;
    exchange.ending = first.ending;
    exchange.errorCode = first.errorCode;
    if (first.hooks !== null) (exchange.hooks ??= new HookLog()).after = first.hooks.after;
  }

  /** The provider's headers are everybody's, and so is what was true of the call; ids, times and the cache's word are each request's own. */
  #headersFor(exchange: Exchange): HeaderList {
    const countAt = this.#headers.indexOf('x-gateway-retry-attempt-count');
    const headers = responseHeaders(exchange, countAt === -1 ? 0 : Number(this.#headers[countAt + 1]), null, '');
    for (let index = 0; index < this.#headers.length; index += 2) {
      const name = this.#headers[index] as string;
      if (name.startsWith('x-gateway-') || name === 'server-timing') continue;
      headers.push(name, this.#headers[index + 1] as string);
    }
    return headers;
  }

  #keep(chunk: Uint8Array): void {
    if (chunk.length >= smallBytes) {
      if (this.#block !== null) this.#closeBlock(this.#block);
      // A copy: the chunk is only lent.
      this.#pieces.push(Buffer.from(chunk));
      return;
    }
    if (this.#block !== null && this.#filled + chunk.length > this.#block.length) this.#closeBlock(this.#block);
    if (this.#block === null) {
      this.#block = Buffer.allocUnsafeSlow(blockBytes);
      this.#filled = 0;
      this.#pieces.push(this.#block);
    }
    this.#block.set(chunk, this.#filled);
    this.#filled += chunk.length;
  }

  /** The part that was read so far stays as it was. */
  #closeBlock(block: Uint8Array): void {
    this.#pieces[this.#pieces.length - 1] = block.subarray(0, this.#filled);
    this.#block = null;
  }

  #pump(reader: Reader): void {
    const { responder } = reader;
    while (!reader.isBlocked && reader.at < this.#pieces.length) {
      const piece = this.#pieces[reader.at] as Uint8Array;
      const { from } = reader;
      const isOpen = piece === this.#block;
      const to = isOpen ? this.#filled : piece.length;
      if (isOpen) {
        if (from === to) break;
        reader.from = to;
      } else {
        reader.at += 1;
        reader.from = 0;
      }
      if (from < to && !responder.write(from === 0 && to === piece.length ? piece : piece.subarray(from, to))) reader.isBlocked = true;
    }
    if (!this.#isEnded || !this.#isThrough(reader) || !this.#readers.delete(reader)) return;
    this.#settle(reader);
    if (this.#isAborted) responder.abort();
    else responder.end();
    reader.onDone();
  }

  #isThrough(reader: Reader): boolean {
    const left = this.#pieces.length - reader.at;
    return left === 0 || (left === 1 && this.#block !== null && reader.from === this.#filled);
  }

  /** Below the limit the answer is kept for the slow ones; above it they hold everybody back. */
  #mayGoOn(): boolean {
    if (this.#bytes - this.#released <= keptBytesMax) {
      for (const reader of this.#readers) if (!reader.isBlocked) return true;
      return this.#readers.size === 0;
    }
    for (const reader of this.#readers) if (reader.isBlocked) return false;
    return true;
  }

  #resume(): void {
    if (!this.#isWaiting || !this.#mayGoOn()) return;
    this.#isWaiting = false;
    if (this.drainListener !== null) this.drainListener.onDrain();
  }

  /** Lets go of what every reader has got. */
  #release(): void {
    let least = this.#pieces.length - (this.#block === null ? 0 : 1);
    for (const reader of this.#readers) least = Math.min(least, reader.at);
    for (; this.#gone < least; this.#gone += 1) {
      this.#released += this.#pieces[this.#gone]?.length ?? 0;
      this.#pieces[this.#gone] = null;
    }
  }
}
