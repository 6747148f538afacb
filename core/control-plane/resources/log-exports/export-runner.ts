// Runs export jobs on the control thread, one at a time and in slices: records are read elsewhere, page by page, and written as JSON Lines into a file that only
// its owner can read. A job shows that it lives; one that does not, because its process died, has failed and may be started again. Old files are removed.

import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogFilter, LogReader } from '@gateway/plugin-sdk';
import { reasonOf } from '../../../errors/gateway-error.js';
import { Change, type Stored } from '../../../storage/change.js';
import type { Repository } from '../../../storage/repository.js';
import { logExports, type LogExportRow, type LogExportRun } from '../../../storage/tables/log-exports.js';
import { organisations } from '../../../storage/tables/organisations.js';
import { isCommitted } from '../../jobs.js';
import { nextTurn } from '../../next-turn.js';
import type { LogExportRunner } from '../../services.js';
import { KnownNames } from '../logs/log-names.js';
import { exportFileName, exportOfEarlierFile, exportPartName, runOfFile } from './export-file.js';
import { deniedFieldsOf, exportLine, needsBodies, type LineRules } from './export-row.js';

/** Of one file. */
export const exportRowsMax = 50_000;
const exportBytesMax = 256 * 1024 * 1024;
/** Jobs that wait for their turn. */
const waitingMax = 100;
/** A job that shows no life for this long is dead. */
export const exportLeaseMs = 60_000;
const signEveryMs = 15_000;
/** Files are kept for so long. */
export const exportDaysMax = 7;
const dayMs = 86_400_000;
/** Of all files together; the oldest go first. */
const keptBytesMax = 4 * 1024 * 1024 * 1024;
/** How often it is looked what is old. */
const tidyEveryMs = 3_600_000;
/** Jobs themselves, once they ended or were left as drafts. */
const rowDays = 90;
const linesOfTurn = 50;
const writeBytesMin = 256 * 1024;
const triesMax = 5;
/** Rows and files that one sweep looks at. */
const sweptMax = 10_000;
const faultCharsMax = 300;

export interface ExportServices {
  readonly repository: Repository;
  readonly logs: LogReader | undefined;
  readonly folder: string;
  /** As those of the control plane. */
  readonly metadataHeaders?: ReadonlySet<string> | undefined;
  readonly keptBytesMax?: number;
  now(): number;
  onFault(exportId: string, thrown: unknown): void;
}

interface Job {
  readonly exportId: string;
  readonly runId: string;
  readonly abort: AbortController;
  rows: number;
  bytes: number;
}

/** What ended without a fault. */
interface Written {
  readonly isCut: boolean;
}

export class ExportRunner implements LogExportRunner {
  readonly #waiting: Job[] = [];
  #current: Job | null = null;
  #running: Promise<void> | null = null;
  #sweeping: Promise<void> | null = null;
  #isStopping = false;
  #tidiedAtMs = 0;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(readonly services: ExportServices) {}

  /** Looks for what is dead or old, at once and then again and again. Keeps no process alive. */
  start(): void {
    const look = (): void => {
      this.sweep().catch((thrown: unknown) => this.services.onFault('', thrown));
    };
    this.#timer ??= setInterval(look, signEveryMs).unref();
    look();
  }

