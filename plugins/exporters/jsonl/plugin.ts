import { defineExporter, type Exporter, type Host, type LogRecord } from '@gateway/plugin-sdk';
import { resolve } from 'node:path';
import { LogFile } from './log-file.js';

class JsonLinesExporter implements Exporter {
  constructor(readonly host: Host, readonly file: LogFile) {}

  async export(batch: readonly LogRecord[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (batch.length === 0) return;
    await this.file.append(batch.map((record) => JSON.stringify(record)), signal);
    this.host.count('records', batch.length);
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

export default defineExporter({
  title: 'JSON lines',
  describe: 'Appends each log record as one line of JSON to a file, for log shippers and command line tools.',
  params: {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1, description: 'The file; relative to the directory the gateway was started in.' },
      bytesMax: { type: 'integer', minimum: 1024, default: 104_857_600, description: 'Size at which the file is set aside as <path>.1.' },
      filesMax: { type: 'integer', minimum: 0, default: 5, description: 'How many files set aside are kept.' },
    },
    required: ['path'],
  },
  batch: { countMax: 500, waitMsMax: 1000 },
  create: async (params, host) => {
    const file = new LogFile({ path: resolve(params.path), bytesMax: params.bytesMax, filesMax: params.filesMax, now: () => host.now() });
    await file.open();
    return new JsonLinesExporter(host, file);
  },
});
