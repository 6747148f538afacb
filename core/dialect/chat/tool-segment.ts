// Hot: runs for each tool call delta of a stream that is translated or put together.
// One tool call of a streamed answer, while it comes.

/** Sees where a JSON object or list ends, piece by piece, without reading it. */
class JsonExtent {
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  isWhole = false;

  push(piece: string): void {
    for (let index = 0; index < piece.length; index += 1) {
      const code = piece.charCodeAt(index);
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (code === 0x5c) this.#isEscaped = true;
        else if (code === 0x22) this.#isInText = false;
      } else if (code === 0x22) {
        this.#isInText = true;
      } else if (code === 0x7b || code === 0x5b) {
        this.#depth += 1;
      } else if (code === 0x7d || code === 0x5d) {
        this.#depth -= 1;
        if (this.#depth === 0) this.isWhole = true;
      }
    }
  }
}

export class ToolSegment {
  readonly kind = 'tool';
  /** As the provider gives it. */
  id = '';
  /** As the client gets it. */
  blockId = '';
  name = '';
  thoughtSignature = '';
  /** Arguments that were not written yet. */
  pending = '';
  hasArguments = false;
  isOpen = false;
  isClosed = false;
  readonly extent = new JsonExtent();
}
