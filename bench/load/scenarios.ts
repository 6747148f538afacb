// What is measured, and which figures of it are shown. One scenario is one load; it is run against each
// subject in turn, round after round, so that a machine that slows down slows all of them.
import type { Figures } from './figures.js';
import type { Load, Measure } from './measure.js';
import type { Subject } from './subjects.js';

export interface Row {
  readonly figure: string;
  readonly label: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  /** Name of the ratio in the output and in budget.json. */
  readonly ratio?: string;
  /** Beside the ratio, how much more or less it is. */
  readonly hasDifference?: true;
}

export interface Scale {
  readonly seconds: number;
  readonly rounds: number;
  readonly isQuick: boolean;
  /** Streams that fit the limit on open files. */
  readonly streamsMax: number;
}

export interface Scenario {
  readonly name: string;
  readonly title: (scale: Scale) => string;
  /** Also measured without a proxy, for figures counted from there. */
  readonly needsDirect: boolean;
  /** Left out of quick runs. */
  readonly isLong?: true;
  /** Runs code that no scenario before has warmed up: a short run that is not counted comes first. */
  readonly isCold?: true;
  readonly roundsMax: number;
  readonly quickRoundsMax: number;
  readonly measure: (measure: Measure, subject: Subject, scale: Scale) => Promise<Figures>;
  readonly derive?: (figures: Figures, direct: Figures) => Figures;
  readonly rows: readonly Row[];
}

const rateConnections = 64;
const bigBodies = 1500;
const restMs = 10_000;
const bigBodyBytes = 150 * 1024;

const added = (figures: Figures, direct: Figures, name: string): number => (figures[name] ?? NaN) - (direct[name] ?? NaN);
const busySeconds = (scale: Scale): number => Math.max(scale.isQuick ? 1.5 : 2, scale.seconds);

const requestFailureRows: readonly Row[] = [
  { figure: 'badStatus', label: 'answers that were not 200', unit: '', better: 'lower' },
  { figure: 'failed', label: 'connections that failed', unit: '', better: 'lower' },
];

const streamFailureRows: readonly Row[] = [
  { figure: 'broken', label: 'streams broken', unit: '', better: 'lower' },
  { figure: 'unfinished', label: 'streams unfinished at the deadline', unit: '', better: 'lower' },
  { figure: 'badStatus', label: 'answers that were not 200', unit: '', better: 'lower' },
];

/** `n/a` where the processor's counters cannot be read. */
const instructionRows = (unit: string, ratio: string): readonly Row[] => [
  { figure: 'instructions', label: `instructions per ${unit}`, unit: 'k', better: 'lower', ratio },
  { figure: 'userInstructions', label: `instructions per ${unit}, user space`, unit: 'k', better: 'lower' },
];

const rate: Scenario = {
  name: 'rate',
  title: () => `requests, one core, ${rateConnections} connections`,
  needsDirect: false,
  roundsMax: Infinity,
  quickRoundsMax: 2,
  measure: (measure, subject, scale) => measure.rate(subject, rateConnections, scale.seconds),
  rows: [
    { figure: 'requestsPerSecond', label: 'requests/s measured', unit: '/s', better: 'higher', ratio: 'requests_per_second_ratio' },
    { figure: 'cpuUs', label: 'CPU per request', unit: 'µs', better: 'lower', ratio: 'cpu_per_request_ratio' },
    { figure: 'capacity', label: 'requests/s one core has CPU for', unit: '/s', better: 'higher', ratio: 'capacity_ratio' },
    ...instructionRows('request', 'instructions_per_request_ratio'),
    { figure: 'allocatedBytes', label: 'allocated per request', unit: 'bytes', better: 'lower', ratio: 'allocated_per_request_ratio' },
    { figure: 'externalBytes', label: 'allocated outside the heap per request', unit: 'bytes', better: 'lower' },
    { figure: 'p50Us', label: 'p50 under this load', unit: 'µs', better: 'lower' },
    { figure: 'p99Us', label: 'p99 under this load', unit: 'µs', better: 'lower' },
    ...requestFailureRows,
  ],
};

