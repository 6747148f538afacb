// Whether a store is whole: every row can be read, the indexes are what they would be if they were made anew, the change log fits its head, and the
// audit log is as it was written. For a store that nobody writes to meanwhile; holds one row at a time.

import { Packr } from 'msgpackr';
import { reasonOf } from '../errors/gateway-error.js';
import type { Table } from './define-table.js';
import { changesMax, decode, indexRowKey, type Repository } from './repository.js';
import { verifyAudit } from './verify-audit.js';

/** Further ones are counted alone. */
const faultsToldMax = 20;

export interface StoreVerdict {
  readonly rows: number;
  readonly auditEntries: number;
  /** The first of them, in words; none: all is well. */
  readonly faults: readonly string[];
  readonly faultCount: number;
  /** The fault of the audit log, which is told apart: everything else works without it. */
  readonly auditFault: string | undefined;
}

export async function verifyStore(repository: Repository, tables: readonly Table[]): Promise<StoreVerdict> {
  const faults: string[] = [];
  let faultCount = 0;
  const tell = (fault: string): void => {
    faultCount += 1;
    if (faults.length < faultsToldMax) faults.push(fault);
  };
  let rows = 0;
  const entries = new Map<string, number>();
  for (const table of tables) rows += await verifyRows(repository, table, tell, entries);
  for (const table of tables) {
    for (const name of Object.keys(table.indexes)) {
      // Each row was found in it: as many entries as rows, and there is nothing else.
      if (await repository.count(table, name) !== (entries.get(`${table.name}/${name}`) ?? 0) || faultCount > 0) await verifyIndex(repository, table, name, tell);
    }
  }
  await verifyChanges(repository, tell);
  const { entries: auditEntries, fault } = await verifyAudit(repository);
  return { rows, auditEntries, faults, faultCount, auditFault: fault === undefined ? undefined : `entry ${fault.sequence}/${fault.number}: ${fault.reason}` };
}

/** Each can be read, and is found by its indexes; `entries` counts them by index. */
async function verifyRows(repository: Repository, table: Table, tell: (fault: string) => void, entries: Map<string, number>): Promise<number> {
  const { store } = repository;
  let rows = 0;
  for await (const entry of store.range({ from: `${table.name}/`, to: `${table.name}0`, limit: Number.MAX_SAFE_INTEGER })) {
    const id = entry.key.slice(table.name.length + 1);
    rows += 1;
    try {
      const { row } = decode(table, entry);
      if (row.id !== id) tell(`${table.name} ${id} says that it is ${row.id}`);
      for (const [name, index] of Object.entries(table.indexes)) {
        const parts = index.of(row);
        if (parts === null) continue;
        entries.set(`${table.name}/${name}`, (entries.get(`${table.name}/${name}`) ?? 0) + 1);
        const entry = await store.get(indexRowKey(table, name, parts, id));
        if (entry === undefined) tell(`${table.name} ${id} is not in the index ${name}`);
        else if (Buffer.from(entry.value).toString() !== id) tell(`${table.name} ${id} has the same ${name} as ${Buffer.from(entry.value).toString()}`);
      }
    } catch (thrown) {
      tell(reasonOf(thrown));
    }
  }
  return rows;
}

/** Entries of an index that do not belong there. */
async function verifyIndex(repository: Repository, table: Table, name: string, tell: (fault: string) => void): Promise<void> {
  const base = `index/${table.name}/${name}`;
  for await (const { key, value } of repository.store.range({ from: `${base}/`, to: `${base}0`, limit: Number.MAX_SAFE_INTEGER })) {
    const id = Buffer.from(value).toString();
    try {
      const row = (await repository.get(table, id))?.row;
      const parts = row === undefined ? null : table.indexes[name]?.of(row) ?? null;
      if (parts === null || indexRowKey(table, name, parts, id) !== key) tell(`the index ${name} of ${table.name} has an entry for ${id} that does not belong there`);
    } catch {
      // Its row was told above.
    }
  }
}

/** A commit of audit entries alone has no entry, so there may be gaps. */
async function verifyChanges(repository: Repository, tell: (fault: string) => void): Promise<void> {
  const { sequence: last } = await repository.head();
  const packr = new Packr({ useRecords: false });
  for await (const { key, value } of repository.store.range({ from: 'change/', to: 'change0', limit: Number.MAX_SAFE_INTEGER })) {
    const sequence = Number(key.slice('change/'.length));
    if (!(sequence > last - changesMax && sequence <= last)) tell(`the change log has an entry ${sequence} that does not belong there; the last is ${last}`);
    try {
      const touched: unknown = packr.unpack(value);
      if (!Array.isArray(touched) || touched.length === 0) tell(`the change log has an entry ${sequence} of nothing`);
    } catch {
      tell(`the change log has a damaged entry ${sequence}`);
    }
  }
}
