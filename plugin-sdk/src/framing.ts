import { ByteCollector } from './byte-collector.js';
import type { FrameDecoder, Framing, SseEvent } from './kinds/provider.js';

const lineBytesMax = 8 * 1024 * 1024;

/** One JSON text a line (NDJSON): each line that is not empty is the data of an event. */
export const lines = (contentType = 'application/x-ndjson'): Framing => ({ contentType, decoder: () => new LineDecoder() });

const lineFeed = 0x0a;

class LineDecoder implements FrameDecoder {
  readonly #decoder = new TextDecoder();
  /** Of a line whose end has not come. */
  readonly #begun = new ByteCollector();

  push(chunk: Uint8Array, emit: (event: SseEvent) => void): void {
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
      this.#append(chunk.subarray(from, at));
      from = at + 1;
      emitLine(this.#decoder.decode(this.#begun.take()), emit);
    }
    this.#append(chunk.subarray(from));
  }

  /** The last line may lack its end. */
  end(emit: (event: SseEvent) => void): void {
    emitLine(this.#decoder.decode(this.#begun.take()), emit);
  }

  #append(bytes: Uint8Array): void {
    this.#begun.append(bytes);
    if (this.#begun.length > lineBytesMax) throw new Error(`a line of the stream is longer than ${lineBytesMax} bytes`);
  }
}

function emitLine(line: string, emit: (event: SseEvent) => void): void {
  const data = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (data.trim() !== '') emit({ event: undefined, data });
}
