// The bodies and headers of one call, kept because its workspace or the call itself asks for it. Other calls have none of this. Each body is cut to
// its limit as it comes; what all calls of a thread hold so has a limit, too. Everything leaves here masked.

import type { FaultReport } from '../telemetry/fault-report.js';
import type { HookLog } from './hook-log.js';
import { answerHeaders, clientHeaders, maskedUrl, Secrets, upstreamHeaders } from './masking.js';
import type { RequestHead } from './request-head.js';

/** The call, as an exchange has it at its end. */
export interface KeptCall {
  readonly head: RequestHead;
  readonly bytes: Uint8Array;
  readonly sentBytes: Uint8Array | null;
  readonly hooks: HookLog | null;
  readonly ending: string;
  readonly errorCode: string;
}

export interface KeepRules {
  /** Of each body. */
  readonly bytesMax: number;
  /** Headers whose values are masked beside those that always are; in lower case. */
  readonly maskedHeaders: ReadonlySet<string>;
  /** Also what hooks changed, as it was before. */
  readonly keepsOriginal: boolean;
}

/** The most that answers of all calls under way in a thread may hold. */
const roomBytesMax = 32 * 1024 * 1024;
/** Beyond the limit of a body at the least, so that a secret at its end is seen whole. */
const slackBytes = 1024;
/** Tells a type of text from others. An unnamed one is taken for JSON. */
const textType = /^(?:$|text\/|application\/(?:[\w.+-]*\+)?(?:json|xml)\b|application\/(?:x-ndjson|jsonl|json-seq|x-www-form-urlencoded|graphql|javascript|yaml)\b)/i;
const mark = Buffer.from('…');
const nothing = Buffer.alloc(0);
const noNames: ReadonlySet<string> = new Set();

/** Bytes that the calls of a thread have kept so far. */
export class KeptRoom {
  bytes = 0;

  constructor(readonly dropped: Pick<FaultReport, 'add'>, readonly bytesMax: number = roomBytesMax) {}

  take(bytes: number): boolean {
    if (this.bytes + bytes > this.bytesMax) return false;
    this.bytes += bytes;
    return true;
  }
}

/** Smaller chunks share a block: each by itself would take many times its bytes. */
const blockBytes = 512;

/** A body as it comes in pieces. */
class Pieces {
  /** All full but the last one. */
  readonly #blocks: Buffer[] = [];
  #free = 0;
  /** Bytes of the body that are kept. */
  kept = 0;
  /** Bytes that the blocks take. */
  held = 0;
  length = 0;
  isDropped = false;

