// Gives the memory of a burst back. The engine collects when much is allocated, and after a burst nothing is: bodies that nobody holds any
// more would stay until the next one. Looks once a second, and collects when there has been no call for some looks and so much more is held
// than after the last time that it is worth a stop of some 80 ms. Never while a call is open. Threads beside those that serve calls have no
// calls: they are quiet when they do little, and collect what loading everything left behind as well.

import { Session } from 'node:inspector';
import { getHeapStatistics } from 'node:v8';
import type { Host } from '@gateway/plugin-sdk';

export const lookEveryMs = 1000;
/** Looks in a row without a call. A pause in the midst of traffic is shorter. */
const quietLooksMin = 3;
/** A thread that is busy for less than this share of its time is quiet. */
const quietShare = 0.1;
/** Traffic that comes and goes must not make a habit of it. */
const restMs = 10_000;

export interface IdleView {
  /** No call is open. Asked once for each look. */
  readonly isIdle: () => boolean;
  /** Used in this thread's heap, and by buffers outside of it. */
  readonly bytesUsed: () => number;
  /** Collects all that is not held, and calls back when it has. */
  readonly collect: (done: (fault: Error | null) => void) => void;
  readonly onFault: (fault: Error) => void;
  readonly now: () => number;
}

/** How a thread collects. */
export interface IdleRule {
  /** So much more is held than after the last time. */
  readonly growthBytesMin: number;
  /** What the start left stays until the first burst. */
  readonly keepsStart: boolean;
}

/** A collection takes the code that is warm along. */
export const servingRule: IdleRule = { growthBytesMin: 64 * 1024 * 1024, keepsStart: true };
/** Nobody waits for the thread. */
export const besideRule: IdleRule = { growthBytesMin: 8 * 1024 * 1024, keepsStart: false };

export class IdleCollector {
  #quietLooks = 0;
  /** The least that was used since the last collection. */
  #floor: number;
  #notBefore = Number.NEGATIVE_INFINITY;
  #isCollecting = false;

  constructor(readonly view: IdleView, readonly rule: IdleRule) {
    this.#floor = rule.keepsStart ? view.bytesUsed() : Number.NEGATIVE_INFINITY;
  }

  look(): void {
    const { view } = this;
    if (this.#isCollecting) return;
    if (!view.isIdle()) {
      this.#quietLooks = 0;
      return;
    }
    this.#quietLooks += 1;
    const used = view.bytesUsed();
    this.#floor = Math.min(this.#floor, used);
    if (this.#quietLooks < quietLooksMin || used - this.#floor < this.rule.growthBytesMin || view.now() < this.#notBefore) return;
    this.#isCollecting = true;
    this.#notBefore = view.now() + restMs;
    view.collect((fault) => {
      this.#isCollecting = false;
      this.#floor = view.bytesUsed();
      if (fault !== null) view.onFault(fault);
    });
  }
}

/** Of a thread beside those that serve calls. `every` is of its host. */
export function collectWhenQuiet(every: Host['every'], onFault: (fault: Error) => void): void {
  let before = performance.eventLoopUtilization();
  const isIdle = (): boolean => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization < quietShare;
  };
  startCollector(every, isIdle, onFault, besideRule);
}

/** Of a thread that serves calls. `isIdle`: none is open. */
export function collectAfterBursts(every: Host['every'], isIdle: () => boolean, onFault: (fault: Error) => void): void {
  startCollector(every, isIdle, onFault, servingRule);
}

function startCollector(every: Host['every'], isIdle: () => boolean, onFault: (fault: Error) => void, rule: IdleRule): void {
  const collector = new IdleCollector({ isIdle, bytesUsed, collect: collectAll, onFault, now: () => performance.now() }, rule);
  every(lookEveryMs, () => collector.look());
}

export function bytesUsed(): number {
  const { used_heap_size: heap, external_memory: outside } = getHeapStatistics();
  return heap + outside;
}

/** What the engine does when memory is short: unlike a collection by flag it makes the young generation small again, too. */
export function collectAll(done: (fault: Error | null) => void): void {
  const session = new Session();
  try {
    session.connect();
    session.post('HeapProfiler.collectGarbage', (fault) => {
      // Not in here: the engine still holds the lock that ending the session waits for.
      setImmediate(() => {
        session.disconnect();
        done(fault);
      });
    });
  } catch (thrown) {
    done(thrown instanceof Error ? thrown : new Error('no inspector'));
  }
}
