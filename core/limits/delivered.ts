// Hot: runs for each chunk of an answer under a limit of tokens or cost.
// How many tokens an answer held that broke off, or says nothing of its usage: by the length of its text. Of an event stream the part that all events have in common
// is not text.

const bytesPerToken = 4;
/** Around the text of an event there are at most so many bytes; who sends more at a time sends text. */
const frameBytesMax = 256;
const lineFeed = 0x0a;

export class Delivered {
  #bytes = 0;
  #events = 0;
  #shortest = frameBytesMax;
  #eventBytes = 0;
  /** Bytes since the last line that said something. */
  #lineBytes = 0;

  push(chunk: Uint8Array, isEventStream: boolean): void {
    this.#bytes += chunk.length;
    if (!isEventStream) return;
    let from = 0;
    for (;;) {
      const at = chunk.indexOf(lineFeed, from);
      if (at === -1) {
        this.#lineBytes += chunk.length - from;
        return;
      }
      this.#endLine(this.#lineBytes + at - from);
      this.#lineBytes = 0;
      from = at + 1;
    }
  }

  /** A blank line ends an event. */
  #endLine(bytes: number): void {
    if (bytes > 1) {
      this.#eventBytes += bytes;
      return;
    }
    if (this.#eventBytes === 0) return;
    this.#events += 1;
    // The last event of most streams is a mark.
    if (this.#eventBytes > 16) this.#shortest = Math.min(this.#shortest, this.#eventBytes);
    this.#eventBytes = 0;
  }

  get tokens(): number {
    if (this.#bytes === 0) return 0;
    const frames = this.#events * this.#shortest;
    return this.#events + Math.ceil(Math.max(0, this.#bytes - frames) / bytesPerToken);
  }
}