  /** Jobs that are not done have failed. Never rejects. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#timer);
    this.#current?.abort.abort();
    await this.#running;
    await this.#sweeping?.catch(() => {});
  }

  get isFull(): boolean {
    return this.#waiting.length >= waitingMax;
  }

  begin(exportId: string, runId: string): void {
    if (this.#isStopping || this.isFull || this.#jobs().some((job) => job.runId === runId)) return;
    this.#waiting.push({ exportId, runId, abort: new AbortController(), rows: 0, bytes: 0 });
    this.#running ??= this.#runAll().finally(() => { this.#running = null; });
  }

  cancel(exportId: string): void {
    for (const job of this.#jobs()) if (job.exportId === exportId) job.abort.abort();
  }

  /** Resolves when nothing runs or waits. For tests. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** Shows life, gives up what shows none, removes what is old. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => { this.#sweeping = null; });
    return this.#sweeping;
  }

  #jobs(): readonly Job[] {
    return this.#current === null ? this.#waiting : [this.#current, ...this.#waiting];
  }

  /** Never rejects. */
  async #runAll(): Promise<void> {
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      this.#current = job;
      try {
        await this.#run(job);
      } catch (thrown) {
        this.services.onFault(job.exportId, thrown);
      }
      this.#current = null;
    }
  }

  async #run(job: Job): Promise<void> {
    const { folder } = this.services;
    const part = join(folder, exportPartName(job.exportId, job.runId));
    const path = join(folder, exportFileName(job.exportId, job.runId));
    const row = (await this.services.repository.get(logExports, job.exportId))?.row;
    if (row === undefined || !isOf(row, job)) return;
    try {
      if (this.#isStopping) throw new Error('the gateway was stopped');
      const written = await this.#write(job, row, row.run, part);
      job.abort.signal.throwIfAborted();
      await rename(part, path);
      // It may have been cancelled meanwhile, or given up and begun anew: then nobody would ever fetch the file, or remove it.
      const ended = await this.#end(job, 'success', { isCut: written.isCut, isRemoved: false });
      if (!hasFile(ended, job.runId)) await rm(path, { force: true });
      await this.#removeFiles();
    } catch (thrown) {
      await rm(part, { force: true });
      const fault = this.#isStopping ? 'the gateway was stopped' : reasonOf(thrown);
      // One that was cancelled is in this state no more.
      const ended = await this.#end(job, 'failed', { fault: fault.slice(0, faultCharsMax) });
      // The fault may have come when the file had its name: before its end was written, or after it.
      if (!hasFile(ended, job.runId)) await rm(path, { force: true });
      if (!job.abort.signal.aborted) this.services.onFault(job.exportId, thrown);
    }
  }

  async #write(job: Job, row: LogExportRow, run: LogExportRun, path: string): Promise<Written> {
    const { repository, logs, folder, metadataHeaders = new Set<string>() } = this.services;
    if (logs === undefined) throw new Error('no exporter keeps records of calls that can be read');
    const filter: LogFilter = JSON.parse(run.filter);
    const names = await KnownNames.of(repository, row.organisationId, run.origin, metadataHeaders);
    const settings = (await repository.get(organisations, row.organisationId))?.row.settings ?? {};
    const rules: LineRules = { fields: row.requestedData, denied: deniedFieldsOf(settings), sight: { isAllowed: true, bodies: run.seesBodies, metadata: run.seesMetadata } };
    const { from, to } = rangeOf(row.filters);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await open(path, 'wx', 0o600);
    try {
      const lines = new Lines(file, job);
      let isCut = false;
      job.abort.signal.throwIfAborted();
      let seen = 0;
      pages: for await (const records of logs.export(filter, job.abort.signal, { hasBodies: needsBodies(row.requestedData) })) {
        job.abort.signal.throwIfAborted();
        await names.learn(records);
        for (const record of records) {
          seen += 1;
          if (seen <= from) continue;
          if (seen > to || job.bytes >= exportBytesMax) {
            // Who asked for fewer has all of them.
            isCut = seen <= to || to - from === exportRowsMax;
            break pages;
          }
          await lines.add(exportLine(record, names, rules));
        }
      }
      await lines.flush();
      await file.sync();
      return { isCut };
    } finally {
      await file.close();
    }
  }

  /** Of a run that is still the row's own. */
  async #end({ exportId, runId, rows, bytes }: Job, status: 'success' | 'failed', changes: Partial<LogExportRun>): Promise<LogExportRow | undefined> {
    const nowMs = this.services.now();
    return this.#change(exportId, (row) => (row.status === 'in_progress' && row.run?.id === runId ? { ...row, status, updatedAtMs: nowMs, run: { ...row.run, rows, bytes, aliveAtMs: nowMs, endedAtMs: nowMs, ...changes } } : undefined));
  }

  /** `change` gives undefined where nothing is to change. Whoever changes the row at the same time is waited for. */
  async #change(exportId: string, change: (row: LogExportRow) => LogExportRow | undefined): Promise<LogExportRow | undefined> {
    const { repository } = this.services;
    for (let tries = 0; tries < triesMax; tries += 1) {
      const stored = await repository.get(logExports, exportId);
      const after = stored === undefined ? undefined : change(stored.row);
      if (stored === undefined || after === undefined) return stored?.row;
      if (await isWritten(repository, stored, after)) return after;
    }
    return undefined;
  }

  async #sweep(): Promise<void> {
    for (const job of [...this.#jobs()]) await this.#showLife(job);
    const { repository } = this.services;
    const nowMs = this.services.now();
    const own = new Set(this.#jobs().map(({ runId }) => runId));
    for (const { row } of await repository.list(logExports, { index: 'running', limit: sweptMax })) {
      if (own.has(row.run?.id ?? '') || !isDead(row, nowMs)) continue;
      await this.#change(row.id, (now) => (isDead(now, nowMs) && now.run !== null ? { ...now, status: 'failed', updatedAtMs: nowMs, run: { ...now.run, endedAtMs: nowMs, fault: deadFault } } : undefined));
    }
    if (nowMs - this.#tidiedAtMs < tidyEveryMs) return;
    this.#tidiedAtMs = nowMs;
    await this.#takeEarlierFiles(nowMs);
    await this.#removeFiles();
    await this.#sweepRows(nowMs);
    await this.#sweepFiles(nowMs);
  }

  /** Files that are too old, and the oldest of those that are too much together. The newest stays, whatever it takes. */
  async #removeFiles(): Promise<void> {
    const { repository, folder, keptBytesMax: bytesMax = keptBytesMax } = this.services;
    const endedMsMin = this.services.now() - exportDaysMax * dayMs;
    const filed = (await repository.list(logExports, { index: 'filed', limit: sweptMax })).flatMap(({ row }) => (row.run === null ? [] : [{ id: row.id, run: row.run }]));
    filed.sort((left, right) => (right.run.endedAtMs ?? 0) - (left.run.endedAtMs ?? 0));
    let bytes = 0;
    for (const [index, { id, run }] of filed.entries()) {
      bytes += run.bytes;
      if ((run.endedAtMs ?? 0) > endedMsMin && (index === 0 || bytes <= bytesMax)) continue;
      await rm(join(folder, exportFileName(id, run.id)), { force: true });
      await this.#change(id, (now) => (now.run !== null && now.run.id === run.id ? { ...now, run: { ...now.run, isRemoved: true } } : undefined));
    }
  }

  async #showLife(job: Job): Promise<void> {
    const nowMs = this.services.now();
    const row = await this.#change(job.exportId, (now) => (isOf(now, job) ? { ...now, run: { ...now.run, aliveAtMs: nowMs, rows: job.rows, bytes: job.bytes } } : undefined));
    // Cancelled by way of another process, or given up by it.
    if (row === undefined || !isOf(row, job)) job.abort.abort();
  }

  /** Ids grow with time: the oldest rows come first. */
  async #sweepRows(nowMs: number): Promise<void> {
    const { repository } = this.services;
    const change = new Change();
    for await (const stored of repository.page(logExports, { limit: sweptMax })) {
      if (stored.row.createdAtMs > nowMs - rowDays * dayMs) break;
      if (stored.row.status !== 'in_progress' && stored.row.updatedAtMs <= nowMs - rowDays * dayMs) change.remove(stored);
    }
    if (!change.isEmpty) await isCommitted(repository, change);
  }

  /** Files of builds that named them by their export alone: those that the row tells of get their name, others are removed. */
  async #takeEarlierFiles(nowMs: number): Promise<void> {
    const { folder, repository } = this.services;
    const names = await readdir(folder).catch((): string[] => []);
    for (const name of names.slice(0, sweptMax)) {
      const exportId = exportOfEarlierFile(name);
      const path = join(folder, name);
      const found = exportId === undefined ? undefined : await stat(path).catch(() => undefined);
      if (exportId === undefined || found === undefined) continue;
      const { status = '', run = null } = (await repository.get(logExports, exportId))?.row ?? {};
      const place = status === 'success' && run?.isRemoved === false && run.bytes === found.size ? join(folder, exportFileName(exportId, run.id)) : undefined;
      // Another process may have come first.
      if (place !== undefined && await stat(place).catch(() => undefined) === undefined) await rename(path, place).catch(() => {});
      else if (found.mtimeMs < nowMs - dayMs) await rm(path, { force: true });
    }
  }

  /** Parts of processes that died, and files of rows that are gone, failed or went on to another run. */
  async #sweepFiles(nowMs: number): Promise<void> {
    const { folder, repository } = this.services;
    const names = await readdir(folder).catch((): string[] => []);
    for (const name of names.slice(0, sweptMax)) {
      const found = runOfFile(name);
      if (found === undefined) continue;
      const path = join(folder, name);
      const isOld = ((await stat(path).catch(() => undefined))?.mtimeMs ?? Infinity) < nowMs - dayMs;
      const row = found.isPart ? undefined : (await repository.get(logExports, found.exportId))?.row;
      const isNeeded = found.isPart ? this.#jobs().some(({ runId }) => runId === found.runId) : hasFile(row, found.runId) || (row?.status === 'in_progress' && row.run?.id === found.runId);
      if (isOld && !isNeeded) await rm(path, { force: true });
    }
  }
}

