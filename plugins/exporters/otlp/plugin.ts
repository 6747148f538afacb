import { randomUUID } from 'node:crypto';
import { defineExporter } from '@gateway/plugin-sdk';
import { Delivery } from '../common/delivery.js';
import { headersSchema, readHeaders, readUrl } from '../common/destination.js';

const signals = ['traces', 'metrics'] as const;

export default defineExporter({
  title: 'OpenTelemetry',
  describe: 'Sends finished calls as traces and metrics over OTLP/HTTP, by the GenAI semantic conventions.',
  params: {
    type: 'object',
    properties: {
      endpoint: { type: 'string', minLength: 1, description: 'Address of the receiver; traces go to /v1/traces below it, metrics to /v1/metrics.' },
      signals: { type: 'array', items: { type: 'string', enum: signals }, minItems: 1, default: ['traces', 'metrics'], description: 'What is sent.' },
      headers: headersSchema,
      encoding: { type: 'string', enum: ['protobuf', 'json'], default: 'protobuf', description: 'How messages are encoded.' },
      compression: { type: 'string', enum: ['gzip', 'none'], default: 'gzip', description: 'How messages from 1 KiB on are compressed.' },
      serviceName: { type: 'string', minLength: 1, default: 'gateway', description: 'service.name of the resource.' },
      resource: { type: 'object', properties: {}, additionalProperties: { type: 'string' }, description: 'Further attributes of the resource, such as deployment.environment.name.' },
      metadata: { type: 'boolean', default: true, description: 'Whether spans have the metadata of calls.' },
      metricsPeriodMs: { type: 'integer', minimum: 1000, maximum: 3_600_000, default: 60_000, description: 'How often metrics are sent.' },
      temporality: { type: 'string', enum: ['cumulative', 'delta'], default: 'cumulative', description: 'Whether metrics tell sums since the start, or since the message before.' },
      seriesMax: { type: 'integer', minimum: 10, maximum: 100_000, default: 2000, description: 'Series of one metric; further ones are told as one, with otel.metric.overflow.' },
      timeoutMs: { type: 'integer', minimum: 1, maximum: 30_000, default: 10_000, description: 'Milliseconds for one try.' },
      retriesMax: { type: 'integer', minimum: 0, maximum: 10, default: 4, description: 'Tries beyond the first, within 30 seconds all in all.' },
    },
    required: ['endpoint'],
  },
  batch: { countMax: 500, waitMsMax: 2000 },
  // For the address of the provider alone; bodies are not sent.
  takesBodies: true,
  create: async (params, host) => {
    const endpoint = readUrl(params.endpoint, 'endpoint');
    const headers = await readHeaders(params.headers, 'headers', host);
    const { timeoutMs, retriesMax, encoding, metricsPeriodMs, seriesMax } = params;
    const deliveryOf = (signal: (typeof signals)[number]): Delivery | null => {
      if (!params.signals.includes(signal)) return null;
      const url = new URL(endpoint);
      url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/${signal}`;
      return new Delivery(host, { url, headers, isCompressed: params.compression === 'gzip', timeoutMs, retriesMax });
    };
    // The libraries are loaded by the thread that sends, and by no other.
    const { OtlpExporter } = await import('./otlp-exporter.js');
    return new OtlpExporter(host, {
      traces: deliveryOf('traces'), metrics: deliveryOf('metrics'), encoding, metricsPeriodMs, seriesMax,
      // Sums of several processes must not be taken for one that jumps.
      resource: { ...params.resource, 'service.name': params.serviceName, 'service.instance.id': params.resource?.['service.instance.id'] ?? randomUUID() },
      hasMetadata: params.metadata, isDelta: params.temporality === 'delta',
    });
  },
});
