const smallBytes = 4 * 1024;
const blockBytesMin = 512;
const blockBytesMax = 64 * 1024;
const nothing: Uint8Array = new Uint8Array(0);

/**
 * Bytes that come in chunks and are wanted whole. An object for each chunk costs some 100 bytes, and a chunk may be a window on a much larger
 * read, so small chunks are copied into growing blocks and only large ones are kept as they are: what is held stays below twice `length`,
 * however the bytes were cut. The first chunk is kept as it is until a second one comes: most answers have only one.
 * The caller checks `length` against a limit; chunks must not change afterwards.
 */
export class ByteCollector {
  /** Bytes in all. */
  length = 0;
  #first: Uint8Array | null = null;
  #pieces: Uint8Array[] = [];
  /** The block that small chunks are copied into. */
  #block: Uint8Array = nothing;
  #used = 0;

  append(chunk: Uint8Array): void {
    const { byteLength } = chunk;
    if (byteLength === 0) return;
    if (this.length === 0) {
      this.#first = chunk;
    } else {
      if (this.#first !== null) this.#keepFirst(this.#first);
      if (isWorthKeeping(chunk)) this.#keepPiece(chunk);
      else this.#copy(chunk);
    }
    this.length += byteLength;
  }

  /** The same for a chunk whose memory is only lent. */
  appendCopy(chunk: Uint8Array): void {
    const { byteLength } = chunk;
    if (this.#first !== null) this.#keepFirst(this.#first);
    if (byteLength >= smallBytes) this.#keepPiece(new Uint8Array(chunk));
    else this.#copy(chunk);
    this.length += byteLength;
  }

  /** All bytes so far, in order, as few pieces; nothing is kept. */
  takePieces(): Uint8Array[] {
    const pieces = this.#pieces;
    if (this.#first !== null) pieces.push(this.#first);
    else if (this.#used > 0) pieces.push(this.#block.subarray(0, this.#used));
    this.#first = null;
    this.#pieces = [];
    this.#block = nothing;
    this.#used = 0;
    this.length = 0;
    return pieces;
  }

  /** All bytes so far; nothing is kept. A single chunk is not copied. */
  take(): Uint8Array {
    const { length } = this;
    const pieces = this.takePieces();
    const [first = nothing] = pieces;
    if (pieces.length < 2) return first;
    const whole = new Uint8Array(length);
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.byteLength;
    }
    return whole;
  }

  #keepFirst(first: Uint8Array): void {
    this.#first = null;
    if (isWorthKeeping(first)) this.#keepPiece(first);
    else this.#copy(first);
  }

  #keepPiece(piece: Uint8Array): void {
    this.#closeBlock();
    this.#pieces.push(piece);
  }

  #copy(chunk: Uint8Array): void {
    const { byteLength } = chunk;
    let from = 0;
    while (from < byteLength) {
      const count = Math.min(this.#block.byteLength - this.#used, byteLength - from);
      if (count === 0) {
        this.#closeBlock();
        // Room for as much again as is held, up to a bound.
        this.#block = new Uint8Array(Math.min(blockBytesMax, Math.max(blockBytesMin, this.length, byteLength - from)));
        continue;
      }
      this.#block.set(count === byteLength ? chunk : chunk.subarray(from, from + count), this.#used);
      this.#used += count;
      from += count;
    }
  }

  #closeBlock(): void {
    const used = this.#used;
    if (used === 0) return;
    // A block that is far from full gives back what it does not need.
    this.#pieces.push(used * 2 >= this.#block.byteLength ? this.#block.subarray(0, used) : this.#block.slice(0, used));
    this.#block = nothing;
    this.#used = 0;
  }
}

/** A window on a much larger read would keep all of it. */
const isWorthKeeping = (chunk: Uint8Array): boolean => chunk.byteLength >= smallBytes && chunk.byteLength * 2 >= chunk.buffer.byteLength;
