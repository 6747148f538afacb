// Hot: runs for each call.
// What calls need of the control store, in memory. A call reads it synchronously and never waits for storage; when the signal moved, a
// reload runs beside the calls and takes the place of the old view whole.

import type { Principal } from './principal.js';
import type { Repository } from './repository.js';
import type { RevisionSignal } from './revision-signal.js';
import { apiKeys, type ApiKeyRow } from './rows.js';

export { RevisionSignal } from './revision-signal.js';

/** Keys held in memory; about 500 bytes each. */
const keysMax = 1_000_000;
/** A reload that failed is not tried again by calls before this has passed. */
const retryDelayMs = 1000;
/** Characters of a key that tell whether it may be one of ours; a stored `keyPrefix` has at least as many. */
export const filterChars = 4;
/** Generated keys begin so (auth/key.ts). */
const generatedPrefix = 'gw_';

interface View {
  readonly principals: ReadonlyMap<string, Principal>;
  readonly prefixes: ReadonlySet<string>;
  readonly beginnings: readonly string[];
}

export class Snapshot {
  readonly #repository: Repository;
  readonly #signal: RevisionSignal;
  readonly #onFault: (thrown: unknown) => void;
  #view: View = { principals: new Map(), prefixes: new Set(), beginnings: [] };
  /** Revision of the store that the view was read at. */
  #revision = -1;
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
    return this.#view.principals.get(hash);
  }

  /** False: no key begins like this, and `text` need not be hashed to know that it is none. */
  mayBeKey(text: string): boolean {
    if (this.#signal.current() !== this.#signalSeen) this.#reloadSoon();
    return this.#view.prefixes.has(text.slice(0, filterChars));
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
    const revision = await this.#repository.revision();
    if (revision !== this.#revision) {
      this.#view = await readView(this.#repository);
      this.#revision = revision;
    }
    this.#signalSeen = signal;
  }
}

async function readView(repository: Repository): Promise<View> {
  const principals = new Map<string, Principal>();
  const prefixes = new Set<string>();
  // Most keys have the scopes of their type: one set serves them all.
  const scopeSets = new Map<string, ReadonlySet<string>>();
  for await (const { row } of repository.all(apiKeys)) {
    if (principals.size >= keysMax) throw new Error(`more than ${keysMax} API keys; remove some`);
    principals.set(row.keyHash, principalOf(row, scopeSets));
    prefixes.add(row.keyPrefix.slice(0, filterChars));
  }
  const beginnings = new Set([...prefixes].map((prefix) => (prefix.startsWith(generatedPrefix) ? generatedPrefix : prefix)));
  return { principals, prefixes, beginnings: [...beginnings] };
}

function principalOf(row: ApiKeyRow, scopeSets: Map<string, ReadonlySet<string>>): Principal {
  const joined = row.scopes.join(' ');
  let scopes = scopeSets.get(joined);
  if (scopes === undefined) scopeSets.set(joined, scopes = new Set(row.scopes));
  return Object.freeze({
    keyId: row.id,
    organisationId: row.organisationId,
    workspaceId: row.workspaceId ?? '',
    scopes,
    type: row.type,
    expiresAtMs: row.expiresAtMs ?? Infinity,
  });
}

const warn = (thrown: unknown): void => {
  process.emitWarning(`stored keys could not be read again, the earlier ones stay in use: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
};
