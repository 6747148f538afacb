import { defineExporter, type Exporter, type Host, type LogRecord } from '@gateway/plugin-sdk';
import { resolve } from 'node:path';
import { LogFile, LogFileFault } from './log-file.js';
import { StandardOutput } from './standard-output.js';

/** Callers without a key have a file of their own, of this share of the size: they turn over no line of those who have one. */
const refusedSuffix = '.refused';
const refusedShare = 16;
const refusedFilesMax = 1;
const refusedBytesMin = 64 * 1024;
/** As a path: the standard output. */
const standardOutput = '-';

interface Lines {
  append(lines: readonly string[], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

class JsonLinesExporter implements Exporter {
  /** `refused` null: all lines go the same way. */
  constructor(readonly host: Host, readonly lines: Lines, readonly refused: Lines | null, readonly takesBodies: boolean) {}

  async export(batch: readonly LogRecord[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const callers: string[] = [];
    const refused: string[] = [];
    for (const record of batch) (record.keyId === '' && this.refused !== null ? refused : callers).push(JSON.stringify(this.takesBodies ? record : { ...record, bodies: null }));
    if (callers.length > 0) await this.lines.append(callers, signal);
    if (refused.length > 0) await this.refused?.append(refused, signal);
    this.host.count('records', batch.length);
  }

  async close(): Promise<void> {
    await this.lines.close();
    await this.refused?.close();
  }
}

export default defineExporter({
  title: 'JSON lines',
  describe: 'Appends each log record as one line of JSON to a file or to the standard output, for log shippers and command line tools.',
  params: {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1, description: 'The file; relative to the directory the gateway was started in. -: the standard output.' },
      bodies: { type: 'boolean', default: false, description: 'Whether the bodies that were kept of a call go along.' },
      bytesMax: { type: 'integer', minimum: 1024, default: 104_857_600, description: 'Size at which the file is set aside as <path>.1.' },
      filesMax: { type: 'integer', minimum: 0, default: 5, description: 'How many files set aside are kept.' },
    },
    required: ['path'],
  },
  batch: { countMax: 500, waitMsMax: 1000 },
  takesBodies: true,
  create: async (params, host) => {
    if (params.path === standardOutput) return new JsonLinesExporter(host, new StandardOutput(), null, params.bodies);
    const path = resolve(params.path);
    const now = (): number => host.now();
    const file = new LogFile({ path, bytesMax: params.bytesMax, filesMax: params.filesMax, now });
    try {
      await file.open();
    } catch (thrown) {
      // The gateway starts without its log; the first batch that finds room opens the file.
      if (!(thrown instanceof LogFileFault && thrown.isNoRoom)) throw thrown;
      host.log.warn('no room for the log file', { reason: thrown.message });
    }
    const refused = new LogFile({ path: `${path}${refusedSuffix}`, bytesMax: Math.max(refusedBytesMin, Math.floor(params.bytesMax / refusedShare)), filesMax: refusedFilesMax, now });
    return new JsonLinesExporter(host, file, refused, params.bodies);
  },
});
