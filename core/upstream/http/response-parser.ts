// Hot: runs for each read of an upstream's answer.
// HTTP/1.1 answers from bytes, cut anywhere. step() goes on until there is something to tell: a head, bytes of a body, the end, a fault, or that
// it needs more. It calls nobody, so whoever is told may do as he likes before the next step. Strict where two readers could see two
// different answers (README.md beside this file has the cases). The bytes it is given are its own to write on: the pieces of a body in chunks
// are moved together, so that one read gives one piece.

import { hashStart, hashStep, headerName, nameBytes } from './header-names.js';

/** What a step has come to. */
export type Step = 'more' | 'head' | 'body' | 'end' | 'fault';

/** The default of Node and undici. */
export const headBytesMax = 16_384;
export const headersMax = 500;
/** Of 1xx answers before the one that counts. */
export const interimMax = 32;
/** What stands behind the sizes of chunks says nothing to us; of one chunk so much of it is skipped. */
export const chunkExtensionBytesMax = 4_096;
const trailerBytesMax = headBytesMax;
/** 2^52 - 1 and below: all of them are exact numbers. */
const chunkDigitsMax = 13;
const lengthDigitsMax = 15;
const pieceBytes = 512;

export const faults = {
  notHttp: 'it does not begin with HTTP/1.0 or HTTP/1.1 and a status',
  tooLarge: 'response headers too large',
  tooMany: `more than ${headersMax} response headers`,
  name: 'invalid header: a name holds a character that it may not, or no colon follows it',
  value: 'invalid header: a value holds a control character, or its line does not end in CR LF',
  folded: 'invalid header: a line begins with white space',
  lengthRepeated: 'invalid content-length: there is more than one',
  length: 'invalid content-length: it is not a number',
  bothLengths: 'invalid framing: content-length and transfer-encoding in one answer',
  coding: 'invalid transfer-encoding: only chunked is known, once, in HTTP/1.1',
  switching: 'it switched protocols, which nobody asked for',
  interim: `more than ${interimMax} interim answers`,
  chunk: 'invalid chunk: its size is not a hexadecimal number that ends in CR LF',
  chunkEnd: 'invalid chunk: CR LF does not follow it',
  extension: `invalid chunk: its extension holds a control character, or more than ${chunkExtensionBytesMax} bytes`,
  trailer: 'invalid trailer: they are too large, or too many',
} as const;


// States.
const atStatus = 0, atHeader = 1, inSized = 2, inRest = 3, atSize = 4, inExtension = 5, atSizeFeed = 6, inChunk = 7, atChunkReturn = 8, atChunkFeed = 9, atTrailer = 10, ended = 11, failed = 12;

const tab = 0x09, feed = 0x0a, carriage = 0x0d, blank = 0x20, colon = 0x3a, semicolon = 0x3b, zero = 0x30, nine = 0x39;

/** 1: a header's value and a reason phrase may hold it. */
const valueBytes = new Uint8Array(256).fill(1, blank).fill(1, tab, tab + 1).fill(0, 0x7f, 0x80);
const hexValues = new Uint8Array(256).fill(255);
for (let digit = 0; digit < 16; digit += 1) for (const text of [digit.toString(16), digit.toString(16).toUpperCase()]) hexValues[text.charCodeAt(0)] = digit;
const httpOne = Buffer.from('HTTP/1.');

/** What a line turned out to be: the index behind it, or one of these. */
const incomplete = -1, faulty = -2;

export class ResponseParser {
  /** Of the last head. */
  status = 0;
  headers: string[] = [];
  /** Where the next step goes on. */
  at = 0;
  /** The bytes that a 'body' step gives. */
  bodyFrom = 0;
  bodyTo = 0;
  fault = '';
  /** The connection may take another request when the answer has ended. */
  keepsAlive = true;
  /** Of `keep-alive: timeout=5`; -1: it said nothing. */
  keepAliveSeconds = -1;

  #state = atStatus;
  #isHead = false;
  #minor = 1;
  /** Bytes of the head, or of the trailers, so far; the line that has begun does not count. */
  #headBytes = 0;
  #interims = 0;
  /** Lines of trailers. */
  #trailers = 0;
  /** -1: there is none. */
  #length = -1;
  #isChunked = false;
  #hasClose = false;
  #hasKeepAlive = false;
  /** Of the body or the chunk, still to come. */
  #left = 0;
  #digits = 0;
  #extensionBytes = 0;
  /** The beginning of a line whose end has not come. */
  #piece: Buffer | null = null;
  #pieceLength = 0;
  /** Values found in the bytes at hand and not read yet: from, to, ... The last names in `headers` have none. */
  readonly #spans = new Int32Array(2 * headersMax);
  #spanCount = 0;

