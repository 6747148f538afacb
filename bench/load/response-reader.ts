// Reads HTTP/1.1 answers from a socket's bytes with as little work as correctness allows: status, then
// body spans without framing (by length, chunked, or until close), then the end. Nothing is copied but
// a head cut in two.
const headBytesMax = 64 * 1024;

export interface AnswerSink {
  onBody(bytes: Buffer, start: number, end: number): void;
  /** The whole answer arrived. */
  onEnd(): void;
}

type State = 'head' | 'length' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailer' | 'until-close';

export class ResponseReader {
  status = 0;
  #state: State = 'head';
  #left = 0;
  #line = '';
  #carry: Buffer | null = null;
  readonly #sink: AnswerSink;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  /** The peer closed: ends an answer that lasts until close. Says whether the answer was whole. */
  close(): boolean {
    if (this.#state !== 'until-close') return false;
    this.#state = 'head';
    this.#sink.onEnd();
    return true;
  }

  /** Takes bytes [0, length) of a buffer that is reused afterwards. */
  feed(received: Buffer, length: number): void {
    let bytes = received;
    let end = length;
    if (this.#carry !== null) {
      bytes = Buffer.concat([this.#carry, received.subarray(0, length)]);
      end = bytes.length;
      this.#carry = null;
    }
    let offset = 0;
    while (offset < end) {
      switch (this.#state) {
        case 'head': {
          const headEnd = bytes.indexOf('\r\n\r\n', offset, 'latin1');
          if (headEnd < 0 || headEnd + 4 > end) {
            if (end - offset > headBytesMax) throw new Error('answer head is too long');
            this.#carry = Buffer.from(bytes.subarray(offset, end));
            return;
          }
          this.#readHead(bytes.toString('latin1', offset, headEnd));
          offset = headEnd + 4;
          break;
        }
        case 'length':
        case 'chunk-data': {
          const spanEnd = Math.min(end, offset + this.#left);
          this.#sink.onBody(bytes, offset, spanEnd);
          this.#left -= spanEnd - offset;
          offset = spanEnd;
          if (this.#left > 0) break;
          if (this.#state === 'length') this.#finish();
          else this.#state = 'chunk-end';
          break;
        }
        case 'until-close':
          this.#sink.onBody(bytes, offset, end);
          offset = end;
          break;
        default:
          offset = this.#readLine(bytes, offset, end);
      }
    }
  }

  #readHead(head: string): void {
    this.status = Number(head.slice(9, 12));
    if (this.status >= 100 && this.status < 200) return;
    const length = /\r\ncontent-length: ?(\d+)/i.exec(head);
    if (length !== null) {
      this.#left = Number(length[1]);
      this.#state = 'length';
      if (this.#left === 0) this.#finish();
    } else if (/\r\ntransfer-encoding: ?chunked/i.test(head)) {
      this.#state = 'chunk-size';
      this.#line = '';
    } else if (this.status === 204 || this.status === 304) {
      this.#finish();
    } else {
      this.#state = 'until-close';
    }
  }

  /** The framing lines of a chunked body: byte by byte, they are short. */
  #readLine(bytes: Buffer, start: number, end: number): number {
    let offset = start;
    while (offset < end) {
      const byte = bytes[offset++] ?? 0;
      if (byte !== 10) {
        if (byte !== 13) this.#line += String.fromCharCode(byte);
        if (this.#line.length > 4096) throw new Error('answer has a framing line of more than 4096 bytes');
        continue;
      }
      const line = this.#line;
      this.#line = '';
      if (this.#state === 'chunk-end') this.#state = 'chunk-size';
      else if (this.#state === 'trailer') {
        if (line === '') this.#finish();
      } else {
        this.#left = Number.parseInt(line, 16);
        if (Number.isNaN(this.#left)) throw new Error('answer has a chunk without a size');
        this.#state = this.#left === 0 ? 'trailer' : 'chunk-data';
      }
      return offset;
    }
    return offset;
  }

  #finish(): void {
    this.#state = 'head';
    this.#sink.onEnd();
  }
}
