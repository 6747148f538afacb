// The answers of one thread that other requests may join while they are on their way. Only requests that walk the same target of the same
// plan: those have passed the same hooks.

import type { TargetPlan } from '../../plan/plan.js';
import type { CoalescedResponse } from './coalesced-response.js';

export class InFlight {
  readonly #byTarget = new Map<TargetPlan, Map<string, CoalescedResponse>>();

  find(target: TargetPlan, key: string): CoalescedResponse | undefined {
    const shared = this.#byTarget.get(target)?.get(key);
    return shared !== undefined && shared.mayJoin ? shared : undefined;
  }

  add(target: TargetPlan, key: string, shared: CoalescedResponse): void {
    let answers = this.#byTarget.get(target);
    if (answers === undefined) this.#byTarget.set(target, answers = new Map());
    answers.set(key, shared);
  }

  remove(target: TargetPlan, key: string): void {
    const answers = this.#byTarget.get(target);
    if (answers === undefined) return;
    answers.delete(key);
    if (answers.size === 0) this.#byTarget.delete(target);
  }
}
