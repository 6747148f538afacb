// Records of calls for tests of what reads them: the `store` exporter and its reader, in memory.

import type { LogReader, LogRecord } from '@gateway/plugin-sdk';
import { fakeHost, sampleLogRecord, type FakeHost } from '@gateway/plugin-sdk/testing';
import storeExporter from '../../plugins/exporters/store/plugin.js';

export interface TestLogs {
  readonly host: FakeHost;
  readonly reader: LogReader;
  /** Writes records as calls do; each is a sample with these changes. */
  add(...changes: readonly Partial<LogRecord>[]): Promise<void>;
}

const params = { bytesMax: 1_073_741_824, ageDaysMax: 30, bodiesBytesMax: 1024 * 1024 * 1024, bodiesDaysMax: 30 };
/** Records of a batch, as the exporter gets them. */
const batchCount = 500;

export async function startLogs(host: FakeHost = fakeHost()): Promise<TestLogs> {
  const exporter = await storeExporter.create(params, host);
  const reader = await storeExporter.reader?.(params, host);
  if (reader === undefined) throw new Error('the exporter has no reader');
  return {
    host, reader,
    add: async (...changes) => {
      const records = changes.map((each) => sampleLogRecord(each));
      for (let from = 0; from < records.length; from += batchCount) await exporter.export(records.slice(from, from + batchCount), new AbortController().signal);
    },
  };
}
