import type { FrameDecoder, Framing, SseEvent } from './kinds/provider.js';

const lineCharactersMax = 8 * 1024 * 1024;

/** One JSON text a line (NDJSON): each line that is not empty is the data of an event. */
export const lines = (contentType = 'application/x-ndjson'): Framing => ({ contentType, decoder: () => new LineDecoder() });

class LineDecoder implements FrameDecoder {
  readonly #decoder = new TextDecoder();
  #rest = '';

  push(chunk: Uint8Array, emit: (event: SseEvent) => void): void {
    const text = this.#decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
      const line = this.#rest + text.slice(from, at);
      this.#rest = '';
      from = at + 1;
      emitLine(line, emit);
    }
    this.#rest += text.slice(from);
    if (this.#rest.length > lineCharactersMax) throw new Error(`a line of the stream is longer than ${lineCharactersMax} characters`);
  }

  /** The last line may lack its end. */
  end(emit: (event: SseEvent) => void): void {
    emitLine(this.#rest + this.#decoder.decode(), emit);
    this.#rest = '';
  }
}

function emitLine(line: string, emit: (event: SseEvent) => void): void {
  const data = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (data.trim() !== '') emit({ event: undefined, data });
}
