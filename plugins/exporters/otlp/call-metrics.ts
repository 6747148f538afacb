// Metrics of the GenAI conventions, made of records by the official SDK on the log thread. The SDK bounds the series of one message, and keeps those of all
// before it: so what has series of its own is decided here. Where each message tells what is new, its sums end with it; where sums go on from message to
// message, all of them begin anew when series that nobody needs any more take the room of others. Sums end only when the message that tells them was taken.

import type { Attributes, Counter, Histogram, HrTime } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import { AggregationTemporality, MeterProvider, MetricReader, type MetricData, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { isCachedAnswer, type LogRecord } from '@gateway/plugin-sdk';
import { LabelSets, otherLabel } from '../common/label-sets.js';
import { attribute, errorOf, metric, operationOf, providerOf, secondsBuckets, tokenBuckets } from './conventions.js';

const msOfSecond = 1000;
/** Sums go on for so long at the least; a series that nobody recorded for so long is idle. */
const generationMs = 3_600_000;
/** As the specification of OpenTelemetry has it. */
const overflow: Attributes = Object.freeze({ 'otel.metric.overflow': true });

export interface CallMetricsOptions {
  readonly resource: Resource;
  readonly scope: string;
  readonly isDelta: boolean;
  /** Series of one metric; what is beyond goes into one that says so. */
  readonly seriesMax: number;
  readonly now: () => number;
}

/** Gives what was counted when it is asked. */
class AskedReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** The series of one metric, and when each was last recorded. */
class Series {
  readonly #seenAtMs = new Map<string, number>();

  constructor(readonly seriesMax: number) {}

  /** One place is for the overflow. */
  attributesOf(attributes: Attributes, nowMs: number): Attributes {
    const key = JSON.stringify(attributes);
    if (!this.#seenAtMs.has(key) && this.#seenAtMs.size >= this.seriesMax - 1) return overflow;
    this.#seenAtMs.set(key, nowMs);
    return attributes;
  }

  hasIdle(nowMs: number): boolean {
    for (const seenAtMs of this.#seenAtMs.values()) if (nowMs - seenAtMs >= generationMs) return true;
    return false;
  }
}

/** All metrics from one beginning on. */
class Generation {
  readonly #reader: MetricReader;
  readonly #provider: MeterProvider;
  readonly #tokens: Histogram;
  readonly #duration: Histogram;
  readonly #firstChunk: Histogram;
  readonly #cost: Counter;
  readonly #series: { readonly [M in 'tokens' | 'duration' | 'firstChunk' | 'cost']: Series };
  /** Something found no room. */
  #isFull = false;

  constructor({ resource, scope, seriesMax }: CallMetricsOptions) {
    this.#reader = new AskedReader({ aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE, cardinalitySelector: () => seriesMax });
    this.#provider = new MeterProvider({ resource, readers: [this.#reader] });
    const meter = this.#provider.getMeter(scope);
    const seconds = { unit: 's', advice: { explicitBucketBoundaries: [...secondsBuckets] } };
    this.#tokens = meter.createHistogram(metric.tokens, { unit: '{token}', description: 'Number of input and output tokens used.', advice: { explicitBucketBoundaries: [...tokenBuckets] } });
    this.#duration = meter.createHistogram(metric.duration, { ...seconds, description: 'GenAI operation duration.' });
    this.#firstChunk = meter.createHistogram(metric.timeToFirstChunk, { ...seconds, description: 'Time to receive the first chunk of a stream.' });
    this.#cost = meter.createCounter('gateway.cost', { unit: '{USD}', description: 'What calls cost by the prices known to the gateway.' });
    this.#series = { tokens: new Series(seriesMax), duration: new Series(seriesMax), firstChunk: new Series(seriesMax), cost: new Series(seriesMax) };
  }

  add(record: LogRecord, base: Attributes, nowMs: number): void {
    const of = (series: Series, more: Attributes = {}): Attributes => {
      const attributes = base === overflow ? overflow : series.attributesOf({ ...base, ...more }, nowMs);
      if (attributes === overflow) this.#isFull = true;
      return attributes;
    };
    const { tokens, duration, firstChunk, cost } = this.#series;
    if (!isCachedAnswer(record.cacheStatus)) {
      if (record.inputTokens >= 0) this.#tokens.record(record.inputTokens, of(tokens, { [attribute.tokenType]: 'input' }));
      if (record.outputTokens >= 0) this.#tokens.record(record.outputTokens, of(tokens, { [attribute.tokenType]: 'output' }));
      if (record.cost > 0) this.#cost.add(record.cost / 100, of(cost));
    }
    // One duration for each request of a client; a target that was left is part of it.
    if (!record.isFinal) return;
    const error = errorOf(record);
    this.#duration.record(record.tookMs / msOfSecond, of(duration, error === undefined ? {} : { [attribute.errorType]: error }));
    if (record.isStream && record.firstByteMs >= 0) this.#firstChunk.record(record.firstByteMs / msOfSecond, of(firstChunk));
  }

  /** Series that are idle take the room of others. */
  isOver(nowMs: number): boolean {
    return this.#isFull && Object.values(this.#series).some((series) => series.hasIdle(nowMs));
  }

  /** Takes a few turns of promises. Null: there is nothing to tell. */
  async collect(): Promise<ResourceMetrics | null> {
    const { resourceMetrics } = await this.#reader.collect();
    return resourceMetrics.scopeMetrics.some(({ metrics }) => metrics.some(({ dataPoints }) => dataPoints.length > 0)) ? resourceMetrics : null;
  }

  close(): Promise<void> {
    return this.#provider.shutdown();
  }
}

export class CallMetrics {
  readonly #options: CallMetricsOptions;
  readonly #models: LabelSets;
  #generation: Generation;
  /** While a message is on its way with which sums end, if it is taken: what comes meanwhile counts here as well. */
  #next: Generation | null = null;
  /** What comes while sums are being read, which is neither in them for certain nor not; null at all other times. */
  #held: LogRecord[] | null = null;
  /** Until here the messages that were taken have told what is new. */
  #toldAt: HrTime | null = null;

  constructor(options: CallMetricsOptions) {
    const { seriesMax, now } = options;
    this.#options = options;
    // Each has two series of tokens.
    this.#models = new LabelSets(Math.floor(seriesMax / 2), now);
    this.#generation = new Generation(options);
  }

  /** Only calls to providers are operations: what a cache answered, or the gateway refused, is none. */
  add(record: LogRecord): void {
    if (record.source !== 'call' || record.attempts === 0 || record.provider === '') return;
    if (this.#held !== null) {
      this.#held.push(record);
      return;
    }
    const base = this.#attributesOf(record, record.status >= 200 && record.status < 300);
    const nowMs = this.#options.now();
    this.#generation.add(record, base, nowMs);
    this.#next?.add(record, base, nowMs);
  }

  #attributesOf(record: LogRecord, isSuccess: boolean): Attributes {
    const attributes: Attributes = { [attribute.operation]: operationOf(record), [attribute.provider]: providerOf(record) };
    if (record.model === '') return attributes;
    const { model } = this.#models.labelsOf(record.provider, record.model, isSuccess);
    if (model === otherLabel && record.model !== otherLabel) return overflow;
    attributes[attribute.requestModel] = model;
    if (isSuccess) attributes[attribute.responseModel] = model;
    return attributes;
  }

  /** `send` rejects: the metrics were not taken, and the next message has them as well. One at a time. */
  async tell(send: (metrics: ResourceMetrics) => Promise<void>): Promise<void> {
    const { isDelta, now } = this.#options;
    const isEnding = isDelta || this.#generation.isOver(now());
    const sums = await this.#collect(isEnding);
    if (sums === null) return;
    let isTaken = false;
    try {
      await send(isDelta ? this.#asNew(sums) : sums);
      isTaken = true;
    } finally {
      if (isTaken && isDelta) this.#toldAt = endOf(sums);
      await this.#conclude(isTaken);
    }
  }

  async #collect(isEnding: boolean): Promise<ResourceMetrics | null> {
    const held: LogRecord[] = this.#held = [];
    try {
      const sums = await this.#generation.collect();
      if (sums !== null && isEnding) this.#next = new Generation(this.#options);
      return sums;
    } finally {
      this.#held = null;
      for (const record of held) this.add(record);
    }
  }

  /** The same sums as what is new since the last message that was taken. */
  #asNew(sums: ResourceMetrics): ResourceMetrics {
    const since = this.#toldAt;
    const asNew = <D extends MetricData>(data: D): D => ({
      ...data, aggregationTemporality: AggregationTemporality.DELTA, dataPoints: data.dataPoints.map((point) => (since === null ? point : { ...point, startTime: since })),
    });
    return { ...sums, scopeMetrics: sums.scopeMetrics.map((each) => ({ ...each, metrics: each.metrics.map(asNew) })) };
  }

  async #conclude(isTaken: boolean): Promise<void> {
    if (this.#next === null) return;
    const ended = isTaken ? this.#generation : this.#next;
    if (isTaken) this.#generation = this.#next;
    this.#next = null;
    await ended.close();
  }

  async close(): Promise<void> {
    await this.#generation.close();
  }
}

/** All sums of a message are read at one time. */
function endOf({ scopeMetrics }: ResourceMetrics): HrTime | null {
  for (const { metrics } of scopeMetrics) for (const { dataPoints: [point] } of metrics) if (point !== undefined) return point.endTime;
  return null;
}
