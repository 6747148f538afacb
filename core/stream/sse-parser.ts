// Hot: runs for each chunk of a stream that something on the route reads.
// Bytes -> events, the same however the bytes are cut. Decodes UTF-8 as it comes and leaves the grammar to eventsource-parser. Throws
// UPSTREAM_INVALID from push() or end() when one event grows beyond eventCharactersMax; who feeds it ends the stream then.

import { createParser, type EventSourceMessage, type EventSourceParser, type ParseError } from 'eventsource-parser';
import { isUtf8 } from 'node:buffer';
import type { SseEvent } from '@gateway/plugin-sdk';
import { asBuffer } from '../body/cursor.js';
import { fail } from '../errors/gateway-error.js';

export const eventCharactersMax = 8 * 1024 * 1024;
/** The library counts the field names of an unfinished event too. */
const bufferedCharactersMax = eventCharactersMax + 65_536;

export class SseParser {
  readonly #parser: EventSourceParser;
  readonly #decoder = new TextDecoder();
  /** The decoder holds part of a character, or has yet to see whether the stream begins with a byte order mark. */
  #isMidCharacter = true;

  constructor(onEvent: (event: SseEvent) => void) {
    this.#parser = createParser({
      onEvent: (message: EventSourceMessage) => {
        if (message.data.length > eventCharactersMax) throw tooLong();
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

  push(chunk: Uint8Array): void {
    const { length } = chunk;
    if (length === 0) return;
    if (!this.#isMidCharacter && isUtf8(chunk)) {
      this.#parser.feed(asBuffer(chunk).toString('utf8'));
      return;
    }
    const text = this.#decoder.decode(chunk, { stream: true });
    // An ASCII byte ends whatever character was open.
    this.#isMidCharacter = (chunk[length - 1] ?? 0) > 0x7f;
    if (text !== '') this.#parser.feed(text);
  }

  /** Delivers a last event whose blank line is missing. */
  end(): void {
    this.#parser.feed(`${this.#decoder.decode()}\n\n`);
  }
}

const tooLong = (): Error =>
  fail('UPSTREAM_INVALID', { provider: 'the upstream', reason: `one event of the stream is longer than ${eventCharactersMax} characters` });
