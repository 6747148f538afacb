// Hot: runs for each chunk of an answer.
// The answer on its way to the client. Chunks that arrive in one read of the upstream socket leave in one write: they are gathered until the
// end of that read. A write that finds no room says so, and the relay pauses the upstream; what is held here stays below two reads.

import { addressText } from './client-connections.js';
import type { DrainListener, HeaderList, Responder } from '../exchange/responder.js';
import { atTurnEnd, type TurnWork } from '../upstream/turn.js';
import { isCorsHeader } from './cors.js';
import { statusLine } from './status-line.js';
import type { UwsResponse } from './uws.js';

const beyondAscii = /[^\x00-\x7f]/;

/** So many chunks of one task are joined: the framing of each costs more than the copy. */
const joinedFrom = 16;

export interface WriterOwner {
  /** The answer has left, whole or not. */
  onAnswered(): void;
  /** The answer has left before the body came, and the connection is still open. */
  onAnsweredEarly(): void;
  /** More of the body is on its way than may come behind an answer on a connection that stays. */
  readonly isBodyUnread: boolean;
  /** The connection must not be used again: the request's framing is broken, its body is unread, or the gateway is shutting down. */
  readonly mustClose: boolean;
}

const sendEarly = (writer: ResponseWriter): void => writer.sendEarly();

export class ResponseWriter implements Responder, TurnWork {
  isOpen = true;
  isStarted = false;
  /** Counted when taken: the log record is made before the bytes have left. */
  bytesSent = 0;
  drainListener: DrainListener | null = null;
  /** Of the edge, beside those of the answer; null: it has none to add. */
  ownHeaders: HeaderList | null = null;

  /** Bytes of body in the library's hands. */
  #written = 0;
  #status = 0;
  #headers: HeaderList = [];
  /** Announced length of the body; -1: chunked. */
  #bodyBytes = -1;
  #isHeadSent = false;
  #isEnded = false;
  #isFlushPlanned = false;
  #hasWaiter = false;
  #first: Uint8Array | null = null;
  #more: Uint8Array[] | null = null;
  /** What tryEnd() did not take of the last chunk, and the offset in the body where that chunk began. */
  #rest: Uint8Array | null = null;
  #restAt = 0;
  readonly #flushCorked = (): void => this.#flush();

  constructor(readonly response: UwsResponse, readonly owner: WriterOwner) {}

  clientAddress(): string {
    return this.isOpen ? addressText(new Uint8Array(this.response.getRemoteAddress())) : '';
  }