/** Four checks that a careful operator has on: two on the way in, two on the way out, all of them passing. */
const fourChecks = {
  input_guardrails: [{ 'default.regexMatch': { rule: '(?i)\\b(password|api[_-]?key)\\s*[:=]', not: true }, 'default.wordCount': { maxWords: 2000 }, deny: true }],
  output_guardrails: [{
    'default.jsonSchema': { schema: { type: 'object', required: ['title', 'year'], properties: { title: { type: 'string' }, year: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } } } },
    'default.pii': { redact: true }, deny: true,
  }],
};
/** The provider answers the JSON that the schema asks for. */
export const checkedLoad: Load = { model: 'bench-json1', config: fourChecks };
/** What a careful operator has on: the four checks, and everything that is stored, limited and counted. */
export const policiesLoad: Load = { ...checkedLoad, isGoverned: true };
/** A check that holds nothing back: the events carry marks of the bench, which have to arrive as they were sent. */
const streamChecks = { output_guardrails: [{ 'default.wordCount': { maxWords: 1_000_000 }, deny: true }] };

const checks: Scenario = {
  name: 'checks',
  isCold: true,
  title: () => `requests with four checks (regex, word count, JSON schema, personal data redacted), one core, ${rateConnections} connections`,
  needsDirect: false,
  roundsMax: Infinity,
  quickRoundsMax: 2,
  measure: (measure, subject, scale) => measure.rate(subject, rateConnections, scale.seconds, checkedLoad),
  rows: [
    { figure: 'requestsPerSecond', label: 'requests/s measured', unit: '/s', better: 'higher', ratio: 'checks_requests_ratio' },
    { figure: 'cpuUs', label: 'CPU per request', unit: 'µs', better: 'lower', ratio: 'checks_cpu_ratio' },
    { figure: 'capacity', label: 'requests/s one core has CPU for', unit: '/s', better: 'higher', ratio: 'checks_capacity_ratio' },
    ...requestFailureRows,
  ],
};

const policies: Scenario = {
  name: 'policies',
  isCold: true,
  title: () => `requests with all policies on (key, stored config and provider, limits of four levels, two policies, four checks), one core, ${rateConnections} connections`,
  needsDirect: false,
  roundsMax: Infinity,
  quickRoundsMax: 1,
  measure: (measure, subject, scale) => measure.rate(subject, rateConnections, scale.seconds, policiesLoad),
  rows: [
    { figure: 'requestsPerSecond', label: 'requests/s measured', unit: '/s', better: 'higher', ratio: 'policies_requests_ratio' },
    { figure: 'cpuUs', label: 'CPU per request', unit: 'µs', better: 'lower', ratio: 'policies_cpu_ratio' },
    { figure: 'capacity', label: 'requests/s one core has CPU for', unit: '/s', better: 'higher', ratio: 'policies_capacity_ratio' },
    ...requestFailureRows,
  ],
};

const checkedStreams: Scenario = {
  name: 'checked-streams',
  isCold: true,
  title: () => '200 streams x 50 events/s under a check that may end them',
  needsDirect: false,
  roundsMax: 2,
  quickRoundsMax: 1,
  measure: (measure, subject, scale) => measure.streams(subject, Math.min(200, scale.streamsMax), 50, busySeconds(scale), 50, streamChecks),
  rows: [
    { figure: 'eventsPerSecond', label: 'events/s received', unit: '/s', better: 'higher', ratio: 'checked_events_ratio' },
    { figure: 'deliveryP50Us', label: 'write to read p50', unit: 'µs', better: 'lower', ratio: 'checked_delivery_ratio' },
    { figure: 'cpuPerEventUs', label: 'CPU per event', unit: 'µs', better: 'lower', ratio: 'checked_cpu_per_event_ratio' },
    ...streamFailureRows,
  ],
};

/** Every answer but the first comes out of memory. */
const cache: Scenario = {
  name: 'cache',
  isCold: true,
  title: () => `hits of the simple cache, one core, ${rateConnections} connections`,
  needsDirect: false,
  roundsMax: Infinity,
  quickRoundsMax: 1,
  measure: (measure, subject, scale) => measure.rate(subject, rateConnections, scale.seconds, { model: 'bench', config: { cache: { mode: 'simple' } } }),
  rows: [
    { figure: 'requestsPerSecond', label: 'requests/s measured', unit: '/s', better: 'higher', ratio: 'cache_requests_ratio' },
    { figure: 'cpuUs', label: 'CPU per request', unit: 'µs', better: 'lower', ratio: 'cache_cpu_ratio' },
    ...requestFailureRows,
  ],
};

