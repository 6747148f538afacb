// The format of a row of logs, both ways. A batch is plain MessagePack: `[format, count, fields, columns]`, one column for each field, in the form that
// takes least (columns.ts). So any MessagePack library reads it, and a later version reads what an earlier one wrote: a field it misses has its
// blank value, a field it does not know is left out. `format` changes only when this no longer holds. Format 1, `[1, fields, records]` with the
// array of its values for each record, is read and no longer written.

import type { LogRecord } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';
import { NumberColumn, readColumn, ValueColumn } from './columns.js';

const logBatchFormat = 2;
const rowFormat = 1;
/** Nobody writes as many in one batch; what says so is damaged. */
const countMax = 1_000_000;

/** Bodies are kept elsewhere. */
export type KeptRecord = Omit<LogRecord, 'bodies'>;

/** What a field is when the batch was written before there was such a field. Its type is the field's type. */
const blank: KeptRecord = {
  id: '', traceId: '', spanId: '', parentSpanId: '', spanName: '', organisationId: '', workspaceId: '', keyId: '',
  endpoint: 'proxy', method: '', path: '', provider: '', model: '', targetPath: '', status: 0, ended: 'complete', errorCode: '',
  isStream: false, attempts: 0, cacheStatus: '', finishReason: '',
  inputTokens: -1, outputTokens: -1, totalTokens: -1, cachedTokens: -1, reasoningTokens: -1, requestBytes: 0, responseBytes: 0,
  startedAtMs: 0, firstByteMs: -1, tookMs: 0, upstreamMs: 0, metadata: '', hookResults: '', configId: '', configVersionId: '', providerSlug: '',
  promptSlug: '', promptId: '', promptVersionId: '', isFinal: true, targetIndex: 0, retries: 0, cacheWriteTokens: -1, inputAudioTokens: -1,
  inputImageTokens: -1, outputAudioTokens: -1, outputImageTokens: -1, cost: -1, saved: 0, isPriced: false, decision: '', source: 'call',
};
export const blankFields: Readonly<Record<string, unknown>> = { ...blank };
/** Filled and emptied by one batch at a time. */
const columns: { readonly [Name in keyof KeptRecord]: KeptRecord[Name] extends number ? NumberColumn : ValueColumn } = {
  id: new ValueColumn(), traceId: new ValueColumn(), spanId: new ValueColumn(), parentSpanId: new ValueColumn(),
  spanName: new ValueColumn(), organisationId: new ValueColumn(), workspaceId: new ValueColumn(), keyId: new ValueColumn(),
  endpoint: new ValueColumn(), method: new ValueColumn(), path: new ValueColumn(), provider: new ValueColumn(), model: new ValueColumn(),
  targetPath: new ValueColumn(), status: new NumberColumn(), ended: new ValueColumn(), errorCode: new ValueColumn(),
  isStream: new ValueColumn(), attempts: new NumberColumn(), cacheStatus: new ValueColumn(), finishReason: new ValueColumn(),
  inputTokens: new NumberColumn(), outputTokens: new NumberColumn(), totalTokens: new NumberColumn(), cachedTokens: new NumberColumn(),
  reasoningTokens: new NumberColumn(), requestBytes: new NumberColumn(), responseBytes: new NumberColumn(), startedAtMs: new NumberColumn(),
  firstByteMs: new NumberColumn(), tookMs: new NumberColumn(), upstreamMs: new NumberColumn(), metadata: new ValueColumn(),
  hookResults: new ValueColumn(), configId: new ValueColumn(), configVersionId: new ValueColumn(), providerSlug: new ValueColumn(),
  promptSlug: new ValueColumn(), promptId: new ValueColumn(), promptVersionId: new ValueColumn(),
  isFinal: new ValueColumn(), targetIndex: new NumberColumn(), retries: new NumberColumn(), cacheWriteTokens: new NumberColumn(), inputAudioTokens: new NumberColumn(), inputImageTokens: new NumberColumn(), outputAudioTokens: new NumberColumn(),
  outputImageTokens: new NumberColumn(), cost: new NumberColumn(), saved: new NumberColumn(), isPriced: new ValueColumn(), decision: new ValueColumn(), source: new ValueColumn(),
};
const fields = Object.keys(columns);
const allColumns = Object.values(columns);

const packr = new Packr({ useRecords: false });

