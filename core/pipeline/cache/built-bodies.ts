// For which questions a provider's function has made the body of a request, and what it left out of it. One that is asked again may be answered from
// the cache without: the function would make the same. Of one thread.

import { LRUCache } from 'lru-cache';

/** Beyond it the least used is forgotten, which costs its next repeat one body. */
const bodiesMax = 4096;

export class BuiltBodies {
  readonly #unsupported = new LRUCache<string, readonly string[]>({ max: bodiesMax });

  /** `unsupported`: what the client is told was left out. */
  add(key: string, unsupported: readonly string[]): void {
    this.#unsupported.set(key, unsupported);
  }

  /** Parameters that were left out; undefined when it is not known that the body can be made. */
  find(key: string): readonly string[] | undefined {
    return this.#unsupported.get(key);
  }
}
