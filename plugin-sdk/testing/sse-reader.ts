import type { FrameDecoder, SseEvent } from '../src/kinds/provider.js';

/** Server-sent events by the letter of the standard (WHATWG HTML, section 9.2.6), apart from the last event, which needs no blank line. */
export class SseReader implements FrameDecoder {
  readonly #decoder = new TextDecoder();
  #line = '';
  #wasReturn = false;
  #event: string | undefined = undefined;
  #data: string[] = [];

  push(chunk: Uint8Array, emit: (event: SseEvent) => void): void {
    this.#read(this.#decoder.decode(chunk, { stream: true }), emit);
  }

  end(emit: (event: SseEvent) => void): void {
    this.#read(`${this.#decoder.decode()}\n\n`, emit);
  }

  #read(text: string, emit: (event: SseEvent) => void): void {
    for (const character of text) {
      if (character === '\n' && this.#wasReturn) {
        this.#wasReturn = false;
        continue;
      }
      this.#wasReturn = character === '\r';
      if (character === '\n' || character === '\r') {
        this.#take(this.#line, emit);
        this.#line = '';
      } else {
        this.#line += character;
      }
    }
  }

  #take(line: string, emit: (event: SseEvent) => void): void {
    if (line === '') {
      if (this.#data.length > 0) emit({ event: this.#event, data: this.#data.join('\n') });
      this.#event = undefined;
      this.#data = [];
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    if (field === 'event') this.#event = value === '' ? undefined : value;
  }
}
