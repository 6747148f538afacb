// What the plugin does once it is wanted: loaded by the log thread alone, with the libraries behind it.

import { JsonMetricsSerializer, JsonTraceSerializer, ProtobufMetricsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import type { Exporter, Host, LogRecord, OutboundResponse } from '@gateway/plugin-sdk';
import type { Delivery } from '../common/delivery.js';
import { CallMetrics } from './call-metrics.js';
import { spanOf } from './spans.js';

const scope = { name: 'gateway' };
/** What is counted at the end gets this long. */
const lastMetricsMs = 2_000;
const reportEveryMs = 60_000;

export interface OtlpOptions {
  /** Null: none are sent. */
  readonly traces: Delivery | null;
  readonly metrics: Delivery | null;
  readonly encoding: 'protobuf' | 'json';
  readonly resource: Readonly<Record<string, string>>;
  readonly hasMetadata: boolean;
  readonly isDelta: boolean;
  readonly metricsPeriodMs: number;
  readonly seriesMax: number;
}

export class OtlpExporter implements Exporter {
  readonly #resource: Resource;
  readonly #metrics: CallMetrics | null;
  readonly #contentType: string;
  #reportedAtMs = -Infinity;
  #isClosed = false;

  constructor(readonly host: Host, readonly options: OtlpOptions) {
    this.#resource = resourceFromAttributes(options.resource);
    this.#contentType = options.encoding === 'json' ? 'application/json' : 'application/x-protobuf';
    this.#metrics = options.metrics === null ? null : new CallMetrics({ resource: this.#resource, scope: scope.name, isDelta: options.isDelta, seriesMax: options.seriesMax, now: () => host.now() });
    if (this.#metrics !== null) host.every(options.metricsPeriodMs, () => this.#sendMetrics(AbortSignal.timeout(options.metricsPeriodMs)));
  }

  async export(batch: readonly LogRecord[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#metrics !== null) for (const record of batch) this.#metrics.add(record);
    const { traces, hasMetadata, encoding } = this.options;
    if (traces === null || batch.length === 0) return;
    const spans = batch.map((record) => spanOf(record, { resource: this.#resource, scope, hasMetadata }));
    const serializer = encoding === 'json' ? JsonTraceSerializer : ProtobufTraceSerializer;
    const body = serializer.serializeRequest(spans);
    if (body === undefined) throw new Error('the spans could not be encoded');
    const answer = await traces.send(body, this.#contentType, signal);
    const refused = await this.#partOf(answer, (bytes) => serializer.deserializeResponse(bytes).partialSuccess);
    this.#report('spans', Number(refused?.rejectedSpans ?? 0), refused?.errorMessage);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#metrics === null) return;
    try {
      await this.#send(AbortSignal.timeout(lastMetricsMs));
    } catch (thrown) {
      this.host.count('metricsLost');
      this.host.log.warn('the last metrics could not be sent', { reason: thrown instanceof Error ? thrown.message : String(thrown) });
    }
    await this.#metrics.close();
  }

  async #sendMetrics(signal: AbortSignal): Promise<void> {
    if (this.#isClosed) return;
    try {
      await this.#send(signal);
    } catch (thrown) {
      // Sums go on: the next message has all that this one had, unless each tells only what is new.
      this.host.count('metricsLost');
      throw thrown;
    }
  }

  async #send(signal: AbortSignal): Promise<void> {
    const { metrics, encoding } = this.options;
    const collected = await this.#metrics?.collect() ?? null;
    if (metrics === null || collected === null) return;
    const serializer = encoding === 'json' ? JsonMetricsSerializer : ProtobufMetricsSerializer;
    const body = serializer.serializeRequest(collected);
    if (body === undefined) throw new Error('the metrics could not be encoded');
    const answer = await metrics.send(body, this.#contentType, signal);
    const refused = await this.#partOf(answer, (bytes) => serializer.deserializeResponse(bytes).partialSuccess);
    this.#report('dataPoints', Number(refused?.rejectedDataPoints ?? 0), refused?.errorMessage);
  }

  /** What of a request was not taken; what a far end answers that does not speak the protocol is no reason to send it again. */
  async #partOf<P>(answer: OutboundResponse, read: (bytes: Uint8Array) => P | undefined): Promise<P | undefined> {
    const bytes = await answer.bytes();
    if (bytes.length === 0) return undefined;
    try {
      return read(bytes);
    } catch {
      return undefined;
    }
  }

  #report(what: 'spans' | 'dataPoints', count: number, reason: string | undefined): void {
    if (count > 0) this.host.count(`rejected.${what}`, count);
    if (count === 0 && (reason === undefined || reason === '')) return;
    const now = this.host.now();
    if (now - this.#reportedAtMs < reportEveryMs) return;
    this.#reportedAtMs = now;
    this.host.log.warn('the far end took only a part', { what, rejected: count, reason: reason ?? '' });
  }
}
