import { defineExporter, type Exporter, type Host, type LogRecord } from '@gateway/plugin-sdk';
import { Delivery } from '../common/delivery.js';
import { headersSchema, readHeaders, readUrl } from '../common/destination.js';

/** One request is no longer than this, unless a single record is. */
const bodyCharsMax = 4 * 1024 * 1024;

class HttpExporter implements Exporter {
  constructor(readonly host: Host, readonly delivery: Delivery, readonly format: 'array' | 'lines', readonly takesBodies: boolean) {}

  async export(batch: readonly LogRecord[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const texts = batch.map((record) => JSON.stringify(this.takesBodies ? record : { ...record, bodies: null }));
    for (let start = 0; start < texts.length;) {
      let chars = 0;
      let end = start;
      for (; end < texts.length; end += 1) {
        chars += texts[end]?.length ?? 0;
        if (chars > bodyCharsMax && end > start) break;
      }
      await this.#send(texts.slice(start, end), signal);
      start = end;
    }
    this.host.count('records', batch.length);
  }

  async #send(texts: readonly string[], signal: AbortSignal): Promise<void> {
    const [text, contentType] = this.format === 'array' ? [`[${texts.join(',')}]`, 'application/json'] : [`${texts.join('\n')}\n`, 'application/x-ndjson'];
    await this.delivery.send(Buffer.from(text), contentType, signal);
  }
}

export default defineExporter({
  title: 'HTTP',
  describe: 'Posts batches of log records as JSON to an address of yours.',
  params: {
    type: 'object',
    properties: {
      url: { type: 'string', minLength: 1, description: 'Where batches are posted to, http or https.' },
      headers: headersSchema,
      format: { type: 'string', enum: ['array', 'lines'], default: 'array', description: 'A JSON array, or one line of JSON for each record.' },
      compression: { type: 'string', enum: ['gzip', 'none'], default: 'gzip', description: 'How bodies from 1 KiB on are compressed.' },
      bodies: { type: 'boolean', default: false, description: 'Whether the bodies that were kept of a call go along.' },
      timeoutMs: { type: 'integer', minimum: 1, maximum: 30_000, default: 10_000, description: 'Milliseconds for one try.' },
      retriesMax: { type: 'integer', minimum: 0, maximum: 10, default: 4, description: 'Tries beyond the first, within 30 seconds all in all.' },
    },
    required: ['url'],
  },
  batch: { countMax: 500, waitMsMax: 1000 },
  takesBodies: true,
  create: async (params, host) => {
    const url = readUrl(params.url, 'url');
    const headers = await readHeaders(params.headers, 'headers', host);
    const { timeoutMs, retriesMax } = params;
    return new HttpExporter(host, new Delivery(host, { url, headers, isCompressed: params.compression === 'gzip', timeoutMs, retriesMax }), params.format, params.bodies);
  },
});
