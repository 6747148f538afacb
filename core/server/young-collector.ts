// Keeps collections of the young generation short while stored rows change. What a row leaves in a serving thread lives on, and the engine moves it
// twice before it lets it be: a collection that comes by itself finds all rows of some seconds at once and takes 4 to 6 ms, in which no call moves.
// So one is asked for after few rows. It takes a fraction of a millisecond, and without rows that change there is none.

import { youngCollection } from '../workers/engine-collection.js';

/** Commits that a thread takes over between two collections. */
export const commitsBetween = 100;

export class YoungCollector {
  #commits = 0;
  #isDue = false;

  constructor(readonly collect: () => void = youngCollection()) {}

  /** After what changed is in the view. The collection has a turn of the loop of its own. */
  applied(commits: number): void {
    this.#commits += commits;
    if (this.#isDue || this.#commits < commitsBetween) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#commits = 0;
      this.collect();
    });
  }
}
