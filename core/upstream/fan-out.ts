// Runs for calls that a provider has to be asked piece by piece (one text at a time).
// Several upstream calls that look like one: the answers become one JSON list, in the order of the requests; the first that is not a success
// is the answer for all. A few at a time; answers are held whole, up to a limit.

import { ByteCollector, type UpstreamCall, type UpstreamListener } from '@gateway/plugin-sdk';

const openMax = 8;

/** Starts call number `index`. */
export type StartPart = (index: number, listener: UpstreamListener) => UpstreamCall;

export class FanOut implements UpstreamCall {
  readonly #parts: Part[] = [];
  #started = 0;
  #done = 0;
  #bytes = 0;
  #isOver = false;
  #headers: readonly string[] = [];

  constructor(readonly count: number, readonly bytesMax: number, readonly start: StartPart, readonly listener: UpstreamListener) {}

  begin(): void {
    while (!this.#isOver && this.#started < this.count && this.#started - this.#done < openMax) {
      const index = this.#started;
      this.#started += 1;
      const part = new Part(this);
      this.#parts.push(part);
      try {
        part.call = this.start(index, part);
      } catch (thrown) {
        // On the stack of another part's end, or of whoever began: both are to hear of it the same way.
        this.onError(thrown instanceof Error ? thrown : new Error(String(thrown)));
      }
    }
  }

  /** Answers are held anyway. */
  pause(): void {}
  resume(): void {}

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const part of this.#parts) part.call?.cancel();
  }

  onBytes(count: number): void {
    this.#bytes += count;
    if (this.#bytes > this.bytesMax) this.onError(new Error(`the answers together are larger than ${this.bytesMax} bytes`));
  }

  onPartEnd(part: Part): void {
    if (this.#isOver) return;
    const isSuccess = part.status >= 200 && part.status < 300;
    this.#done += 1;
    if (isSuccess && this.#done < this.count) {
      this.begin();
      return;
    }
    this.cancel();
    if (isSuccess) this.#headers = part.headers;
    this.listener.onHead(part.status, isSuccess ? this.#headers : part.headers);
    this.listener.onChunk(isSuccess ? this.#joined() : part.collected.take());
    this.listener.onEnd();
  }

  onError(error: Error): void {
    if (this.#isOver) return;
    this.cancel();
    this.listener.onError(error);
  }

  #joined(): Buffer {
    const pieces: Uint8Array[] = [];
    this.#parts.forEach((part, index) => pieces.push(index === 0 ? opening : comma, part.collected.take()));
    pieces.push(closing);
    return Buffer.concat(pieces);
  }
}

const opening = Buffer.from('[');
const comma = Buffer.from(',');
const closing = Buffer.from(']');

class Part implements UpstreamListener {
  call: UpstreamCall | null = null;
  status = 0;
  headers: readonly string[] = [];
  readonly collected = new ByteCollector();

  constructor(readonly whole: FanOut) {}

  onHead(status: number, headers: readonly string[]): void {
    this.status = status;
    this.headers = headers;
  }

  onChunk(chunk: Uint8Array): void {
    this.collected.appendCopy(chunk);
    this.whole.onBytes(chunk.length);
  }

  onEnd(): void {
    this.whole.onPartEnd(this);
  }

  onError(error: Error): void {
    this.whole.onError(error);
  }
}
