// Hot: read for each call.
// What calls need of the control store, as frozen projections of rows, found synchronously. Rows are put in and taken out between calls, all of a
// commit at once, so a call never sees half of a change. A call takes what it needs in one go, at its beginning, and keeps it to its end.

import type { Row, Table } from '../storage/define-table.js';
import { apiKeys, type ApiKeyRow } from '../storage/tables/api-keys.js';
import type { Principal } from './principal.js';

/** Keys held in memory; about 500 bytes each. */
const keysMax = 1_000_000;
/** Characters of a key that tell whether it may be one of ours; a stored `keyPrefix` has at least as many. */
export const filterChars = 4;
/** Generated keys begin so (auth/key.ts). */
const generatedPrefix = 'gw_';

/** The tables whose rows calls read. */
export const projectedTables: readonly Table[] = [apiKeys];

export class View {
  readonly #principals = new Map<string, Principal>();
  readonly #keys = new Map<string, ApiKeyRow>();
  /** How many keys begin so. */
  readonly #prefixes = new Map<string, number>();
  #beginnings: readonly string[] = [];
  /** Most keys have the scopes of their type: one set serves them all. */
  readonly #scopeSets = new Map<string, ReadonlySet<string>>();

  /** Expired keys are found as well: the caller looks at `expiresAtMs`. */
  principal(keyHash: string): Principal | undefined {
    return this.#principals.get(keyHash);
  }

  hasPrefix(prefix: string): boolean {
    return this.#prefixes.has(prefix);
  }

  get beginnings(): readonly string[] {
    return this.#beginnings;
  }

  /** `row` is one of `table`. Throws when it cannot be used. */
  put(table: string, row: Row): void {
    if (table === apiKeys.name) this.putKey(row as ApiKeyRow);
  }

  remove(table: string, id: string): void {
    if (table === apiKeys.name) this.removeKey(id);
  }

  putKey(row: ApiKeyRow): void {
    this.removeKey(row.id);
    if (this.#keys.size >= keysMax) throw new Error(`more than ${keysMax} API keys; remove some`);
    this.#keys.set(row.id, row);
    this.#principals.set(row.keyHash, this.#principalOf(row, row.expiresAtMs ?? Infinity));
    this.#countPrefix(row.keyPrefix, 1);
    if (row.previous === null) return;
    this.#principals.set(row.previous.keyHash, this.#principalOf(row, Math.min(row.previous.expiresAtMs, row.expiresAtMs ?? Infinity)));
    this.#countPrefix(row.previous.keyPrefix, 1);
  }

  removeKey(id: string): void {
    const row = this.#keys.get(id);
    if (row === undefined) return;
    this.#keys.delete(id);
    this.#principals.delete(row.keyHash);
    this.#countPrefix(row.keyPrefix, -1);
    if (row.previous === null) return;
    this.#principals.delete(row.previous.keyHash);
    this.#countPrefix(row.previous.keyPrefix, -1);
  }

  #countPrefix(keyPrefix: string, by: 1 | -1): void {
    const prefix = keyPrefix.slice(0, filterChars);
    const before = this.#prefixes.get(prefix) ?? 0;
    if (before + by > 0) this.#prefixes.set(prefix, before + by);
    else this.#prefixes.delete(prefix);
    if (before > 0 && before + by > 0) return;
    this.#beginnings = [...new Set([...this.#prefixes.keys()].map((each) => (each.startsWith(generatedPrefix) ? generatedPrefix : each)))];
  }

  #principalOf(row: ApiKeyRow, expiresAtMs: number): Principal {
    const joined = row.scopes.join(' ');
    let scopes = this.#scopeSets.get(joined);
    if (scopes === undefined) this.#scopeSets.set(joined, scopes = new Set(row.scopes));
    return Object.freeze({ keyId: row.id, organisationId: row.organisationId, workspaceId: row.workspaceId ?? '', scopes, type: row.type, expiresAtMs });
  }
}
