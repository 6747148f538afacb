// Up to which commit each serving thread sees the stored rows, in shared memory: whoever made a commit can wait until all calls obey it.

import { notifyAll, whenMoved } from './shared-cell.js';

const bytesOfSlot = BigInt64Array.BYTES_PER_ELEMENT;
/** In the place of a sequence: the thread takes no calls, yet or any more. */
const absent = -1n;

export class AppliedSequences {
  /** Moves whenever a sequence does. */
  readonly #bell: Int32Array;
  readonly #sequences: BigInt64Array;

  /** Memory for so many threads, to be handed to each. */
  static allocate(threads: number): SharedArrayBuffer {
    const memory = new SharedArrayBuffer((threads + 1) * bytesOfSlot);
    new BigInt64Array(memory, bytesOfSlot).fill(absent);
    return memory;
  }

  constructor(memory: SharedArrayBuffer) {
    this.#bell = new Int32Array(memory, 0, 1);
    this.#sequences = new BigInt64Array(memory, bytesOfSlot);
  }

  /** Calls that begin on `thread` from now on see every commit up to this one. */
  publish(thread: number, sequence: number): void {
    Atomics.store(this.#sequences, thread, BigInt(sequence));
    this.#ring();
  }

  /** `thread` takes no more calls: nobody need wait for it. */
  leave(thread: number): void {
    Atomics.store(this.#sequences, thread, absent);
    this.#ring();
  }

  isApplied(sequence: number): boolean {
    for (let thread = 0; thread < this.#sequences.length; thread += 1) {
      const applied = Atomics.load(this.#sequences, thread);
      if (applied !== absent && applied < sequence) return false;
    }
    return true;
  }

  /** True when every thread that takes calls has applied the commit, false when that is not so after so many milliseconds. Never rejects. */
  async waitUntilApplied(sequence: number, ms: number): Promise<boolean> {
    if (this.isApplied(sequence)) return true;
    let isOver = false;
    let timer: NodeJS.Timeout | undefined = undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        isOver = true;
        resolve();
      }, ms);
    });
    for (;;) {
      const seen = Atomics.load(this.#bell, 0);
      const isApplied = this.isApplied(sequence);
      if (isApplied || isOver) {
        clearTimeout(timer);
        return isApplied;
      }
      await Promise.race([whenMoved(this.#bell, seen), patience]);
    }
  }

  #ring(): void {
    Atomics.add(this.#bell, 0, 1);
    notifyAll(this.#bell);
  }
}
