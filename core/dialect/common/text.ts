// Hot: runs for each piece of a text that is put together.
// Text out of many pieces, without quadratic copying and without keeping an object for every piece: pieces are a few characters each, and
// what holds one costs more than what is in it.

const joinAt = 256;

export class Text {
  /** Pieces of pieces; each but the last few is long. */
  readonly #joined: string[] = [];
  readonly #pieces: string[] = [];

  /** Gives how many bytes were added. */
  add(piece: string): number {
    if (piece === '') return 0;
    const pieces = this.#pieces;
    pieces.push(piece);
    if (pieces.length === joinAt) {
      this.#joined.push(pieces.join(''));
      pieces.length = 0;
    }
    return Buffer.byteLength(piece);
  }

  toString(): string {
    return this.#joined.join('') + this.#pieces.join('');
  }
}
