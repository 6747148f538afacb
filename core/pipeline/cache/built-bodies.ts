// For which questions a provider's function has made the body of a request, and what it left out of it. One that is asked again may be answered from
// the cache without: the function would make the same. Of one thread.

/** Beyond it the oldest is forgotten, which costs its next repeat one body. */
const bodiesMax = 4096;

export class BuiltBodies {
  readonly #unsupported = new Map<string, readonly string[]>();

  /** `unsupported`: what the client is told was left out. */
  add(key: string, unsupported: readonly string[]): void {
    this.#unsupported.delete(key);
    this.#unsupported.set(key, unsupported);
    if (this.#unsupported.size <= bodiesMax) return;
    for (const oldest of this.#unsupported.keys()) {
      this.#unsupported.delete(oldest);
      return;
    }
  }

  /** What was left out; undefined when it is not known that the body can be made. */
  find(key: string): readonly string[] | undefined {
    return this.#unsupported.get(key);
  }
}
