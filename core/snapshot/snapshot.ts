// Hot: read for each call.
// Keeps the view that calls read in step with the store: a call reads it synchronously and never waits for storage. When the signal moves, what
// changed is read beside the calls and put into the view at once; only the first reading, and one that is too far behind, goes over all rows.

import { isGatewayError } from '../errors/gateway-error.js';
import type { Stored } from '../storage/change.js';
import type { Repository } from '../storage/repository.js';
import type { Sealer } from '../storage/sealer.js';
import type { Principal } from './principal.js';
import type { RevisionSignal } from './revision-signal.js';
import { filterChars, projectedTables, View } from './view.js';

export { RevisionSignal } from './revision-signal.js';

/** How often commits that come in while rows are read may have theirs read as well, before what there is is shown. */
const roundsMax = 100;

/** Commits that follow one another faster than this are taken over together: each reload has its price, whatever it brings. Milliseconds. */
const pauseMs = 10;

export interface SnapshotOptions {
  /** Opens what rows hold sealed; without, those cannot be used. */
  readonly sealer?: Sealer;
  /** Told of a reload in the background that failed: the earlier view stays in use. */
  onFault?(thrown: unknown): void;
  /** Told of each row that cannot be used: it counts as none, all others are as they should be. */
  onUnusable?(table: string, id: string, thrown: unknown): void;
  /** Told after calls see every commit up to this one, and how many came since the last time. */
  onApplied?(sequence: number, commits: number): void;
}

/** A row that changed: what it is now, or null. */
interface Touched {
  readonly table: string;
  readonly id: string;
  readonly stored: Stored | null;
}

export class Snapshot {
  readonly #repository: Repository;
  readonly #signal: RevisionSignal;
  readonly #options: SnapshotOptions;
  #view: View;
  /** Of the last commit in the view; -1: none was read. */
  #sequence = -1;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  /** On the monotonic clock; when the last reload ended. */
  #reloadedAt = -Infinity;
  #pause: NodeJS.Timeout | null = null;

  constructor(repository: Repository, signal: RevisionSignal, options: SnapshotOptions = {}) {
    this.#repository = repository;
    this.#signal = signal;
    this.#options = options;
    this.#view = new View(options.sealer ?? null);
  }

  /** The view of calls that begin now. */
  get view(): View {
    return this.#view;
  }

  /** Expired keys are found as well: the caller looks at `expiresAtMs`. */
  principalByKeyHash(hash: string): Principal | undefined {
    return this.#view.principal(hash);
  }

  /** False: no key begins like this, and `text` need not be hashed to know that it is none. */
  mayBeKey(text: string): boolean {
    return this.#view.hasPrefix(text.slice(0, filterChars));
  }

  /** Every key begins with one of these: what all generated keys begin with, and what each of the operator's own begins with. */
  keyBeginnings(): readonly string[] {
    return this.#view.beginnings;
  }

  /** From now on commits of this process are taken over as they are made, until the function that is returned is called. */
  watch(): () => void {
    const unwatch = this.#signal.watch(() => this.#reloadSoon());
    return () => {
      unwatch();
      if (this.#pause !== null) clearTimeout(this.#pause);
      this.#pause = null;
    };
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
    if (this.#pause !== null) return;
    const restMs = this.#reloadedAt + pauseMs - performance.now();
    if (restMs <= 0) this.#reloadNow();
    else {
      this.#pause = setTimeout(() => {
        this.#pause = null;
        this.#reloadNow();
      }, restMs);
    }
  }

  /** One that failed is tried again by the next commit, and by whoever looks for commits of other processes. */
  #reloadNow(): void {
    this.refreshIfMoved().catch((thrown: unknown) => (this.#options.onFault ?? warn)(thrown));
  }

  #start(): Promise<void> {
    const running = this.#reload().finally(() => {
      this.#running = null;
      this.#reloadedAt = performance.now();
    });
    this.#running = running;
    return running;
  }

  async #reload(): Promise<void> {
    let fresh: View | null = null;
    let sequence = this.#sequence;
    const rows = new Map<string, Touched>();
    // A row is read as it is now, which may be newer than the commit that named it: then the other rows of that newer commit are needed, too.
    for (let round = 0; round < roundsMax; round += 1) {
      const changes = await this.#repository.changes(sequence);
      if (changes.touched === null) {
        rows.clear();
        fresh = await this.#readAll();
      } else if (changes.sequence === sequence) {
        break;
      } else {
        for (const [table, ids] of changes.touched) for (const id of ids) rows.set(`${table}/${id}`, await this.#read(table, id));
      }
      ({ sequence } = changes);
    }
    if (sequence === this.#sequence) return;
    // Nothing waits from here on: all of a commit, or nothing of it.
    const view = fresh ?? this.#view;
    for (const row of rows.values()) this.#apply(view, row);
    this.#view = view;
    const commits = sequence - this.#sequence;
    this.#sequence = sequence;
    this.#options.onApplied?.(sequence, commits);
  }

  async #readAll(): Promise<View> {
    const view = new View(this.#options.sealer ?? null);
    for (const table of projectedTables) {
      const unusable = (id: string, thrown: unknown): void => this.#unusable(table.name, id, thrown);
      for await (const stored of this.#repository.all(table, unusable)) this.#apply(view, { table: table.name, id: stored.row.id, stored });
    }
    return view;
  }

  async #read(name: string, id: string): Promise<Touched> {
    const table = projectedTables.find((each) => each.name === name);
    if (table === undefined) return { table: name, id, stored: null };
    try {
      return { table: name, id, stored: await this.#repository.get(table, id) ?? null };
    } catch (thrown) {
      // The storage itself at fault: nothing is known about the row.
      if (!isGatewayError(thrown)) throw thrown;
      this.#unusable(name, id, thrown);
      return { table: name, id, stored: null };
    }
  }

  #apply(view: View, { table, id, stored }: Touched): void {
    if (stored !== null) {
      try {
        view.put(table, stored.row);
        return;
      } catch (thrown) {
        this.#unusable(table, id, thrown);
      }
    }
    view.remove(table, id);
  }

  #unusable(table: string, id: string, thrown: unknown): void {
    (this.#options.onUnusable ?? ((_table, _id, fault) => warn(fault)))(table, id, thrown);
  }
}

const warn = (thrown: unknown): void => {
  process.emitWarning(`stored rows could not be read again, the earlier ones stay in use: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
};