  /** False: there is no room. */
  add(chunk: Uint8Array, room: KeptRoom): boolean {
    const fitting = Math.min(this.#free, chunk.length);
    const rest = chunk.length - fitting;
    const size = rest === 0 ? 0 : Math.max(rest, blockBytes);
    if (!room.take(size)) return false;
    const last = this.#blocks.at(-1);
    last?.set(chunk.subarray(0, fitting), last.length - this.#free);
    this.#free -= fitting;
    if (size > 0) {
      const block = Buffer.allocUnsafe(size);
      block.set(chunk.subarray(fitting));
      this.#blocks.push(block);
      this.#free = size - rest;
    }
    this.held += size;
    this.kept += chunk.length;
    return true;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#blocks, this.kept);
  }

  giveBack(room: KeptRoom): void {
    room.bytes -= this.held;
    this.held = 0;
    this.kept = 0;
    this.#free = 0;
    this.#blocks.length = 0;
  }
}

interface Sent {
  readonly url: string;
  readonly headers: readonly string[];
  readonly body: Uint8Array | null;
  readonly isStreamed: boolean;
  /** Hooks judge the answer. */
  readonly isJudged: boolean;
  /** The body of the exchange then. */
  readonly of: Uint8Array;
}

export class KeptBodies {
  readonly #secrets = new Secrets();
  readonly #masked: ReadonlySet<string>;
  /** The client's body, where the gateway itself has made another one of it. */
  clientBytes: Uint8Array | null = null;
  #sent: Sent | null = null;
  #answer = new Pieces();
  #answerType = '';
  #isAnswerEncoded = false;
  readonly #response = new Pieces();
  #responseHeaders: readonly string[] = [];
  #isReleased = false;

  constructor(readonly exchange: KeptCall, readonly rules: KeepRules, readonly room: KeptRoom) {
    const listed = exchange.head.gatewayHeader('sensitive-headers');
    this.#masked = listed === undefined ? rules.maskedHeaders : new Set([...rules.maskedHeaders, ...listed.toLowerCase().split(',').map((name) => name.trim())]);
    const { authorization, gatewayHeaders } = exchange.head;
    if (authorization !== undefined) this.#secrets.addAuthorization(authorization);
    this.#secrets.addHeaders(exchange.head.headers);
    this.#secrets.addQuery(exchange.head.query);
    for (let index = 0; index < gatewayHeaders.length; index += 2) this.#secrets.addNamed({ [gatewayHeaders[index] as string]: gatewayHeaders[index + 1] });
  }

  /** A request goes up; what came of one before it is forgotten. `credentials`: members that are secret by their names are masked everywhere; `secretNames`: so are values of these headers. */
  sent(url: string, headers: readonly string[], body: unknown, isJudged: boolean, apiKey: string | undefined, credentials: Readonly<Record<string, unknown>>, secretNames: ReadonlySet<string> = noNames): void {
    this.#secrets.add(apiKey);
    if (secretNames.size > 0) this.#secrets.addOwnHeaders(headers, secretNames);
    this.#secrets.addNamed(credentials);
    this.#sent = { url, headers, body: body instanceof Uint8Array ? body : null, isJudged, isStreamed: body !== null && !(body instanceof Uint8Array), of: this.exchange.bytes };
    this.#answer.giveBack(this.room);
    this.#answer = new Pieces();
  }

  /** The head of the answer to it. */
  answered(contentType: string, isEncoded: boolean): void {
    this.#answerType = contentType;
    this.#isAnswerEncoded = isEncoded;
  }

  /** The chunk is lent. */
  answerChunk(chunk: Uint8Array): void {
    this.#append(this.#answer, chunk);
  }

  responded(headers: readonly string[]): void {
    this.#responseHeaders = headers;
  }

  /** The chunk is lent. */
  responseChunk(chunk: Uint8Array): void {
    this.#append(this.#response, chunk);
  }

  #append(pieces: Pieces, chunk: Uint8Array): void {
    if (this.#isReleased) return;
    pieces.length += chunk.length;
    const count = Math.min(chunk.length, this.#readMax - pieces.kept);
    if (count <= 0 || pieces.isDropped) return;
    if (pieces.add(chunk.subarray(0, count), this.room)) return;
    pieces.isDropped = true;
    this.room.dropped.add('calls under way', 'they hold too much');
  }

  get #readMax(): number {
    return this.rules.bytesMax + Math.max(slackBytes, this.#secrets.bytesMax);
  }

  /** In the order of `bodyNames` in core/logs/record-layout.ts. Called once, at the end; nothing is kept after it. */
  finish(): readonly Buffer[] {
    const { exchange, rules } = this;
    const { head } = exchange;
    const isChanged = exchange.sentBytes !== null && !rules.keepsOriginal;
    // Of an answer that was denied or broke off, hooks may not have said all they would.
    const isAnswerChanged = !rules.keepsOriginal && this.#sent !== null && this.#sent.isJudged && (exchange.hooks?.hasChangedAnswer === true || exchange.ending !== 'complete' || exchange.errorCode !== '');
    const bodies = [
      this.#text(clientHeaders(head.headers, head.gatewayHeaders, head.authorization !== undefined, this.#masked)),
      this.#whole(isChanged ? exchange.bytes : this.clientBytes ?? exchange.sentBytes ?? exchange.bytes, head.contentType),
      ...this.#sentParts(isChanged),
      isAnswerChanged ? leftOut('hooks changed the answer, or withheld it') : this.#came(this.#answer, this.#answerType, this.#isAnswerEncoded),
      this.#text(answerHeaders(this.#responseHeaders, this.#masked)),
      // Hooks may have put back into the answer what they took out of the request.
      isChanged ? leftOut('hooks changed the request') : this.#came(this.#response, headerOf(this.#responseHeaders, 'content-type'), headerOf(this.#responseHeaders, 'content-encoding') !== ''),
    ];
    this.release();
    return bodies;
  }

  /** May be called again. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#answer.giveBack(this.room);
    this.#response.giveBack(this.room);
    this.#sent = null;
    this.clientBytes = null;
  }

  #sentParts(isChanged: boolean): readonly Buffer[] {
    const sent = this.#sent;
    if (sent === null) return [nothing, nothing, nothing];
    const { url, headers, body, isStreamed, of } = sent;
    const parts = [this.#text(maskedUrl(url)), this.#text(upstreamHeaders(headers, this.exchange.head.headers, this.#masked))];
    if (isStreamed) return [...parts, leftOut('it was passed on as it came')];
    // A hook of a target that was tried later.
    if (isChanged && of !== this.exchange.bytes) return [...parts, leftOut('hooks changed the request')];
    return [...parts, body === null ? nothing : this.#whole(body, headerOf(headers, 'content-type'))];
  }

  #text(text: string): Buffer {
    return this.#secrets.masked(Buffer.from(text));
  }

  #whole(bytes: Uint8Array, type: string): Buffer {
    if (bytes.length === 0) return nothing;
    if (!textType.test(type)) return leftOut(`${bytes.length} bytes of ${type.slice(0, 128)}`);
    return this.#cut(Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, this.#readMax)), bytes.length);
  }

  #came(pieces: Pieces, type: string, isEncoded: boolean): Buffer {
    if (pieces.isDropped) return leftOut('there was no room for it');
    if (pieces.length === 0) return nothing;
    if (isEncoded || !textType.test(type)) return leftOut(`${pieces.length} bytes of ${isEncoded ? 'compressed ' : ''}${type.slice(0, 128)}`);
    return this.#cut(pieces.bytes(), pieces.length);
  }

  /** At most the limit, whole characters, with a mark where something is missing. */
  #cut(bytes: Buffer, length: number): Buffer {
    const clean = this.#secrets.masked(bytes);
    const isWhole = bytes.length === length;
    if (isWhole && clean.length <= this.rules.bytesMax) return clean;
    // At the end of what was read of a longer one a secret may stand in part; behind masked ones that can be before the limit.
    let end = Math.max(0, Math.min(this.rules.bytesMax, isWhole ? clean.length : clean.length - this.#secrets.bytesMax));
    while (end > 0 && ((clean[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    return Buffer.concat([clean.subarray(0, end), mark]);
  }
}

const leftOut = (why: string): Buffer => Buffer.from(`[not kept: ${why}]`);

function headerOf(headers: readonly string[], name: string): string {
  for (let index = 0; index < headers.length; index += 2) if (headers[index] === name) return headers[index + 1] as string;
  return '';
}
