// Metrics of the GenAI conventions, made of records by the official SDK on the log thread, which also bounds their series.

import type { Attributes, Counter, Histogram } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import { AggregationTemporality, MeterProvider, MetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { isCachedAnswer, type LogRecord } from '@gateway/plugin-sdk';
import { attribute, errorOf, metric, operationOf, providerOf, secondsBuckets, tokenBuckets } from './conventions.js';

const msOfSecond = 1000;
/** Answers that another call has paid for. */

export interface CallMetricsOptions {
  readonly resource: Resource;
  readonly scope: string;
  readonly isDelta: boolean;
  /** Series of one metric; what is beyond goes into one that says so. */
  readonly seriesMax: number;
}

/** Gives what was counted when it is asked. */
class AskedReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export class CallMetrics {
  readonly #reader: MetricReader;
  readonly #provider: MeterProvider;
  readonly #tokens: Histogram;
  readonly #duration: Histogram;
  readonly #firstChunk: Histogram;
  readonly #cost: Counter;

  constructor({ resource, scope, isDelta, seriesMax }: CallMetricsOptions) {
    const temporality = isDelta ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE;
    this.#reader = new AskedReader({ aggregationTemporalitySelector: () => temporality, cardinalitySelector: () => seriesMax });
    this.#provider = new MeterProvider({ resource, readers: [this.#reader] });
    const meter = this.#provider.getMeter(scope);
    const seconds = { unit: 's', advice: { explicitBucketBoundaries: [...secondsBuckets] } };
    this.#tokens = meter.createHistogram(metric.tokens, { unit: '{token}', description: 'Number of input and output tokens used.', advice: { explicitBucketBoundaries: [...tokenBuckets] } });
    this.#duration = meter.createHistogram(metric.duration, { ...seconds, description: 'GenAI operation duration.' });
    this.#firstChunk = meter.createHistogram(metric.timeToFirstChunk, { ...seconds, description: 'Time to receive the first chunk of a stream.' });
    this.#cost = meter.createCounter('gateway.cost', { unit: '{USD}', description: 'What calls cost by the prices known to the gateway.' });
  }

  /** Only calls to providers are operations: what a cache answered, or the gateway refused, is none. */
  add(record: LogRecord): void {
    if (record.source !== 'call' || record.attempts === 0 || record.provider === '') return;
    const attributes: Attributes = { [attribute.operation]: operationOf(record), [attribute.provider]: providerOf(record) };
    if (record.model !== '') {
      attributes[attribute.requestModel] = record.model;
      if (record.status >= 200 && record.status < 300) attributes[attribute.responseModel] = record.model;
    }
    if (!isCachedAnswer(record.cacheStatus)) {
      if (record.inputTokens >= 0) this.#tokens.record(record.inputTokens, { ...attributes, [attribute.tokenType]: 'input' });
      if (record.outputTokens >= 0) this.#tokens.record(record.outputTokens, { ...attributes, [attribute.tokenType]: 'output' });
      if (record.cost > 0) this.#cost.add(record.cost / 100, attributes);
    }
    // One duration for each request of a client; a target that was left is part of it.
    if (!record.isFinal) return;
    const error = errorOf(record);
    this.#duration.record(record.tookMs / msOfSecond, error === undefined ? attributes : { ...attributes, [attribute.errorType]: error });
    if (record.isStream && record.firstByteMs >= 0) this.#firstChunk.record(record.firstByteMs / msOfSecond, attributes);
  }

  /** Null: there is nothing to tell. */
  async collect(): Promise<ResourceMetrics | null> {
    const { resourceMetrics } = await this.#reader.collect();
    return resourceMetrics.scopeMetrics.some(({ metrics }) => metrics.some(({ dataPoints }) => dataPoints.length > 0)) ? resourceMetrics : null;
  }

  async close(): Promise<void> {
    await this.#provider.shutdown();
  }
}
