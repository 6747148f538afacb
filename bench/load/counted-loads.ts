// Loads whose instructions are counted under valgrind: exact numbers of requests or events, at a pace that a subject that is 50 times slower
// still keeps up with, so that nothing is served in heaps that is served one by one otherwise.
import type { Load, Measure } from './measure.js';
import { checkedLoad, policiesLoad } from './scenarios.js';
import type { Subject } from './subjects.js';

export interface CountedLoad {
  readonly unit: 'request' | 'event';
  readonly needsGateway: boolean;
  countOf(isLong: boolean): number;
  /** Until V8 has made the code it stays with. `isCounting`: everything is slow already. */
  warmUp(measure: Measure, subject: Subject, isCounting: boolean): Promise<unknown>;
  run(measure: Measure, subject: Subject, isLong: boolean): Promise<unknown>;
}

const connections = 64;
const timeoutMs = 300_000;

interface Counts {
  readonly warmUp: number;
  readonly warmUpCounting: number;
  readonly short: number;
  readonly long: number;
}

const usualCounts: Counts = { warmUp: 20_000, warmUpCounting: 3000, short: 500, long: 5000 };

function requests(load: Load, fillerBytes = 0, needsGateway = false, counts = usualCounts): CountedLoad {
  const run = (measure: Measure, subject: Subject, count: number): Promise<unknown> => measure.count(subject, connections, count, load, fillerBytes, timeoutMs);
  return {
    unit: 'request',
    needsGateway,
    countOf: (isLong) => isLong ? counts.long : counts.short,
    warmUp: (measure, subject, isCounting) => run(measure, subject, subject.name === 'nginx' ? counts.short : isCounting ? counts.warmUpCounting : counts.warmUp),
    run: (measure, subject, isLong) => run(measure, subject, isLong ? counts.long : counts.short),
  };
}

const streamCount = 30;
/** Short and long runs take the same time, so that what an idle gateway spends cancels out whatever it does just then. */
const streamSeconds = 8;
const eventsPerSecond = (isLong: boolean): number => isLong ? 20 : 2;

const shortStreams: Load = { model: 'bench-events5-rate0', config: {}, isStream: true };

const streams: CountedLoad = {
  unit: 'event',
  needsGateway: false,
  countOf: (isLong) => streamCount * eventsPerSecond(isLong) * streamSeconds,
  warmUp: async (measure, subject, isCounting) => {
    // What runs once for each stream warms up by many of them, not by long ones.
    if (subject.name !== 'nginx') await measure.count(subject, connections, isCounting ? 500 : 8000, shortStreams, 0, timeoutMs);
    await measure.streams(subject, streamCount, eventsPerSecond(true), 4, 1);
  },
  run: async (measure, subject, isLong) => {
    const figures = await measure.streams(subject, streamCount, eventsPerSecond(isLong), streamSeconds, 1);
    if (figures['whole'] !== streamCount) throw new Error(`${subject.name} kept ${figures['whole']} of ${streamCount} streams whole`);
  },
};

export const countedLoads: Readonly<Record<string, CountedLoad>> = {
  requests: requests({ model: 'bench', config: {} }),
  checks: requests(checkedLoad, 0, true),
  policies: requests(policiesLoad, 0, true),
  cache: requests({ model: 'bench', config: { cache: { mode: 'simple' } } }, 0, true),
  bodies: requests({ model: 'bench', config: {} }, 150 * 1024, false, { warmUp: 4000, warmUpCounting: 400, short: 100, long: 500 }),
  streams,
};
