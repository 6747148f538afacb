// Hot: runs for each call with a body.
// How many bytes of bodies the process holds, and the limit on them: one number in shared memory, exact over all threads. A thread takes from
// it in leases and serves small bodies out of what it has, so that most calls touch nothing shared. Large bodies leave a part of the whole
// to small ones: a few clients that send much cannot keep out all the others.

/** A thread takes and gives back so much at a time, and keeps one lease of what it does not need. */
const leaseBytes = 256 * 1024;
/** Bodies up to this length may use all of the limit, longer ones seven eighths. */
export const smallBytesMax = 64 * 1024;
const partForSmall = 8;

export class HeldBytes {
  /** Held by this thread. */
  bytes = 0;
  #leases = 0;
  /** Leases of all threads. */
  readonly #all: Int32Array;
  readonly #leasesMax: number;
  readonly #leasesMaxLarge: number;

  /** Memory for the number, to be handed to each thread. */
  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  }

  constructor(memory: SharedArrayBuffer, readonly bytesMax: number) {
    this.#all = new Int32Array(memory);
    this.#leasesMax = Math.max(1, Math.floor(bytesMax / leaseBytes));
    this.#leasesMaxLarge = Math.max(1, this.#leasesMax - Math.ceil(this.#leasesMax / partForSmall));
  }

  /** A body that is longer can never be held. */
  get largestBytes(): number {
    return this.#leasesMaxLarge * leaseBytes;
  }

  /** Of all threads, to the lease. */
  get leasedBytes(): number {
    return Atomics.load(this.#all, 0) * leaseBytes;
  }

  /** Whether take() would find room now. */
  fits(bytes: number, isSmall: boolean): boolean {
    const missing = this.#missing(bytes);
    return missing <= 0 || Atomics.load(this.#all, 0) + missing <= this.#limit(isSmall);
  }

  /** False: there is no room, and nothing is counted. */
  take(bytes: number, isSmall: boolean): boolean {
    const missing = this.#missing(bytes);
    if (missing > 0) {
      if (Atomics.add(this.#all, 0, missing) + missing > this.#limit(isSmall)) {
        Atomics.sub(this.#all, 0, missing);
        return false;
      }
      this.#leases += missing;
    }
    this.bytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.bytes -= bytes;
    const spare = -this.#missing(0) - 1;
    if (spare <= 0) return;
    this.#leases -= spare;
    Atomics.sub(this.#all, 0, spare);
  }

  /** Leases that `bytes` more would need; negative: so many are spare. */
  #missing(bytes: number): number {
    return Math.ceil((this.bytes + bytes) / leaseBytes) - this.#leases;
  }

  #limit(isSmall: boolean): number {
    return isSmall ? this.#leasesMax : this.#leasesMaxLarge;
  }
}