  /** Before each answer. `isHead`: the request was a HEAD, whose answer has no body. */
  begin(isHead: boolean): void {
    this.#isHead = isHead;
    this.#interims = 0;
    this.#beginHead();
    this.keepsAlive = true;
  }

  get hasEnded(): boolean {
    return this.#state === ended;
  }

  /** From `at` to `to`. Call it again until it says 'more', 'end' or 'fault'; it starts at `this.at`. */
  step(bytes: Buffer, to: number): Step {
    this.bodyFrom = -1;
    for (;;) {
      switch (this.#state) {
        case atStatus:
        case atHeader:
        case atTrailer: {
          const before = this.#state;
          if (!this.#lines(bytes, to)) return this.bodyFrom >= 0 ? 'body' : 'more';
          // The head is whole, and it is not one of those before the answer.
          if (before !== atTrailer && this.#isPastHead()) return 'head';
          break;
        }
        case ended:
          return this.bodyFrom >= 0 ? 'body' : 'end';
        case failed:
          return this.bodyFrom >= 0 ? 'body' : 'fault';
        case inRest:
          if (this.at === to) return 'more';
          this.bodyFrom = this.at;
          this.bodyTo = to;
          this.at = to;
          return 'body';
        case inSized: {
          if (this.at === to) return 'more';
          const count = Math.min(this.#left, to - this.at);
          this.bodyFrom = this.at;
          this.bodyTo = this.at + count;
          this.at += count;
          this.#left -= count;
          if (this.#left === 0) this.#state = ended;
          return 'body';
        }
        default:
          if (!this.#chunks(bytes, to)) return this.bodyFrom >= 0 ? 'body' : 'more';
      }
    }
  }

  /** The connection has ended: true when that ends the answer too. False with a `fault`: what had begun was wrong already. */
  end(): boolean {
    if (this.#state === inRest) {
      this.#state = ended;
      return true;
    }
    if (this.#pieceLength > 0) this.#judgePiece();
    return false;
  }

  #beginHead(): void {
    this.#state = atStatus;
    this.status = 0;
    this.headers = [];
    this.fault = '';
    this.keepAliveSeconds = -1;
    this.#minor = 1;
    this.#headBytes = 0;
    this.#trailers = 0;
    this.#length = -1;
    this.#isChunked = false;
    this.#hasClose = false;
    this.#hasKeepAlive = false;
    this.#left = 0;
    this.#pieceLength = 0;
    this.#spanCount = 0;
  }

  #fail(fault: string): void {
    this.fault = fault;
    this.keepsAlive = false;
    this.#state = failed;
    this.#spanCount = 0;
  }

  // ---- lines: the head and the trailers ----

  /** False: more is needed. Else the state has moved on from the lines of a head or of trailers. */
  #lines(bytes: Buffer, to: number): boolean {
    const begun = this.#state;
    if (this.#pieceLength > 0) {
      if (!this.#completePiece(bytes, to)) return false;
      if (!this.#isWithin(begun)) return true;
    }
    const from = this.at;
    do {
      const start = this.at;
      const room = this.#room();
      const limit = to - start > room ? start + room : to;
      const behind = this.#line(bytes, start, limit);
      // Nothing of a head that is wrong is told.
      if (behind === faulty) return true;
      if (behind === incomplete) {
        if (limit < to) {
          this.#fail(this.#state === atTrailer ? faults.trailer : faults.tooLarge);
          return true;
        }
        this.#takeValues(bytes, from, start);
        this.#keepPiece(bytes, start, to);
        this.#judgeBeginning();
        return this.#state === failed;
      }
      this.at = behind;
      this.#headBytes += behind - start;
    } while (this.#isWithin(begun));
    if (this.#state !== failed) this.#takeValues(bytes, from, this.at);
    return true;
  }

  /** The lines that began so go on. */
  #isWithin(begun: number): boolean {
    return this.#state === begun || (begun === atStatus && this.#state === atHeader);
  }

  /** What a line may have at the most. */
  #room(): number {
    return (this.#state === atTrailer ? trailerBytesMax : headBytesMax) - this.#headBytes;
  }

  /** The end of a line whose beginning came in an earlier read. False: it has not come yet. */
  #completePiece(bytes: Buffer, to: number): boolean {
    const { at } = this;
    const limit = Math.min(to, at + this.#room() - this.#pieceLength);
    let end = at;
    let before = (this.#piece as Buffer)[this.#pieceLength - 1] as number;
    for (; end < limit; end += 1) {
      const byte = bytes[end] as number;
      if (byte === feed) break;
      if (before === carriage || (valueBytes[byte] === 0 && byte !== carriage)) {
        // No line may hold that: it need not come to its end.
        this.#keepPiece(bytes, at, end + 1);
        this.#judgePiece();
        if (!this.#isFailed()) this.#fail(faults.value);
        return true;
      }
      before = byte;
    }
    if (end === limit) {
      this.#keepPiece(bytes, at, limit);
      if (limit === to) {
        this.#judgeBeginning();
        return this.#isFailed();
      }
      this.#judgePiece();
      if (!this.#isFailed()) this.#fail(this.#state === atTrailer ? faults.trailer : faults.tooLarge);
      return true;
    }
    this.#keepPiece(bytes, at, end + 1);
    const piece = this.#piece as Buffer;
    const length = this.#pieceLength;
    this.#pieceLength = 0;
    // A large one is not held for the rest of the connection.
    this.#piece = null;
    const behind = this.#line(piece, 0, length);
    if (behind === incomplete) this.#fail(faults.value);
    if (behind < 0) return true;
    this.#headBytes += length;
    this.#takeValues(piece, 0, length);
    return true;
  }

  #isFailed(): boolean {
    return this.#state === failed;
  }

  #isPastHead(): boolean {
    return this.#state > atHeader && this.#state !== failed;
  }

  #keepPiece(bytes: Buffer, from: number, to: number): void {
    const length = this.#pieceLength + to - from;
    if (this.#piece === null || this.#piece.length < length) {
      const larger = Buffer.allocUnsafe(Math.max(pieceBytes, 2 * length));
      if (this.#piece !== null) this.#piece.copy(larger, 0, 0, this.#pieceLength);
      this.#piece = larger;
    }
    bytes.copy(this.#piece, this.#pieceLength, from, to);
    this.#pieceLength = length;
    this.at = to;
  }

  /** Who speaks another protocol may never end a line. */
  #judgeBeginning(): void {
    if (this.#state === atStatus && this.#pieceLength <= 16) this.#judgePiece();
  }

  /** Is what there is of a line wrong already? */
  #judgePiece(): void {
    const piece = this.#piece;
    if (piece !== null) this.#line(piece, 0, this.#pieceLength);
  }

  /** Index behind the line, `incomplete` or `faulty`. Behind the empty line that ends a head or the trailers the state has moved on. */
  #line(bytes: Buffer, from: number, to: number): number {
    return this.#state === atStatus ? this.#statusLine(bytes, from, to) : this.#headerLine(bytes, from, to);
  }

  #faulty(fault: string): number {
    this.#fail(fault);
    return faulty;
  }

  #statusLine(bytes: Buffer, from: number, to: number): number {
    const known = Math.min(7, to - from);
    for (let index = 0; index < known; index += 1) if (bytes[from + index] !== httpOne[index]) return this.#faulty(faults.notHttp);
    if (to - from > 7) {
      const minor = bytes[from + 7] as number;
      if (minor !== zero && minor !== zero + 1) return this.#faulty(faults.notHttp);
      if (to - from > 8 && bytes[from + 8] !== blank) return this.#faulty(faults.notHttp);
    }
    let status = 0;
    const digitsTo = Math.min(from + 12, to);
    for (let index = from + 9; index < digitsTo; index += 1) {
      const digit = bytes[index] as number;
      if (digit < zero || digit > nine || (index === from + 9 && digit === zero)) return this.#faulty(faults.notHttp);
      status = status * 10 + digit - zero;
    }
    let index = from + 12;
    if (index >= to) return incomplete;
    if (bytes[index] !== carriage && bytes[index] !== blank) return this.#faulty(faults.notHttp);
    while (index < to && valueBytes[bytes[index] as number] === 1) index += 1;
    if (index === to) return incomplete;
    if (bytes[index] !== carriage) return this.#faulty(faults.notHttp);
    if (index + 1 === to) return incomplete;
    if (bytes[index + 1] !== feed) return this.#faulty(faults.notHttp);
    this.status = status;
    this.#minor = (bytes[from + 7] as number) - zero;
    this.#state = atHeader;
    return index + 2;
  }

  #headerLine(bytes: Buffer, from: number, to: number): number {
    if (from === to) return incomplete;
    const first = bytes[from] as number;
    if (first === carriage) {
      if (from + 1 === to) return incomplete;
      if (bytes[from + 1] !== feed) return this.#faulty(faults.value);
      if (this.#state === atTrailer) this.#state = ended;
      else this.#endHead();
      return from + 2;
    }
    if (first === blank || first === tab) return this.#faulty(faults.folded);
    let hash = hashStart;
    let at = from;
    for (; at < to; at += 1) {
      const lower = nameBytes[bytes[at] as number] as number;
      if (lower === 0) break;
      hash = hashStep(hash, lower);
    }
    if (at === to) return incomplete;
    if (bytes[at] !== colon || at === from) return this.#faulty(faults.name);
    const nameTo = at;
    at += 1;
    while (at < to && (bytes[at] === blank || bytes[at] === tab)) at += 1;
    const valueFrom = at;
    while (at < to && valueBytes[bytes[at] as number] === 1) at += 1;
    if (at === to) return incomplete;
    if (bytes[at] !== carriage) return this.#faulty(faults.value);
    if (at + 1 === to) return incomplete;
    if (bytes[at + 1] !== feed) return this.#faulty(faults.value);
    let valueTo = at;
    while (valueTo > valueFrom && (bytes[valueTo - 1] === blank || bytes[valueTo - 1] === tab)) valueTo -= 1;
    if (this.#state === atTrailer) {
      this.#trailers += 1;
      return this.#trailers > headersMax ? this.#faulty(faults.trailer) : at + 2;
    }
    const name = headerName(bytes, from, nameTo, hash);
    if (this.headers.length >= 2 * headersMax) return this.#faulty(faults.tooMany);
    const fault = this.#look(name, bytes, valueFrom, valueTo, at);
    if (fault !== '') return this.#faulty(fault);
    this.headers.push(name, '');
    this.#spans[this.#spanCount] = valueFrom;
    this.#spans[this.#spanCount + 1] = valueTo;
    this.#spanCount += 2;
    return at + 2;
  }

  /** Headers that say where the answer ends and what becomes of the connection. Gives a fault, or ''. */
  #look(name: string, bytes: Buffer, from: number, to: number, end: number): string {
    switch (name.length) {
      // Spaces may stand behind the number; a tab is seen as part of it by others.
      case 14: return name !== 'content-length' ? '' : to < end && bytes.subarray(to, end).includes(tab) ? faults.length : this.#lookAtLength(bytes, from, to);
      case 17:
        if (name !== 'transfer-encoding') return '';
        if (this.#isChunked || bytes.toString('latin1', from, to).toLowerCase() !== 'chunked') return faults.coding;
        if (this.#length !== -1) return faults.bothLengths;
        this.#isChunked = true;
        return '';
      case 10:
        if (name === 'connection') this.#lookAtConnection(bytes.toString('latin1', from, to).toLowerCase());
        else if (name === 'keep-alive') this.keepAliveSeconds = secondsOf(bytes.toString('latin1', from, to));
        return '';
      default: return '';
    }
  }

  #lookAtLength(bytes: Buffer, from: number, to: number): string {
    if (this.#length !== -1) return faults.lengthRepeated;
    if (this.#isChunked) return faults.bothLengths;
    if (from === to || to - from > lengthDigitsMax) return faults.length;
    let length = 0;
    for (let index = from; index < to; index += 1) {
      const digit = bytes[index] as number;
      if (digit < zero || digit > nine) return faults.length;
      length = length * 10 + digit - zero;
    }
    this.#length = length;
    return '';
  }

  #lookAtConnection(value: string): void {
    if (value === 'keep-alive') {
      this.#hasKeepAlive = true;
      return;
    }
    for (const word of value.split(',')) {
      const option = word.trim();
      if (option === 'close') this.#hasClose = true;
      else if (option === 'keep-alive') this.#hasKeepAlive = true;
    }
  }

  /** Reads the values that were found between `from` and `to`, all with one string. */
  #takeValues(bytes: Buffer, from: number, to: number): void {
    const count = this.#spanCount;
    if (count === 0) return;
    this.#spanCount = 0;
    const text = bytes.toString('latin1', from, to);
    const { headers } = this;
    let index = headers.length - count + 1;
    for (let span = 0; span < count; span += 2) {
      headers[index] = text.slice((this.#spans[span] as number) - from, (this.#spans[span + 1] as number) - from);
      index += 2;
    }
  }

  #endHead(): void {
    const { status } = this;
    if (status < 200) {
      this.#interims += 1;
      if (status === 101) this.#fail(faults.switching);
      else if (this.#interims > interimMax) this.#fail(faults.interim);
      else this.#beginHead();
      return;
    }
    if (this.#isChunked && this.#minor === 0) {
      this.#fail(faults.coding);
      return;
    }
    this.#headBytes = 0;
    this.keepsAlive = this.#minor === 1 ? !this.#hasClose : this.#hasKeepAlive && !this.#hasClose;
    if (this.#isHead || status === 204 || status === 304) {
      // Servers that send a body all the same would have it read as the next answer.
      if (this.#isHead || (status === 204 && (this.#isChunked || this.#length > 0)) || (status === 304 && this.#isChunked)) this.keepsAlive = false;
      this.#state = ended;
    } else if (this.#isChunked) {
      this.#startChunk(atSize);
    } else if (this.#length === -1) {
      this.keepsAlive = false;
      this.#state = inRest;
    } else {
      this.#left = this.#length;
      this.#state = this.#length === 0 ? ended : inSized;
    }
  }

  // ---- bodies in chunks ----

  #startChunk(state: number): void {
    this.#state = state;
    this.#left = 0;
    this.#digits = 0;
    this.#extensionBytes = 0;
  }

  /** False: more is needed. Else the state has moved on to trailers or a fault. */
  #chunks(bytes: Buffer, to: number): boolean {
    let { at } = this;
    while (at < to) {
      const byte = bytes[at] as number;
      switch (this.#state) {
        case atSize: {
          const digit = hexValues[byte] as number;
          if (digit !== 255 && this.#digits < chunkDigitsMax) {
            this.#left = this.#left * 16 + digit;
            this.#digits += 1;
          } else if (this.#digits === 0 || (byte !== carriage && byte !== semicolon)) {
            this.at = at;
            this.#fail(faults.chunk);
            return true;
          } else {
            this.#state = byte === carriage ? atSizeFeed : inExtension;
          }
          at += 1;
          break;
        }
        case inExtension:
          if (byte === carriage) {
            this.#state = atSizeFeed;
          } else {
            this.#extensionBytes += 1;
            if (valueBytes[byte] === 0 || this.#extensionBytes > chunkExtensionBytesMax) {
              this.at = at;
              this.#fail(faults.extension);
              return true;
            }
          }
          at += 1;
          break;
        case atSizeFeed:
          if (byte !== feed) {
            this.at = at;
            this.#fail(faults.chunk);
            return true;
          }
          at += 1;
          if (this.#left === 0) {
            this.at = at;
            this.#state = atTrailer;
            return true;
          }
          this.#state = inChunk;
          break;
        case inChunk: {
          const count = Math.min(this.#left, to - at);
          if (this.bodyFrom < 0) {
            this.bodyFrom = at;
            this.bodyTo = at + count;
          } else {
            bytes.copyWithin(this.bodyTo, at, at + count);
            this.bodyTo += count;
          }
          at += count;
          this.#left -= count;
          if (this.#left === 0) this.#state = atChunkReturn;
          break;
        }
        default:
          if (byte !== (this.#state === atChunkReturn ? carriage : feed)) {
            this.at = at;
            this.#fail(faults.chunkEnd);
            return true;
          }
          at += 1;
          if (this.#state === atChunkReturn) this.#state = atChunkFeed;
          else this.#startChunk(atSize);
      }
    }
    this.at = at;
    return false;
  }
}

/** Of `timeout=5, max=100`; -1: it does not say. */
function secondsOf(value: string): number {
  const found = /(?:^|[,; \t])timeout="?(\d{1,9})/i.exec(value);
  return found === null ? -1 : Number(found[1]);
}