const latency: Scenario = {
  name: 'latency',
  title: () => 'latency, one connection',
  needsDirect: true,
  roundsMax: Infinity,
  quickRoundsMax: 2,
  measure: (measure, subject, scale) => measure.loop(subject, 1, scale.seconds, true),
  derive: (figures, direct) => ({ addedP50Us: added(figures, direct, 'p50Us'), addedP99Us: added(figures, direct, 'p99Us') }),
  rows: [
    { figure: 'p50Us', label: 'p50', unit: 'µs', better: 'lower' },
    { figure: 'p99Us', label: 'p99', unit: 'µs', better: 'lower' },
    { figure: 'addedP50Us', label: 'added p50', unit: 'µs', better: 'lower', ratio: 'added_p50_ratio' },
    { figure: 'addedP99Us', label: 'added p99', unit: 'µs', better: 'lower', ratio: 'added_p99_ratio' },
    ...requestFailureRows,
  ],
};

const tailRates = (measure: Measure): readonly (readonly [name: string, perSecond: number])[] =>
  [['1000', 1000], ['4000', 4000], ['half', Math.max(100, Math.floor(measure.capacity / 2))]];

const tailRows = (name: string, label: string): readonly Row[] => [
  { figure: `p50Us${name}`, label: `${label}: p50`, unit: 'µs', better: 'lower' },
  { figure: `p99Us${name}`, label: `${label}: p99`, unit: 'µs', better: 'lower', ratio: `tail_p99_${name}_ratio`, hasDifference: true },
  { figure: `p999Us${name}`, label: `${label}: p99.9`, unit: 'µs', better: 'lower', ratio: `tail_p999_${name}_ratio`, hasDifference: true },
];

/** The loop is watched at the middle rate. */
const watchedRate = '4000';
const loopFigures = ['longestStallMs', 'longStalls', 'youngCollections', 'youngCollectionsMs', 'otherCollections', 'otherCollectionsMs', 'longestCollectionMs'];

const tail: Scenario = {
  name: 'tail',
  title: () => 'requests at fixed rates, timed from when they fell due',
  needsDirect: false,
  isLong: true,
  roundsMax: Infinity,
  quickRoundsMax: 1,
  measure: async (measure, subject, scale) => {
    const found: Figures = { badStatus: 0, failed: 0, unfinished: 0 };
    for (const [name, perSecond] of tailRates(measure)) {
      const figures = await measure.paced(subject, perSecond, scale.seconds);
      found[`rate${name}`] = perSecond;
      for (const figure of ['p50Us', 'p99Us', 'p999Us', 'lateP99Us']) found[`${figure}${name}`] = figures[figure] ?? NaN;
      for (const figure of ['badStatus', 'failed', 'unfinished']) found[figure] = (found[figure] ?? 0) + (figures[figure] ?? 0);
      if (name === watchedRate) for (const figure of loopFigures) found[figure] = figures[figure] ?? NaN;
    }
    return found;
  },
  rows: [
    ...tailRows('1000', '1,000/s'),
    ...tailRows('4000', '4,000/s'),
    { figure: 'ratehalf', label: 'half of what the slower one carries', unit: '/s', better: 'higher' },
    ...tailRows('half', 'at that'),
    { figure: 'lateP99Us4000', label: 'the generator itself, late at 4,000/s: p99', unit: 'µs', better: 'lower' },
    { figure: 'longestStallMs', label: 'longest stall of the loop at 4,000/s', unit: 'ms', better: 'lower', ratio: 'longest_stall_ratio' },
    { figure: 'longStalls', label: 'stalls above 2 ms', unit: 'count', better: 'lower' },
    { figure: 'youngCollections', label: 'collections of young objects', unit: 'count', better: 'lower' },
    { figure: 'youngCollectionsMs', label: 'time in them', unit: 'ms', better: 'lower' },
    { figure: 'otherCollections', label: 'steps of other collections', unit: 'count', better: 'lower' },
    { figure: 'otherCollectionsMs', label: 'time in them', unit: 'ms', better: 'lower' },
    { figure: 'longestCollectionMs', label: 'longest collection', unit: 'ms', better: 'lower' },
    ...requestFailureRows,
    { figure: 'unfinished', label: 'unanswered at the deadline', unit: '', better: 'lower' },
  ],
};

