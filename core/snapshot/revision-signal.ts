// Tells every thread that rows changed: one number in shared memory. Whoever commits bumps it; threads that watch it are woken at once.

import { notifyAll, whenMoved } from './shared-cell.js';

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
    notifyAll(this.#cell);
  }

  /** Differs after each bump; it wraps, so compare for equality alone. */
  current(): number {
    return Atomics.load(this.#cell, 0);
  }

  /** `tell` is called soon after each bump, once for several that come together, until the function that is returned is called. Keeps no process alive. */
  watch(tell: () => void): () => void {
    let isOver = false;
    let seen = this.current();
    const wait = (): void => {
      whenMoved(this.#cell, seen).then(() => {
        if (isOver) return;
        const current = this.current();
        const isMoved = current !== seen;
        seen = current;
        wait();
        if (isMoved) tell();
      }).catch(warn);
    };
    wait();
    return () => {
      isOver = true;
      // Lets go of what waits; other watchers find that nothing moved.
      notifyAll(this.#cell);
    };
  }
}

const warn = (thrown: unknown): void => {
  process.emitWarning(`whoever watches stored rows failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
};
