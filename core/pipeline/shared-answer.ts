// Hot: runs for each chunk of an answer that several clients share.
// One upstream call for identical requests in flight: stands in the place of the first request's responder, keeps the answer while it passes,
// and writes it to everybody who has joined, each at the pace of its own client. Who joins late gets what has passed and then goes along.

import type { Exchange } from '../exchange/exchange.js';
import type { HeaderList, Responder } from '../exchange/responder.js';
import { answerHeaders } from './answer-headers.js';

/** Of an answer so much is kept for those who read it more slowly, or join later. Beyond it nobody may join, and the slowest sets the pace. */
const keptBytesMax = 16 * 1024 * 1024;
/** Clients of one answer. */
const readersMax = 1000;

interface Reader {
  readonly exchange: Exchange;
  readonly responder: Responder;
  /** The next chunk to write. */
  at: number;
  isBlocked: boolean;
  readonly onDone: () => void;
}

export class SharedAnswer implements Responder {
  onDrain: (() => void) | null = null;
  readonly #readers = new Set<Reader>();
  readonly #chunks: (Uint8Array | null)[] = [];
  #bytes = 0;
  /** Chunks at the beginning that nobody needs any more, and their bytes. */
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

  /** `onEnd`: nobody can join any more. `onAbandoned`: nobody is left to read, and the answer has not ended. */
  constructor(readonly onEnd: () => void, readonly onAbandoned: () => void) {}

  get isOpen(): boolean {
    return !this.#isEnded && this.#readers.size > 0;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  get bytesSent(): number {
    return this.#bytes;
  }

  get readers(): number {
    return this.#readers.size;
  }

  get mayJoin(): boolean {
    return !this.#isEnded && this.#bytes <= keptBytesMax && this.#readers.size < readersMax;
  }

  /** `onDone`: the reader has got everything, or its client has left. */
  join(exchange: Exchange, responder: Responder, onDone: () => void): void {
    const reader: Reader = { exchange, responder, at: 0, isBlocked: false, onDone };
    this.#readers.add(reader);
    responder.onDrain = () => {
      reader.isBlocked = false;
      this.#pump(reader);
      this.#resume();
    };
    if (this.#isStarted) {
      this.#open(reader);
      this.#pump(reader);
    }
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
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
    }
    for (const reader of this.#readers) this.#pump(reader);
    if (this.#bytes > keptBytesMax) this.#release();
    return this.#mayGoOn() || !(this.#isWaiting = true);
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.onEnd();
    for (const reader of this.#readers) this.#pump(reader);
  }

  abort(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#isAborted = true;
    this.onEnd();
    for (const reader of this.#readers) this.#pump(reader);
  }

  #open(reader: Reader): void {
    reader.exchange.status = this.#status;
    reader.exchange.firstByteAt = performance.now();
    reader.responder.start(this.#status, this.#headersFor(reader.exchange), this.#length);
  }

  /** The provider's headers are everybody's, the gateway's are each request's own. */
  #headersFor(exchange: Exchange): HeaderList {
    const headers = answerHeaders(exchange, 0, null);
    for (let index = 0; index < this.#headers.length; index += 2) {
      const name = this.#headers[index] as string;
      if (name.startsWith('x-gateway-') || name === 'server-timing') continue;
      headers.push(name, this.#headers[index + 1] as string);
    }
    return headers;
  }

  #pump(reader: Reader): void {
    const { responder } = reader;
    while (!reader.isBlocked && reader.at < this.#chunks.length) {
      const chunk = this.#chunks[reader.at] as Uint8Array;
      reader.at += 1;
      if (!responder.write(chunk)) reader.isBlocked = true;
    }
    if (!this.#isEnded || reader.at < this.#chunks.length || !this.#readers.delete(reader)) return;
    if (this.#isAborted) responder.abort();
    else responder.end();
    reader.onDone();
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
    if (this.onDrain !== null) this.onDrain();
  }

  /** Lets go of what every reader has got. */
  #release(): void {
    let least = this.#chunks.length;
    for (const reader of this.#readers) least = Math.min(least, reader.at);
    for (; this.#gone < least; this.#gone += 1) {
      this.#released += this.#chunks[this.#gone]?.length ?? 0;
      this.#chunks[this.#gone] = null;
    }
  }
}
