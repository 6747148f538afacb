import { defineExporter, type Exporter, type LogRecord, type MetricsText, type ProcessFigures } from '@gateway/plugin-sdk';
import type { ProcessText } from './process-text.js';
import type { RequestFigures } from './request-figures.js';

/** Of the text format that every Prometheus reads. */
const contentType = 'text/plain; version=0.0.4; charset=utf-8';

class PrometheusExporter implements Exporter {
  constructor(readonly requests: RequestFigures, readonly process: ProcessText) {}

  export(batch: readonly LogRecord[], signal: AbortSignal): void {
    signal.throwIfAborted();
    for (const record of batch) this.requests.add(record);
  }

  async scrape(figures: ProcessFigures): Promise<MetricsText> {
    const own = await this.requests.text();
    return { contentType, text: `${own}\n${await this.process.text(figures)}` };
  }
}

export default defineExporter({
  title: 'Prometheus',
  describe: 'Counts calls, errors, durations, tokens and cost, and answers GET /metrics with them and with the figures of the process.',
  params: {
    type: 'object',
    properties: {
      modelsMax: { type: 'integer', minimum: 1, maximum: 10_000, default: 500, description: 'Pairs of provider and model that are counted apart; further ones are counted as "other".' },
    },
  },
  batch: { countMax: 500, waitMsMax: 500 },
  // The library is loaded by the thread that counts, and by no other.
  create: async ({ modelsMax }, host) => {
    const [{ RequestFigures: Requests }, { ProcessText: Text }] = await Promise.all([import('./request-figures.js'), import('./process-text.js')]);
    return new PrometheusExporter(new Requests(modelsMax, () => host.now()), new Text());
  },
});
