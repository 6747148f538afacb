// Hot: runs for each call.
// Tells every thread that rows changed: one number in shared memory. Whoever commits bumps it; reading it is one atomic load.

export class RevisionSignal {
  readonly #cell: Int32Array;

  /** Memory for one signal, to be handed to each thread. */
  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  }

  constructor(memory: SharedArrayBuffer) {
    this.#cell = new Int32Array(memory);
  }

  /** After the commit, never before it: a thread that sees the bump must find the rows. */
  bump(): void {
    Atomics.add(this.#cell, 0, 1);
  }

  /** Differs after each bump; it wraps, so compare for equality alone. */
  current(): number {
    return Atomics.load(this.#cell, 0);
  }
}
