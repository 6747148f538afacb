// The figures of a thread when metrics are asked for. Costs nothing until the first question: the delay of the loop is measured from then on.

import { monitorEventLoopDelay, performance, type IntervalHistogram } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { BrokenTargetFigures, LoopDelay, ThreadFigures } from '@gateway/plugin-sdk';
import type { Metrics } from './metrics.js';

/** Each look at the loop wakes the thread. */
const resolutionMs = 20;
const nanosecondsOfMs = 1e6;

/** An answer to `GET /metrics`, on its way between threads. */
export type Scraped =
  | { readonly kind: 'text'; readonly contentType: string; readonly bytes: Uint8Array }
  /** No exporter has metrics. */
  | { readonly kind: 'off' }
  | { readonly kind: 'failed'; readonly reason: string };

export class FigureTaker {
  #delay: IntervalHistogram | null = null;

  /** `openCalls` null: the thread serves none. */
  constructor(readonly name: string, readonly metrics: Pick<Metrics, 'snapshot'>, readonly openCalls: (() => number) | null = null, readonly broken: () => readonly BrokenTargetFigures[] = () => []) {}

  take(): ThreadFigures {
    return {
      name: this.name, isAnswering: true, counts: this.metrics.snapshot(), openCalls: this.openCalls === null ? -1 : this.openCalls(),
      loopDelay: this.#takeDelay(), busyMs: performance.eventLoopUtilization().active, heapBytes: getHeapStatistics().used_heap_size, broken: this.broken(),
    };
  }

  close(): void {
    this.#delay?.disable();
    this.#delay = null;
  }

  #takeDelay(): LoopDelay | null {
    const histogram = this.#delay;
    if (histogram === null) {
      this.#delay = monitorEventLoopDelay({ resolution: resolutionMs });
      this.#delay.enable();
      return null;
    }
    // It counts the time between two looks, so a loop that is never late shows the resolution.
    const late = (nanoseconds: number): number => Math.max(0, nanoseconds / nanosecondsOfMs - resolutionMs);
    const delay = histogram.max === 0 ? { p50: 0, p99: 0, max: 0 } : { p50: late(histogram.percentile(50)), p99: late(histogram.percentile(99)), max: late(histogram.max) };
    histogram.reset();
    return delay;
  }
}

/** Of a thread that gave no answer. */
export const noFigures = (name: string): ThreadFigures => ({ name, isAnswering: false, counts: {}, openCalls: 0, loopDelay: null, busyMs: 0, heapBytes: 0, broken: [] });
