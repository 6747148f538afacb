// The gateway's own work as time passes: keys expire and are rotated, people are warned. Run every minute or so by one thread of each process;
// a row in the store says who runs a job, so that of several processes only one does. The clock comes from outside. A run that is broken off is taken
// up by the next one: a job looks for what is due, changes rows as they were read, and has a limit to what it does in one go.

import { randomUUID } from 'node:crypto';
import { Change, CommitConflict, type AuditRecord, type Stored } from '../storage/change.js';
import type { Repository } from '../storage/repository.js';
import { jobStates, type JobStateRow } from '../storage/tables/job-states.js';

/** A job that takes longer may be begun by another process: the rows that it changes see to it that nothing is done twice. */
const leaseMs = 300_000;

export type Memory = Readonly<Record<string, unknown>>;

export interface JobContext {
  readonly repository: Repository;
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** The result of the last run. */
  readonly memory: Memory;
  /** For the operator's log. Never a secret. */
  notify(message: string, details: Readonly<Record<string, unknown>>): void;
}

export interface Job {
  readonly name: string;
  /** Cheap: it is asked each time, by every process. */
  isDue(context: JobContext): Promise<boolean>;
  /** Resolves with what the next run is to remember. */
  run(context: JobContext): Promise<Memory>;
}

export interface JobServices {
  readonly repository: Repository;
  now(): number;
  notify(message: string, details: Readonly<Record<string, unknown>>): void;
  /** A run failed; it is tried again the next time. */
  onFault(job: string, thrown: unknown): void;
}

export class JobRunner {
  readonly #holder = randomUUID();
  #running: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(readonly services: JobServices, readonly jobs: readonly Job[]) {}

  /** At once, and then again and again. Keeps no process alive. */
  start(everyMs: number): void {
    const runDue = (): void => { this.runDue().catch((thrown: unknown) => this.services.onFault('all', thrown)); };
    this.#timer ??= setInterval(runDue, everyMs).unref();
    runDue();
  }

  /** Resolves when the run that is under way has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#running;
  }

  /** Resolves when what was due is done. Never rejects. While a run is under way it is that run's promise. */
  runDue(): Promise<void> {
    this.#running ??= this.#runAll().finally(() => { this.#running = null; });
    return this.#running;
  }

  async #runAll(): Promise<void> {
    for (const job of this.jobs) {
      try {
        await this.#run(job);
      } catch (thrown) {
        this.services.onFault(job.name, thrown);
      }
    }
  }

  async #run(job: Job): Promise<void> {
    const { repository } = this.services;
    const stored = await repository.get(jobStates, job.name);
    if (!await job.isDue(this.#contextOf(stored?.row.memory ?? {}))) return;
    const lease = await this.#take(job, stored);
    if (lease === undefined) return;
    let { memory } = lease.row;
    try {
      memory = await job.run(this.#contextOf(memory));
    } finally {
      await this.#write(lease, { ...lease.row, untilMs: 0, memory });
    }
  }

  #contextOf(memory: Memory): JobContext {
    const { repository, notify } = this.services;
    return { repository, nowMs: this.services.now(), memory, notify };
  }

  /** Undefined: another one has it. */
  async #take(job: Job, stored: Stored<JobStateRow> | undefined): Promise<Stored<JobStateRow> | undefined> {
    const nowMs = this.services.now();
    const row: JobStateRow = { id: job.name, holder: this.#holder, untilMs: nowMs + leaseMs, memory: stored?.row.memory ?? {} };
    if (stored === undefined) {
      const change = new Change();
      change.insert(jobStates, row);
      return await this.#isWritten(change) ? this.services.repository.get(jobStates, job.name) : undefined;
    }
    // One that is further ahead than a lease can be was taken by a clock that went wrong.
    if (stored.row.untilMs > nowMs && stored.row.untilMs <= nowMs + leaseMs) return undefined;
    return await this.#write(stored, row) ? { table: jobStates, row, version: stored.version + 1 } : undefined;
  }

  #write(stored: Stored<JobStateRow>, row: JobStateRow): Promise<boolean> {
    const change = new Change();
    change.update(stored, row);
    return this.#isWritten(change);
  }

  async #isWritten(change: Change): Promise<boolean> {
    return isCommitted(this.services.repository, change);
  }
}

/** False: a row was changed meanwhile, and nothing was written. */
export async function isCommitted(repository: Repository, change: Change): Promise<boolean> {
  try {
    await repository.commit(change);
    return true;
  } catch (thrown) {
    if (thrown instanceof CommitConflict) return false;
    throw thrown;
  }
}

/** The audit record of something that nobody called for. */
export const ownAuditRecord = (
  nowMs: number, about: { readonly organisationId: string; readonly workspaceId: string | null; readonly resourceType: string; readonly uri: string }, action: string, details: Readonly<Record<string, unknown>>,
): AuditRecord => ({
  timestamp: nowMs, method: 'POST', uri: about.uri, request_id: '', request_body: '', query_params: '', request_headers: '', user_id: null, user_type: 'gateway', organisation_id: about.organisationId,
  workspace_id: about.workspaceId, response_status_code: 200, resource_type: about.resourceType, action, client_ip: '', country: null, details,
});