  send(status: number, headers: HeaderList, body: Uint8Array | string): void {
    if (!this.isOpen) return;
    if (this.isStarted) {
      // Too late for another answer; the one that began must not look whole.
      this.abort();
      return;
    }
    this.isStarted = true;
    this.#isEnded = true;
    this.#status = status;
    this.#headers = headers;
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    this.bytesSent = bytes.length;
    this.#first = bytes;
    // What came in the same read is known to be here a moment later.
    if (this.owner.isBodyUnread) setImmediate(sendEarly, this);
    else this.response.cork(this.#flushCorked);
  }

  sendEarly(): void {
    if (!this.isOpen) return;
    const bytes = this.#first;
    if (bytes === null || bytes.length === 0 || !this.owner.isBodyUnread || !isJson(this.#headers)) this.response.cork(this.#flushCorked);
    else this.response.cork(() => this.#flushEarly(bytes));
  }

  start(status: number, headers: HeaderList, bodyBytes: number): void {
    if (!this.isOpen || this.isStarted) return;
    this.isStarted = true;
    this.#status = status;
    this.#headers = headers;
    this.#bodyBytes = bodyBytes;
    this.#plan();
  }

  write(chunk: Uint8Array): boolean {
    if (!this.isOpen || this.#isEnded) return true;
    if (chunk.length > 0) {
      this.bytesSent += chunk.length;
      // What leaves at the end of the task may be lent; what has to wait for room is the writer's own.
      const kept = this.#hasWaiter ? Buffer.from(chunk) : chunk;
      if (this.#first === null) this.#first = kept;
      else if (this.#more === null) this.#more = [kept];
      else this.#more.push(kept);
      if (!this.#isFlushPlanned && !this.#hasWaiter) this.#plan();
    }
    return !this.#hasWaiter;
  }

  end(): void {
    if (!this.isOpen || this.#isEnded) return;
    this.#isEnded = true;
    if (!this.#isFlushPlanned && !this.#hasWaiter) this.#plan();
  }

  abort(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.response.close();
  }

  /** The client left: nothing of the library may be touched any more. */
  onGone(): void {
    this.isOpen = false;
    this.#first = null;
    this.#more = null;
    this.#rest = null;
    this.drainListener = null;
  }

  #plan(): void {
    this.#isFlushPlanned = true;
    atTurnEnd(this);
  }

  onTurnEnd(): void {
    this.#isFlushPlanned = false;
    if (this.isOpen) this.response.cork(this.#flushCorked);
  }

  #flush(): void {
    if (this.#rest !== null) return;
    const first = this.#first;
    const more = this.#more;
    this.#first = null;
    this.#more = null;
    const isWhole = this.#isEnded && !this.#isHeadSent && more === null;
    if (!this.#isHeadSent) this.#writeHead(isWhole);
    if (isWhole) {
      this.#finish(first);
      return;
    }
    if (this.#bodyBytes >= 0) {
      this.#writeSized(first, more);
      return;
    }
    const { response } = this;
    let hasRoom = true;
    if (first !== null) {
      this.#written += first.length;
      hasRoom = response.write(first);
    }
    if (more !== null && more.length >= joinedFrom) {
      const chunk = Buffer.concat(more);
      this.#written += chunk.length;
      hasRoom = response.write(chunk);
    } else if (more !== null) {
      for (let index = 0; index < more.length; index += 1) {
        const chunk = more[index] as Uint8Array;
        this.#written += chunk.length;
        hasRoom = response.write(chunk);
      }
    }
    if (this.#isEnded) this.#finish(null);
    else if (!hasRoom) this.#wait();
  }

  /** A body of announced length: the library counts it and ends by itself with the last byte. */
  #writeSized(first: Uint8Array | null, more: Uint8Array[] | null): void {
    const chunk = first === null ? null : more === null ? first : Buffer.concat([first, ...more]);
    if (chunk !== null && this.#written + chunk.length > this.#bodyBytes) {
      // The client would take what stands behind the announced length for its next answer.
      this.abort();
      return;
    }
    if (chunk !== null && !this.#trySized(chunk, false)) return;
    if (this.isOpen && this.#isEnded) {
      // Fewer bytes than announced: the client must see that the answer is not whole.
      if (this.#written < this.#bodyBytes) this.abort();
      else this.#close();
    }
  }

  /** False when the client took only a part: the rest waits for room. */
  #trySized(chunk: Uint8Array, isOwn: boolean): boolean {
    const startedAt = this.#written;
    const [isTaken, isDone] = this.response.tryEnd(chunk, this.#bodyBytes);
    if (isDone) {
      this.#written = this.#bodyBytes;
      this.#close();
      return true;
    }
    if (isTaken) {
      this.#written += chunk.length;
      return true;
    }
    this.#rest = isOwn ? chunk : Buffer.from(chunk);
    this.#restAt = startedAt;
    this.#wait();
    return false;
  }

  #wait(): void {
    if (this.#hasWaiter) return;
    this.#hasWaiter = true;
    this.response.onWritable((offset) => this.#onWritable(offset));
  }

  #onWritable(offset: number): boolean {
    if (!this.isOpen) return true;
    const rest = this.#rest;
    if (rest !== null) {
      const unsent = rest.subarray(offset - this.#restAt);
      this.#rest = null;
      this.#written = offset;
      this.#hasWaiter = false;
      if (!this.#trySized(unsent, true)) return false;
      if (!this.isOpen) return true;
    }
    this.#hasWaiter = false;
    if (this.#first !== null || this.#isEnded) this.response.cork(this.#flushCorked);
    if (!this.#hasWaiter && this.isOpen && this.drainListener !== null) this.drainListener.onDrain();
    return true;
  }

  #writeHead(isWhole: boolean): void {
    const { response } = this;
    const headers = this.#headers;
    this.#isHeadSent = true;
    response.writeStatus(statusLine(this.#status));
    const { ownHeaders } = this;
    // One call for all of them, since each into the library costs as much as the header: the others stand in the value of the first.
    let first = '';
    let block = '';
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] as string;
      if (ownHeaders !== null && isCorsHeader(name)) continue;
      if (first === '') {
        first = name;
        block = headers[index + 1] as string;
      } else {
        block += `\r\n${name}: ${headers[index + 1] as string}`;
      }
    }
    // Values are bytes, one for each character; the library would write a string as UTF-8.
    if (first !== '') response.writeHeader(first, beyondAscii.test(block) ? Buffer.from(block, 'latin1') : block);
    if (ownHeaders !== null) for (let index = 0; index < ownHeaders.length; index += 2) response.writeHeader(ownHeaders[index] as string, ownHeaders[index + 1] as string);
    // For a whole answer end() writes it.
    if (!isWhole && this.owner.mustClose) response.writeHeader('connection', 'close');
  }

  /**
   * A whole answer while the client is still sending. Ended, it would leave the library's hands at once or be closed at once, which resets
   * the connection; so it is not ended. The body follows the last header, as part of its value; the line end that the library adds behind
   * it is white space at the end of the JSON, and counted.
   */
  #flushEarly(bytes: Uint8Array): void {
    this.#first = null;
    this.#writeHead(false);
    const length = Buffer.from(`${bytes.length + 2}\r\n\r\n`);
    this.response.writeHeader('content-length', Buffer.concat([length, bytes]));
    this.isOpen = false;
    this.drainListener = null;
    this.owner.onAnsweredEarly();
  }

  #finish(body: Uint8Array | null): void {
    const { mustClose } = this.owner;
    if (body !== null && body.length > 0) {
      this.#written += body.length;
      this.response.end(body, mustClose);
    } else if (this.#status === 204 || this.#status === 304) {
      // With any argument, or an empty body, it would announce a length, which these statuses do not have.
      this.response.endWithoutBody();
    } else {
      // Behind chunks the library would write its closing header among them. The head has told the client, or shutdown closes the connection.
      this.response.end(undefined, mustClose && this.#written === 0);
    }
    this.#close();
  }

  #close(): void {
    this.isOpen = false;
    this.drainListener = null;
    this.owner.onAnswered();
  }
}

const isJson = (headers: HeaderList): boolean => {
  for (let index = 0; index < headers.length; index += 2) if (headers[index] === 'content-type') return headers[index + 1] === 'application/json';
  return false;
};
