// The answers of one thread that other requests may join while they are on their way. Only requests that walk the same target of the same
// plan: those have passed the same hooks.

import type { Leaf } from '../../plan/plan.js';
import type { SharedAnswer } from './coalesced-response.js';

export class InFlight {
  readonly #byLeaf = new Map<Leaf, Map<string, SharedAnswer>>();

  find(leaf: Leaf, key: string): SharedAnswer | undefined {
    const shared = this.#byLeaf.get(leaf)?.get(key);
    return shared !== undefined && shared.mayJoin ? shared : undefined;
  }

  add(leaf: Leaf, key: string, shared: SharedAnswer): void {
    let answers = this.#byLeaf.get(leaf);
    if (answers === undefined) this.#byLeaf.set(leaf, answers = new Map());
    answers.set(key, shared);
  }

  remove(leaf: Leaf, key: string): void {
    const answers = this.#byLeaf.get(leaf);
    if (answers === undefined) return;
    answers.delete(key);
    if (answers.size === 0) this.#byLeaf.delete(leaf);
  }
}