/** The value of the row that holds `batch`. */
export function packLogBatch(batch: readonly LogRecord[]): Uint8Array {
  for (const column of allColumns) column.clear();
  // Written out, because a loop over names is several times slower.
  for (const record of batch) {
    columns.id.push(record.id);
    columns.traceId.push(record.traceId);
    columns.spanId.push(record.spanId);
    columns.parentSpanId.push(record.parentSpanId);
    columns.spanName.push(record.spanName);
    columns.organisationId.push(record.organisationId);
    columns.workspaceId.push(record.workspaceId);
    columns.keyId.push(record.keyId);
    columns.endpoint.push(record.endpoint);
    columns.method.push(record.method);
    columns.path.push(record.path);
    columns.provider.push(record.provider);
    columns.model.push(record.model);
    columns.targetPath.push(record.targetPath);
    columns.status.push(record.status);
    columns.ended.push(record.ended);
    columns.errorCode.push(record.errorCode);
    columns.isStream.push(record.isStream);
    columns.attempts.push(record.attempts);
    columns.cacheStatus.push(record.cacheStatus);
    columns.finishReason.push(record.finishReason);
    columns.inputTokens.push(record.inputTokens);
    columns.outputTokens.push(record.outputTokens);
    columns.totalTokens.push(record.totalTokens);
    columns.cachedTokens.push(record.cachedTokens);
    columns.reasoningTokens.push(record.reasoningTokens);
    columns.requestBytes.push(record.requestBytes);
    columns.responseBytes.push(record.responseBytes);
    columns.startedAtMs.push(record.startedAtMs);
    columns.firstByteMs.push(record.firstByteMs);
    columns.tookMs.push(record.tookMs);
    columns.upstreamMs.push(record.upstreamMs);
    columns.metadata.push(record.metadata);
    columns.hookResults.push(record.hookResults);
    columns.configId.push(record.configId);
    columns.configVersionId.push(record.configVersionId);
    columns.providerSlug.push(record.providerSlug);
    columns.promptSlug.push(record.promptSlug);
    columns.promptId.push(record.promptId);
    columns.promptVersionId.push(record.promptVersionId);
    columns.isFinal.push(record.isFinal);
    columns.targetIndex.push(record.targetIndex);
    columns.retries.push(record.retries);
    columns.cacheWriteTokens.push(record.cacheWriteTokens);
    columns.inputAudioTokens.push(record.inputAudioTokens);
    columns.inputImageTokens.push(record.inputImageTokens);
    columns.outputAudioTokens.push(record.outputAudioTokens);
    columns.outputImageTokens.push(record.outputImageTokens);
    columns.cost.push(record.cost);
    columns.saved.push(record.saved);
    columns.isPriced.push(record.isPriced);
    columns.decision.push(record.decision);
    columns.source.push(record.source);
  }
  return packr.pack([logBatchFormat, batch.length, fields, allColumns.map((column) => column.packed())]);
}

/** The records of a row that the `store` exporter wrote, in the order they were given to it. */
export function readLogBatch(value: Uint8Array): LogRecord[] {
  const batch = unpacked(value);
  return batch[0] === rowFormat ? readRows(batch[1], batch[2]) : readColumns(columnsOf(batch));
}

/** A row, of which no column is read yet. */
export interface LogBatch {
  readonly count: number;
  readonly columns: ReadonlyMap<string, unknown>;
}

/** Undefined: it is of format 1, and has no columns. */
export function openLogBatch(value: Uint8Array): LogBatch | undefined {
  const batch = unpacked(value);
  return batch[0] === rowFormat ? undefined : columnsOf(batch);
}

function unpacked(value: Uint8Array): readonly unknown[] {
  let batch: unknown;
  try {
    batch = packr.unpack(value);
  } catch (thrown) {
    throw new Error('the log batch is damaged: it is not MessagePack', { cause: thrown });
  }
  if (!Array.isArray(batch) || !Number.isInteger(batch[0])) throw new Error('the log batch is damaged: it has no format');
  if (batch[0] !== rowFormat && batch[0] !== logBatchFormat) throw new Error(`the log batch has format ${String(batch[0])}, newer than the ${logBatchFormat} that is read here; update the gateway`);
  return batch;
}

function columnsOf([, count, names, packed]: readonly unknown[]): LogBatch {
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 0 || count > countMax) throw new Error('the log batch is damaged: it does not say how many records it has');
  if (!Array.isArray(names) || !Array.isArray(packed)) throw new Error('the log batch is damaged: it has no fields or no columns');
  return { count, columns: new Map(names.map((name, index) => [String(name), packed[index]])) };
}

/** The values of a field, each of its type; undefined: the batch was written without it. */
export function valuesOf({ count, columns: packed }: LogBatch, name: string): readonly unknown[] | undefined {
  if (!packed.has(name)) return undefined;
  const values = readColumn(packed.get(name), count);
  if (values === undefined) throw new Error(`the log batch is damaged: ${name} is not a column of ${count} values`);
  const type = typeof blankFields[name];
  if (!values.every((value) => typeof value === type)) throw new Error(`the log batch is damaged: ${name} is not a ${type}`);
  return values;
}

/** How many records a batch has, without reading them. */
export function countOfBatch(value: Uint8Array): number {
  // `[format, count, ...]` in MessagePack: an array of four, a small number, a number.
  if (value[0] === 0x94 && value[1] === logBatchFormat) {
    const [first = 0, second = 0, third = 0] = value.subarray(2, 5);
    if (first < 0x80) return first;
    if (first === 0xcc) return second;
    if (first === 0xcd) return second * 256 + third;
  }
  return readLogBatch(value).length;
}

function readColumns(batch: LogBatch): LogRecord[] {
  const records = Array.from({ length: batch.count }, (): Record<string, unknown> => ({ ...blankFields, bodies: null }));
  for (const name of batch.columns.keys()) {
    const values = Object.hasOwn(blankFields, name) ? valuesOf(batch, name) : undefined;
    if (values !== undefined) for (let at = 0; at < records.length; at += 1) (records[at] as Record<string, unknown>)[name] = values[at];
  }
  // Each field of `blank` is there, with a value of its type.
  return records as unknown as LogRecord[];
}

function readRows(names: unknown, rows: unknown): LogRecord[] {
  if (!Array.isArray(names) || !Array.isArray(rows)) throw new Error('the log batch is damaged: it has no fields or no records');
  return rows.map((row: unknown) => {
    if (!Array.isArray(row)) throw new Error('the log batch is damaged: a record is not an array');
    const record: Record<string, unknown> = { ...blankFields, bodies: null };
    for (let index = 0; index < names.length; index += 1) {
      const name = String(names[index]);
      if (Object.hasOwn(blankFields, name)) put(record, name, row[index]);
    }
    // As above.
    return record as unknown as LogRecord;
  });
}

function put(record: Record<string, unknown>, name: string, value: unknown): void {
  const type = typeof blankFields[name];
  if (typeof value !== type) throw new Error(`the log batch is damaged: ${name} is not a ${type}`);
  record[name] = value;
}