const startsPerSecond = 200;

const starts: Scenario = {
  name: 'starts',
  title: (scale) => `${startsPerSecond} new streams/s while ${Math.min(500, scale.streamsMax)} and ${Math.min(1000, scale.streamsMax)} others run at 100 events/s`,
  needsDirect: false,
  isLong: true,
  roundsMax: 3,
  quickRoundsMax: 1,
  measure: async (measure, subject, scale) => {
    const found: Figures = { broken: 0, unfinished: 0, badStatus: 0, failed: 0 };
    for (const busy of [500, 1000]) {
      const figures = await measure.startsUnder(subject, Math.min(busy, scale.streamsMax), 100, startsPerSecond, scale.seconds);
      for (const figure of ['firstByteP50Us', 'firstByteP99Us', 'eventsPerSecond', 'cpuPerEventUs']) found[`${figure}${busy}`] = figures[figure] ?? NaN;
      for (const figure of ['broken', 'unfinished', 'badStatus', 'failed']) found[figure] = (found[figure] ?? 0) + (figures[figure] ?? 0);
    }
    return found;
  },
  rows: [500, 1000].flatMap((busy): readonly Row[] => [
    { figure: `firstByteP50Us${busy}`, label: `beside ${busy}: first byte p50`, unit: 'µs', better: 'lower', ratio: `first_byte_p50_${busy}_ratio` },
    { figure: `firstByteP99Us${busy}`, label: `beside ${busy}: first byte p99`, unit: 'µs', better: 'lower', ratio: `first_byte_p99_${busy}_ratio`, hasDifference: true },
    { figure: `eventsPerSecond${busy}`, label: `beside ${busy}: events/s of those`, unit: '/s', better: 'higher' },
    { figure: `cpuPerEventUs${busy}`, label: `beside ${busy}: CPU per event of those`, unit: 'µs', better: 'lower' },
  ]).concat(streamFailureRows, requestFailureRows.slice(1)),
};

const firstToken: Scenario = {
  name: 'first-token',
  title: () => 'first token, one stream at a time',
  needsDirect: true,
  roundsMax: Infinity,
  quickRoundsMax: 2,
  measure: (measure, subject, scale) => measure.firstToken(subject, scale.seconds),
  derive: (figures, direct) => ({ addedP50Us: added(figures, direct, 'firstTokenP50Us'), addedP99Us: added(figures, direct, 'firstTokenP99Us') }),
  rows: [
    { figure: 'firstTokenP50Us', label: 'first token p50', unit: 'µs', better: 'lower' },
    { figure: 'firstTokenP99Us', label: 'first token p99', unit: 'µs', better: 'lower' },
    { figure: 'addedP50Us', label: 'added p50', unit: 'µs', better: 'lower', ratio: 'added_first_token_ratio' },
    { figure: 'addedP99Us', label: 'added p99', unit: 'µs', better: 'lower' },
    ...requestFailureRows,
  ],
};

const pace: Scenario = {
  name: 'pace',
  title: () => 'pace, 100 streams of 50 events/s',
  needsDirect: false,
  roundsMax: 2,
  quickRoundsMax: 1,
  measure: (measure, subject, scale) => measure.streams(subject, 100, 50, busySeconds(scale), 5),
  rows: [
    { figure: 'gapP50Us', label: 'gap between events p50', unit: 'µs', better: 'lower' },
    { figure: 'gapP99Us', label: 'gap between events p99', unit: 'µs', better: 'lower' },
    { figure: 'deliveryP50Us', label: 'write to read p50', unit: 'µs', better: 'lower', ratio: 'delivery_p50_ratio' },
    { figure: 'deliveryP99Us', label: 'write to read p99', unit: 'µs', better: 'lower' },
    ...streamFailureRows,
  ],
};

