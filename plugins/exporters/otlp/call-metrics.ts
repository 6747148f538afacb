// Metrics of the GenAI conventions, made of records by the official SDK on the log thread. The SDK bounds the series of one message, and keeps those of all
// before it: so what has series of its own is decided here, and where sums go on from message to message all of them begin anew when series that nobody
// needs any more take the room of others.

import type { Attributes, Counter, Histogram } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import { AggregationTemporality, MeterProvider, MetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
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

  clear(): void {
    this.#seenAtMs.clear();
  }
}

/** All metrics from one beginning on. */
class Generation {
  readonly reader: MetricReader;
  readonly #provider: MeterProvider;
  readonly tokens: Histogram;
  readonly duration: Histogram;
  readonly firstChunk: Histogram;
  readonly cost: Counter;

  constructor({ resource, scope, isDelta, seriesMax }: CallMetricsOptions) {
    const temporality = isDelta ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE;
    this.reader = new AskedReader({ aggregationTemporalitySelector: () => temporality, cardinalitySelector: () => seriesMax });
    this.#provider = new MeterProvider({ resource, readers: [this.reader] });
    const meter = this.#provider.getMeter(scope);
    const seconds = { unit: 's', advice: { explicitBucketBoundaries: [...secondsBuckets] } };
    this.tokens = meter.createHistogram(metric.tokens, { unit: '{token}', description: 'Number of input and output tokens used.', advice: { explicitBucketBoundaries: [...tokenBuckets] } });
    this.duration = meter.createHistogram(metric.duration, { ...seconds, description: 'GenAI operation duration.' });
    this.firstChunk = meter.createHistogram(metric.timeToFirstChunk, { ...seconds, description: 'Time to receive the first chunk of a stream.' });
    this.cost = meter.createCounter('gateway.cost', { unit: '{USD}', description: 'What calls cost by the prices known to the gateway.' });
  }

  close(): Promise<void> {
    return this.#provider.shutdown();
  }
}

export class CallMetrics {
  readonly #options: CallMetricsOptions;
  readonly #models: LabelSets;
  readonly #series: { readonly [M in 'tokens' | 'duration' | 'firstChunk' | 'cost']: Series };
  #generation: Generation;
  /** Something found no room since the generation began. */
  #isFull = false;

  constructor(options: CallMetricsOptions) {
    const { seriesMax, now } = options;
    this.#options = options;
    // Each has two series of tokens.
    this.#models = new LabelSets(Math.floor(seriesMax / 2), now);
    this.#series = { tokens: new Series(seriesMax), duration: new Series(seriesMax), firstChunk: new Series(seriesMax), cost: new Series(seriesMax) };
    this.#generation = new Generation(options);
  }

  /** Only calls to providers are operations: what a cache answered, or the gateway refused, is none. */
  add(record: LogRecord): void {
    if (record.source !== 'call' || record.attempts === 0 || record.provider === '') return;
    const { tokens, duration, firstChunk, cost } = this.#generation;
    const nowMs = this.#options.now();
    const isSuccess = record.status >= 200 && record.status < 300;
    const base = this.#attributesOf(record, isSuccess);
    const of = (series: Series, more: Attributes = {}): Attributes => {
      const attributes = base === overflow ? overflow : series.attributesOf({ ...base, ...more }, nowMs);
      if (attributes === overflow) this.#isFull = true;
      return attributes;
    };
    const { tokens: ofTokens, duration: ofDuration, firstChunk: ofFirstChunk, cost: ofCost } = this.#series;
    if (!isCachedAnswer(record.cacheStatus)) {
      if (record.inputTokens >= 0) tokens.record(record.inputTokens, of(ofTokens, { [attribute.tokenType]: 'input' }));
      if (record.outputTokens >= 0) tokens.record(record.outputTokens, of(ofTokens, { [attribute.tokenType]: 'output' }));
      if (record.cost > 0) cost.add(record.cost / 100, of(ofCost));
    }
    // One duration for each request of a client; a target that was left is part of it.
    if (!record.isFinal) return;
    const error = errorOf(record);
    duration.record(record.tookMs / msOfSecond, of(ofDuration, error === undefined ? {} : { [attribute.errorType]: error }));
    if (record.isStream && record.firstByteMs >= 0) firstChunk.record(record.firstByteMs / msOfSecond, of(ofFirstChunk));
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

  /** Null: there is nothing to tell. */
  async collect(): Promise<ResourceMetrics | null> {
    const generation = this.#generation;
    const isLast = this.#beginAnew();
    const { resourceMetrics } = await generation.reader.collect();
    if (isLast) await generation.close();
    return resourceMetrics.scopeMetrics.some(({ metrics }) => metrics.some(({ dataPoints }) => dataPoints.length > 0)) ? resourceMetrics : null;
  }

  /** What is recorded from now on is of the next message. True: the sums of this one are not gone on with. */
  #beginAnew(): boolean {
    const { isDelta, now } = this.#options;
    const nowMs = now();
    const all = Object.values(this.#series);
    if (!isDelta && !(this.#isFull && all.some((series) => series.hasIdle(nowMs)))) return false;
    for (const series of all) series.clear();
    this.#isFull = false;
    if (isDelta) return false;
    this.#generation = new Generation(this.#options);
    return true;
  }

  async close(): Promise<void> {
    await this.#generation.close();
  }
}
