// How many control calls a key may make: under way at once, and in a second. Exact, since one thread runs all of them.

import { fail } from '../errors/gateway-error.js';

export interface GateLimits {
  readonly atOnceMax: number;
  readonly perSecondMax: number;
}

/** For each key. */
const gateLimits: GateLimits = { atOnceMax: 128, perSecondMax: 3_000 };
/** Keys remembered before those are forgotten that are quiet. */
const keysMax = 10_000;
const windowMs = 1_000;

interface Use {
  atOnce: number;
  inWindow: number;
  windowAtMs: number;
}

export class ControlGate {
  readonly #uses = new Map<string, Use>();

  constructor(readonly limits: GateLimits = gateLimits, readonly now: () => number = () => performance.now()) {}

  /** Throws CONTROL_BUSY; else `leave` is due. */
  enter(keyId: string): void {
    const nowMs = this.now();
    let use = this.#uses.get(keyId);
    if (use === undefined) {
      if (this.#uses.size >= keysMax) this.#forget(nowMs);
      this.#uses.set(keyId, use = { atOnce: 0, inWindow: 0, windowAtMs: nowMs });
    }
    if (nowMs - use.windowAtMs >= windowMs) {
      use.windowAtMs = nowMs;
      use.inWindow = 0;
    }
    const { atOnceMax, perSecondMax } = this.limits;
    if (use.inWindow >= perSecondMax) throw fail('CONTROL_BUSY', { maximum: perSecondMax, unit: 'a second for each key', seconds: 1 });
    use.inWindow += 1;
    if (use.atOnce >= atOnceMax) throw fail('CONTROL_BUSY', { maximum: atOnceMax, unit: 'at once for each key', seconds: 1 });
    use.atOnce += 1;
  }

  leave(keyId: string): void {
    const use = this.#uses.get(keyId);
    if (use !== undefined) use.atOnce -= 1;
  }

  #forget(nowMs: number): void {
    for (const [keyId, use] of this.#uses) if (use.atOnce === 0 && nowMs - use.windowAtMs >= windowMs) this.#uses.delete(keyId);
  }
}
