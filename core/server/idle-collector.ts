// Gives the memory of a burst back. The engine collects when much is allocated, and after a burst nothing is: bodies that nobody holds any
// more would stay until the next one. Looks once a second, and collects when there has been no call for some looks and so much more is held
// than after the last time that it is worth a stop of some 80 ms. Never while a call is open. What loading everything left behind is
// collected the same way in threads beside those that serve calls, which are quiet when they do little: it takes the code that is warm along.

import { Session } from 'node:inspector';
import { getHeapStatistics } from 'node:v8';
import type { Host } from '@gateway/plugin-sdk';

export const lookEveryMs = 1000;
/** Looks in a row without a call. A pause in the midst of traffic is shorter. */
const quietLooksMin = 3;
const servingGrowthBytesMin = 64 * 1024 * 1024;
/** The same where nobody waits for the thread. */
const besideGrowthBytesMin = 8 * 1024 * 1024;
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

export class IdleCollector {
  #quietLooks = 0;
  /** What was used when it was least, since the last collection. Before the first one anything is too much. */
  #floor: number;
  #notBefore = Number.NEGATIVE_INFINITY;
  #isCollecting = false;

  /** `floor`: what was used already counts as little, and what the start left stays until the first burst. */
  constructor(readonly view: IdleView, readonly growthBytesMin = servingGrowthBytesMin, floor = Number.NEGATIVE_INFINITY) {
    this.#floor = floor;
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
    if (this.#quietLooks < quietLooksMin || used - this.#floor < this.growthBytesMin || view.now() < this.#notBefore) return;
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
  const collector = new IdleCollector({ isIdle, bytesUsed, collect: collectAll, onFault, now: () => performance.now() }, besideGrowthBytesMin);
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
