// Hot: runs for each chunk of a stream that something on the route reads.
// Bytes -> events, the same however the bytes are cut. Decodes UTF-8 as it comes and leaves the grammar to eventsource-parser. Throws
// UPSTREAM_INVALID from push() or end() when one event grows beyond eventCharactersMax; who feeds it ends the stream then.

import { createParser, type EventSourceMessage, type EventSourceParser, type ParseError } from 'eventsource-parser';
import { isUtf8 } from 'node:buffer';
import { ByteCollector, type SseEvent } from '@gateway/plugin-sdk';
import { asBuffer } from '../body/cursor.js';
import { fail } from '../errors/gateway-error.js';

export const eventCharactersMax = 8 * 1024 * 1024;
/** The library counts the field names of an unfinished event too. */
const bufferedCharactersMax = eventCharactersMax + 65_536;
/** Of a line whose end has not come; a character has up to three bytes. */
const lineBytesMax = 3 * bufferedCharactersMax;
/** Of one event. A line costs more than the few bytes that may be in it. */
const linesMax = 100_000;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

export class SseParser {
  readonly #parser: EventSourceParser;
  readonly #decoder = new TextDecoder();
  /** The decoder holds part of a character, or has yet to see whether the stream begins with a byte order mark. */
  #isMidCharacter = true;
  /** Of a line whose end has not come: text would cost an object for each chunk. */
  readonly #begun = new ByteCollector();
  /** Lines that came in chunks without an event. */
  #lines = 0;
  #hasEvent = false;

  constructor(onEvent: (event: SseEvent) => void) {
    this.#parser = createParser({
      onEvent: (message: EventSourceMessage) => {
        if (message.data.length > eventCharactersMax) throw tooLong();
        this.#hasEvent = true;
        onEvent({ event: message.event, data: message.data });
      },
      onError: (error: ParseError) => {
        // Unknown fields and odd retry values are to be ignored, says the standard.
        if (error.type === 'max-buffer-size-exceeded') throw tooLong();
      },
      maxBufferSize: bufferedCharactersMax,
    });
    // The library looks for a mis-decoded byte order mark in its first chunk: it gets an empty one.
    this.#parser.feed('');
  }

  push(bytes: Uint8Array): void {
    let chunk = asBuffer(bytes);
    if (chunk.indexOf(lineFeed) === -1 && chunk.indexOf(carriageReturn) === -1) {
      this.#begun.appendCopy(chunk);
      if (this.#begun.length > lineBytesMax) throw tooLong();
      return;
    }
    if (this.#begun.length > 0) {
      this.#begun.appendCopy(chunk);
      chunk = asBuffer(this.#begun.take());
    }
    this.#hasEvent = false;
    this.#feed(chunk);
    if (this.#hasEvent) this.#lines = 0;
    else this.#countLines(chunk);
  }

  /** Delivers a last event whose blank line is missing. */
  end(): void {
    if (this.#begun.length > 0) this.#feed(asBuffer(this.#begun.take()));
    this.#parser.feed(`${this.#decoder.decode()}\n\n`);
  }

  #countLines(chunk: Buffer): void {
    let last = -2;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, at + 1)) {
      // A blank line: what came before was a comment, for example, and is forgotten.
      this.#lines = last === at - 1 || (last === at - 2 && chunk[at - 1] === carriageReturn) ? 0 : this.#lines + 1;
      last = at;
    }
    if (this.#lines > linesMax) throw tooLong();
  }

  #feed(chunk: Buffer): void {
    const { length } = chunk;
    if (!this.#isMidCharacter && isUtf8(chunk)) {
      this.#parser.feed(chunk.toString('utf8'));
      return;
    }
    const text = this.#decoder.decode(chunk, { stream: true });
    // An ASCII byte ends whatever character was open.
    this.#isMidCharacter = (chunk[length - 1] ?? 0) > 0x7f;
    if (text !== '') this.#parser.feed(text);
  }
}

const tooLong = (): Error =>
  fail('UPSTREAM_INVALID', { provider: 'the upstream', reason: `one event of the stream is longer than ${eventCharactersMax} characters or ${linesMax} lines` });