const streams: Scenario = {
  name: 'streams',
  title: (scale) => `${Math.min(1000, scale.streamsMax)} streams of 100 events/s`,
  needsDirect: false,
  roundsMax: 2,
  quickRoundsMax: 1,
  measure: (measure, subject, scale) => measure.streams(subject, Math.min(1000, scale.streamsMax), 100, busySeconds(scale) + 0.5, 20),
  rows: [
    { figure: 'eventsPerSecond', label: 'events/s received', unit: '/s', better: 'higher', ratio: 'streams_events_ratio' },
    { figure: 'events', label: 'events received', unit: '', better: 'higher' },
    { figure: 'eventsExpected', label: 'events expected', unit: '', better: 'higher' },
    { figure: 'cpuPerEventUs', label: 'CPU per event', unit: 'µs', better: 'lower', ratio: 'cpu_per_event_ratio' },
    ...instructionRows('event', 'instructions_per_event_ratio'),
    { figure: 'deliveryP50Us', label: 'write to read p50', unit: 'µs', better: 'lower' },
    { figure: 'deliveryP99Us', label: 'write to read p99', unit: 'µs', better: 'lower' },
    { figure: 'gapP99Us', label: 'gap between events p99', unit: 'µs', better: 'lower' },
    ...streamFailureRows,
  ],
};

const held: Scenario = {
  name: 'held',
  title: (scale) => `${Math.min(2000, scale.streamsMax)} streams held, 5 events/s each`,
  needsDirect: false,
  roundsMax: 1,
  quickRoundsMax: 1,
  measure: async (measure, subject, scale) => {
    const count = Math.min(2000, scale.streamsMax);
    const run = await measure.peakMib(subject, () => measure.streams(subject, count, 5, busySeconds(scale) + 1, 25));
    return { ...run.figures, peakMib: run.peakMib };
  },
  rows: [
    { figure: 'heldMax', label: 'streams open at once', unit: '', better: 'higher' },
    { figure: 'whole', label: 'streams whole', unit: '', better: 'higher', ratio: 'held_ratio' },
    { figure: 'firstTokenP99Us', label: 'first token p99', unit: 'µs', better: 'lower' },
    { figure: 'peakMib', label: 'resident memory, highest', unit: 'MiB', better: 'lower' },
    ...streamFailureRows,
  ],
};

const memory: Scenario = {
  name: 'memory',
  title: () => `memory, ${bigBodies} concurrent posts of ${bigBodyBytes / 1024} KiB`,
  needsDirect: false,
  roundsMax: 1,
  quickRoundsMax: 1,
  measure: async (measure, subject, scale) => {
    const run = await measure.peakMib(subject, () => measure.burst(subject, bigBodies, bigBodyBytes, 1000));
    const settleMs = Math.min(2, scale.seconds) * 1000;
    const afterMib = await measure.settledMib(subject, settleMs);
    const laterMib = scale.isQuick ? NaN : await measure.settledMib(subject, restMs - settleMs);
    return { ...run.figures, idleMib: subject.idleMib, peakMib: run.peakMib, peakPerByte: run.peakMib / ((bigBodies * bigBodyBytes) / 2 ** 20), afterMib, laterMib };
  },
  rows: [
    { figure: 'idleMib', label: 'resident, idle after start', unit: 'MiB', better: 'lower' },
    { figure: 'peakMib', label: 'resident, highest under load', unit: 'MiB', better: 'lower', ratio: 'memory_peak_ratio' },
    { figure: 'peakPerByte', label: 'the same for each byte in flight', unit: 'bytes', better: 'lower', ratio: 'memory_per_byte_ratio' },
    { figure: 'afterMib', label: 'resident, after', unit: 'MiB', better: 'lower', ratio: 'memory_after_ratio' },
    { figure: 'laterMib', label: 'resident, 10 s after', unit: 'MiB', better: 'lower', ratio: 'memory_later_ratio' },
    { figure: 'requests', label: 'answers', unit: '', better: 'higher' },
    { figure: 'p99Us', label: 'p99 (1 s of it is the provider)', unit: 'µs', better: 'lower' },
    ...requestFailureRows,
    { figure: 'unfinished', label: 'unanswered at the deadline', unit: '', better: 'lower' },
  ],
};

export const scenarios: readonly Scenario[] = [rate, checks, policies, cache, latency, tail, firstToken, pace, streams, starts, checkedStreams, held, memory];
