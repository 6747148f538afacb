// What the plugin does once it is wanted: loaded by the log thread alone, with the libraries behind it.

import { JsonMetricsSerializer, JsonTraceSerializer, ProtobufMetricsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import type { Exporter, Host, LogRecord, OutboundResponse } from '@gateway/plugin-sdk';
import type { Delivery } from '../common/delivery.js';
import { CallMetrics } from './call-metrics.js';
import { spanOf } from './spans.js';

const scope = { name: 'gateway' };
/** What is counted at the end gets this long, half of it for the message that is on its way. */
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
  /** The message that is on its way, which never rejects, and what gives it up. */
  #sending: Promise<void> = Promise.resolve();
  #cut = new AbortController();
  #reportedAtMs = -Infinity;
  #isClosed = false;

  constructor(readonly host: Host, readonly options: OtlpOptions) {
    this.#resource = resourceFromAttributes(options.resource);
    this.#contentType = options.encoding === 'json' ? 'application/json' : 'application/x-protobuf';
    this.#metrics = options.metrics === null ? null : new CallMetrics({ resource: this.#resource, scope: scope.name, isDelta: options.isDelta, seriesMax: options.seriesMax, now: () => host.now() });
    if (this.#metrics !== null) host.every(options.metricsPeriodMs, () => this.#sendMetrics());
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
    const deadline = AbortSignal.timeout(lastMetricsMs);
    const cut = setTimeout(() => this.#cut.abort(new Error('the gateway is shutting down')), lastMetricsMs / 2);
    await this.#sending;
    clearTimeout(cut);
    try {
      await this.#send(this.#metrics, deadline);
    } catch (thrown) {
      this.host.count('metricsLost');
      this.host.log.warn('the last metrics could not be sent', { reason: thrown instanceof Error ? thrown.message : String(thrown) });
    }
    await this.#metrics.close();
  }

  /** What is not taken is told by the next message. */
  async #sendMetrics(): Promise<void> {
    if (this.#isClosed || this.#metrics === null) return;
    const { metricsPeriodMs } = this.options;
    const cut = this.#cut = new AbortController();
    const late = setTimeout(() => cut.abort(new Error(`the metrics were not taken within ${metricsPeriodMs} ms`)), metricsPeriodMs);
    const sent = this.#send(this.#metrics, cut.signal).finally(() => clearTimeout(late));
    this.#sending = sent.catch(() => { this.host.count('metricsFailed'); });
    await sent;
  }

  #send(metrics: CallMetrics, signal: AbortSignal): Promise<void> {
    const { metrics: delivery, encoding } = this.options;
    const serializer = encoding === 'json' ? JsonMetricsSerializer : ProtobufMetricsSerializer;
    return metrics.tell(async (told) => {
      const body = serializer.serializeRequest(told);
      if (body === undefined) throw new Error('the metrics could not be encoded');
      const answer = await delivery?.send(body, this.#contentType, signal);
      const refused = answer === undefined ? undefined : await this.#partOf(answer, (bytes) => serializer.deserializeResponse(bytes).partialSuccess);
      this.#report('dataPoints', Number(refused?.rejectedDataPoints ?? 0), refused?.errorMessage);
    });
  }

  /** What of a request was not taken; what a far end answers that does not speak the protocol is no reason to send it again. */
  async #partOf<P>(answer: OutboundResponse, read: (bytes: Uint8Array) => P | undefined): Promise<P | undefined> {
    try {
      const bytes = await answer.bytes();
      return bytes.length === 0 ? undefined : read(bytes);
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
