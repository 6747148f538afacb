// Which questions were asked anew by force, and when: a call that began before may end later, and its older answer must not take the place of
// the new one. Of one thread.

/** Beyond it the oldest is forgotten, which may cost a refresh its answer. */
const questionsMax = 4096;

export class Refreshed {
  readonly #startedAt = new Map<string, number>();

  /** `startedAt`: of the call that asks anew. */
  add(key: string, startedAt: number): void {
    const known = this.#startedAt.get(key) ?? -Infinity;
    this.#startedAt.delete(key);
    this.#startedAt.set(key, Math.max(known, startedAt));
    if (this.#startedAt.size <= questionsMax) return;
    for (const oldest of this.#startedAt.keys()) {
      this.#startedAt.delete(oldest);
      return;
    }
  }

  /** A call that began then has an answer from before the refresh. */
  isOutdated(key: string, startedAt: number): boolean {
    return startedAt < (this.#startedAt.get(key) ?? -Infinity);
  }
}