const deadFault = 'the process that ran it ended';

/** In progress for a run that nobody works on any more. */
export const isDead = ({ status, run }: Pick<LogExportRow, 'status' | 'run'>, nowMs: number): boolean => status === 'in_progress' && (run === null || run.aliveAtMs < nowMs - exportLeaseMs);

/** The records of the filter that go into the file, by their number: behind `from`, up to `to`. */
export function rangeOf({ page_size: size, current_page: page }: Readonly<Record<string, unknown>>): { readonly from: number; readonly to: number } {
  const count = typeof size === 'number' ? Math.min(size, exportRowsMax) : exportRowsMax;
  const from = typeof page === 'number' ? page * count : 0;
  return { from, to: from + count };
}

const isOf = (row: LogExportRow, job: Job): row is LogExportRow & { readonly run: LogExportRun } => row.status === 'in_progress' && row.run?.id === job.runId;

/** It is counted among those that are kept, and removed in its time. */
const hasFile = (row: LogExportRow | undefined, runId: string): boolean => row?.status === 'success' && row.run?.id === runId && !row.run.isRemoved;

function isWritten(repository: Repository, stored: Stored<LogExportRow>, row: LogExportRow): Promise<boolean> {
  const change = new Change();
  change.update(stored, row);
  return isCommitted(repository, change);
}

/** Lines on their way into the file; other work of the thread gets its turns in between. */
class Lines {
  #texts: string[] = [];
  #chars = 0;

  constructor(readonly file: FileHandle, readonly job: Job) {}

  async add(line: string): Promise<void> {
    this.#texts.push(line);
    this.#chars += line.length;
    this.job.rows += 1;
    if (this.#chars >= writeBytesMin) await this.flush();
    else if (this.job.rows % linesOfTurn === 0) await nextTurn();
  }

  async flush(): Promise<void> {
    if (this.#texts.length === 0) return;
    const bytes = Buffer.from(this.#texts.join(''));
    this.#texts = [];
    this.#chars = 0;
    await this.file.writeFile(bytes);
    this.job.bytes += bytes.length;
    this.job.abort.signal.throwIfAborted();
  }
}
