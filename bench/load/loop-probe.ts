// Loaded into a gateway under test with `--import`: says how long its loop stood still, how often and how long garbage was collected, and how
// much was allocated. Asleep until SIGUSR2 begins a measurement; the next SIGUSR2 ends it, and the figures go to the file of BENCH_PROBE_FILE.
import { openSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import { getHeapStatistics, GCProfiler } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import { allocationOf, countAbove, type Collection } from './probe-figures.js';

/** The sampling timer is native code: no JavaScript runs for it. */
const resolutionMs = 1;
const longStallMs = 2;
const file = process.env['BENCH_PROBE_FILE'];
/** Tell turns of the loop by what the thread computed in them, whoever else had the core: a timer of JavaScript, so not beside counts of allocations. */
const tellsTurns = process.env['BENCH_PROBE_TURNS'] === '1';

interface Measurement {
  readonly delay: IntervalHistogram;
  readonly profiler: GCProfiler;
  readonly usedBytes: number;
  readonly externalBytes: number;
  readonly startedAtMs: number;
  readonly turns: Turns | null;
}

/** Turns of the loop in which this thread alone computed longer than is good for the calls that wait. */
class Turns {
  long = 0;
  longestMs = 0;
  readonly #schedule = openSync('/proc/thread-self/schedstat', 'r');
  readonly #bytes = Buffer.alloc(128);
  readonly #timer: NodeJS.Timeout;
  #at = performance.now();
  #ran = this.#ranMs();

  constructor() {
    this.#timer = setInterval(() => this.#look(), resolutionMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Time on a core since the thread began: the first number, in nanoseconds. */
  #ranMs(): number {
    const length = readSync(this.#schedule, this.#bytes, 0, this.#bytes.length, 0);
    return parseInt(this.#bytes.toString('latin1', 0, length), 10) / 1e6;
  }

  #look(): void {
    // A turn that began late held nobody up for longer than it computed.
    const heldMs = Math.min(performance.now() - this.#at - resolutionMs, this.#ranMs() - this.#ran);
    if (heldMs > longStallMs) this.long += 1;
    if (heldMs > this.longestMs) this.longestMs = heldMs;
    this.#at = performance.now();
    this.#ran = this.#ranMs();
  }
}

let running: Measurement | null = null;

function tell(target: string, figures: object): void {
  writeFileSync(`${target}.part`, JSON.stringify(figures));
  renameSync(`${target}.part`, target);
}

function begin(): Measurement {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  const profiler = new GCProfiler();
  profiler.start();
  const { used_heap_size: usedBytes, external_memory: externalBytes } = getHeapStatistics();
  return { delay, profiler, usedBytes, externalBytes, startedAtMs: performance.now(), turns: tellsTurns ? new Turns() : null };
}

function end({ delay, profiler, usedBytes, externalBytes, startedAtMs, turns }: Measurement): object {
  delay.disable();
  turns?.stop();
  const { statistics } = profiler.stop();
  const { used_heap_size: lastUsedBytes, external_memory: lastExternalBytes } = getHeapStatistics();
  const collections: Collection[] = statistics.map(({ gcType, cost, beforeGC, afterGC }) => ({
    kind: gcType,
    tookMs: cost / 1000,
    usedBefore: beforeGC.heapStatistics.usedHeapSize,
    usedAfter: afterGC.heapStatistics.usedHeapSize,
    externalBefore: beforeGC.heapStatistics.externalMemory,
    externalAfter: afterGC.heapStatistics.externalMemory,
  }));
  const young = collections.filter(({ kind }) => kind === 'Scavenge');
  const took = (list: readonly Collection[]): number => list.reduce((sum, { tookMs }) => sum + tookMs, 0);
  return {
    // Between two samples lies the resolution itself.
    longestStallMs: delay.count === 0 ? NaN : Math.max(0, delay.max / 1e6 - resolutionMs),
    longStalls: countAbove(delay.count, (percent) => delay.percentile(percent) / 1e6, longStallMs + resolutionMs),
    youngCollections: young.length,
    youngCollectionsMs: took(young),
    otherCollections: collections.length - young.length,
    otherCollectionsMs: took(collections) - took(young),
    longestCollectionMs: Math.max(0, ...collections.map(({ tookMs }) => tookMs)),
    allocatedBytes: allocationOf(collections, usedBytes, lastUsedBytes, 'used'),
    externalBytes: allocationOf(collections, externalBytes, lastExternalBytes, 'external'),
    seconds: (performance.now() - startedAtMs) / 1000,
    ...(turns === null ? {} : { longTurns: turns.long, longestTurnMs: turns.longestMs }),
  };
}

if (isMainThread && file !== undefined) {
  process.on('SIGUSR2', () => {
    if (running === null) {
      running = begin();
      tell(file, {});
    } else {
      tell(file, end(running));
      running = null;
    }
  });
}
