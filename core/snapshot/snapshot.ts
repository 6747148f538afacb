// Hot: runs for each call.
// Keeps the view that calls read in step with the store: a call reads it synchronously and never waits for storage. When the signal moved, what
// changed is read beside the calls and put into the view at once; only the first reading, and one that is too far behind, goes over all rows.

import type { Row } from '../storage/define-table.js';
import type { Repository } from '../storage/repository.js';
import type { Stored } from '../storage/change.js';
import { apiKeys, type ApiKeyRow } from '../storage/tables/api-keys.js';
import type { Principal } from './principal.js';
import type { RevisionSignal } from './revision-signal.js';
import { filterChars, View } from './view.js';

export { RevisionSignal } from './revision-signal.js';

/** A reload that failed is not tried again by calls before this has passed. */
const retryDelayMs = 1000;

/** A row that changed: what it is now, or null. */
interface Touched {
  readonly table: string;
  readonly id: string;
  readonly stored: Stored | null;
}

export class Snapshot {
  readonly #repository: Repository;
  readonly #signal: RevisionSignal;
  readonly #onFault: (thrown: unknown) => void;
  #view = new View();
  /** Sequence of the last commit in the view; -1: none was read. */
  #sequence = -1;
  #signalSeen = 0;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #retryAtMs = 0;

  /** `onFault` is told of a reload in the background that failed; the old view stays in use. */
  constructor(repository: Repository, signal: RevisionSignal, onFault: (thrown: unknown) => void = warn) {
    this.#repository = repository;
    this.#signal = signal;
    this.#onFault = onFault;
  }

  /** Expired keys are found as well: the caller looks at `expiresAtMs`. */
  principalByKeyHash(hash: string): Principal | undefined {
    if (this.#signal.current() !== this.#signalSeen) this.#reloadSoon();
    return this.#view.principal(hash);
  }

  /** False: no key begins like this, and `text` need not be hashed to know that it is none. */
  mayBeKey(text: string): boolean {
    if (this.#signal.current() !== this.#signalSeen) this.#reloadSoon();
    return this.#view.hasPrefix(text.slice(0, filterChars));
  }

  /** Every key begins with one of these: what all generated keys begin with, and what each of the operator's own begins with. */
  keyBeginnings(): readonly string[] {
    return this.#view.beginnings;
  }

  /** Resolves when the view holds every commit made before the call, by any thread or process. */
  refreshIfMoved(): Promise<void> {
    if (this.#running === null) return this.#start();
    // The one that runs may have begun before the caller's commit: one more follows it, shared by all who wait.
    const again = (): Promise<void> => {
      this.#next = null;
      return this.#running ?? this.#start();
    };
    this.#next ??= this.#running.then(again, again);
    return this.#next;
  }

  #reloadSoon(): void {
    if (this.#running !== null || Date.now() < this.#retryAtMs) return;
    this.#start().catch((thrown: unknown) => {
      this.#retryAtMs = Date.now() + retryDelayMs;
      this.#onFault(thrown);
    });
  }

  #start(): Promise<void> {
    const running = this.#reload().finally(() => { this.#running = null; });
    this.#running = running;
    return running;
  }

  async #reload(): Promise<void> {
    // Both before the rows: a commit during the reading moves them again.
    const signal = this.#signal.current();
    const { sequence, touched } = await this.#repository.changes(this.#sequence);
    if (touched === null) {
      this.#view = await readView(this.#repository);
    } else {
      const rows: Touched[] = [];
      for (const [table, ids] of touched) for (const id of ids) rows.push(await this.#read(table, id));
      // Nothing waits from here on: all of a commit, or nothing of it.
      for (const row of rows) apply(this.#view, row);
    }
    this.#sequence = sequence;
    this.#signalSeen = signal;
  }

  async #read(table: string, id: string): Promise<Touched> {
    const projected = projectedTables.get(table);
    return { table, id, stored: projected === undefined ? null : await this.#repository.get(projected, id) ?? null };
  }
}

const projectedTables: ReadonlyMap<string, typeof apiKeys> = new Map([[apiKeys.name, apiKeys]]);

async function readView(repository: Repository): Promise<View> {
  const view = new View();
  for await (const { row } of repository.all(apiKeys)) view.putKey(row);
  return view;
}

function apply(view: View, { table, id, stored }: Touched): void {
  if (table !== apiKeys.name) return;
  if (stored === null) view.removeKey(id);
  else view.putKey(rowOf(apiKeys, stored));
}

const rowOf = (table: typeof apiKeys, stored: Stored): ApiKeyRow => {
  if (stored.table.name !== table.name) throw new TypeError(`not a row of ${table.name}`);
  return stored.row as Row as ApiKeyRow;
};

const warn = (thrown: unknown): void => {
  process.emitWarning(`stored keys could not be read again, the earlier ones stay in use: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
};
