// The format of a row of logs, both ways. A batch is plain MessagePack: `[format, fields, records]`, where `fields` names the members once
// and each record is the array of its values. So any MessagePack library reads it, and a later version reads what an earlier one wrote: a
// field it misses has its blank value, a field it does not know is left out. `format` changes only when this no longer holds.

import type { LogRecord } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';

export const logBatchFormat = 1;

/** What a field is when the batch was written before there was such a field. Its type is the field's type. */
const blank: LogRecord = {
  id: '', traceId: '', spanId: '', parentSpanId: '', spanName: '', organisationId: '', workspaceId: '', keyId: '',
  endpoint: 'proxy', method: '', path: '', provider: '', model: '', targetPath: '', status: 0, ended: 'complete', errorCode: '',
  isStream: false, attempts: 0, cacheStatus: '', finishReason: '',
  inputTokens: -1, outputTokens: -1, totalTokens: -1, cachedTokens: -1, reasoningTokens: -1, requestBytes: 0, responseBytes: 0,
  startedAtMs: 0, firstByteMs: -1, tookMs: 0, upstreamMs: 0, metadata: '', hookResults: '',
};
const blankFields: Readonly<Record<string, unknown>> = { ...blank };
const fields = Object.keys(blankFields);
/** The values in the order of `fields`; written out because a loop over names is several times slower. */
const valuesOf = (record: LogRecord): readonly unknown[] => [
  record.id, record.traceId, record.spanId, record.parentSpanId, record.spanName, record.organisationId, record.workspaceId, record.keyId,
  record.endpoint, record.method, record.path, record.provider, record.model, record.targetPath, record.status, record.ended, record.errorCode,
  record.isStream, record.attempts, record.cacheStatus, record.finishReason,
  record.inputTokens, record.outputTokens, record.totalTokens, record.cachedTokens, record.reasoningTokens, record.requestBytes, record.responseBytes,
  record.startedAtMs, record.firstByteMs, record.tookMs, record.upstreamMs, record.metadata, record.hookResults,
];

const packr = new Packr({ useRecords: false });

/** The value of the row that holds `batch`. */
export function packLogBatch(batch: readonly LogRecord[]): Uint8Array {
  return packr.pack([logBatchFormat, fields, batch.map(valuesOf)]);
}

/** The records of a row that the `store` exporter wrote, in the order they were given to it. */
export function readLogBatch(value: Uint8Array): LogRecord[] {
  let batch: unknown;
  try {
    batch = packr.unpack(value);
  } catch (thrown) {
    throw new Error('the log batch is damaged: it is not MessagePack', { cause: thrown });
  }
  if (!Array.isArray(batch) || !Number.isInteger(batch[0])) throw new Error('the log batch is damaged: it has no format');
  if (batch[0] !== logBatchFormat) throw new Error(`the log batch has format ${String(batch[0])}, newer than the ${logBatchFormat} that is read here; update the gateway`);
  const names: unknown = batch[1];
  const rows: unknown = batch[2];
  if (!Array.isArray(names) || !Array.isArray(rows)) throw new Error('the log batch is damaged: it has no fields or no records');
  return rows.map((row) => readRecord(names, row));
}

function readRecord(names: readonly unknown[], row: unknown): LogRecord {
  if (!Array.isArray(row)) throw new Error('the log batch is damaged: a record is not an array');
  const record: Record<string, unknown> = { ...blankFields };
  for (let index = 0; index < names.length; index += 1) {
    const name = String(names[index]);
    if (!Object.hasOwn(blankFields, name)) continue;
    const value: unknown = row[index];
    const type = typeof blankFields[name];
    if (typeof value !== type) throw new Error(`the log batch is damaged: ${name} is not a ${type}`);
    record[name] = value;
  }
  // Each field of `blank` is there, with a value of its type.
  return record as unknown as LogRecord;
}
