// Brings a store to what this version expects, at the start, before any thread reads it: rows of tables that got an index since they were written
// are entered there. Rows of older formats stay as they are; they are brought up whenever they are read, and written back when they change.

import type { Write } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';
import type { Table } from './define-table.js';
import { indexRowKey, type Repository } from './repository.js';

const layoutKey = 'layout';
const rowsOfBatch = 1_000;
const packr = new Packr({ useRecords: false });

/** Which indexes the rows of each table are in. */
type Layout = Readonly<Record<string, readonly string[]>>;

/** Resolves when every row is in every index of its table. Safe to be broken off and begun anew, and for several processes at once. */
export async function prepareStore(repository: Repository, tables: readonly Table[]): Promise<void> {
  const { store } = repository;
  const stored = await store.get(layoutKey);
  const known: Layout = stored === undefined ? {} : packr.unpack(stored.value) as Layout;
  const wanted: Layout = Object.fromEntries(tables.map(({ name, indexes }) => [name, Object.keys(indexes)]));
  let isMissing = false;
  for (const table of tables) {
    const missing = Object.keys(table.indexes).filter((index) => known[table.name]?.includes(index) !== true);
    if (missing.length === 0) continue;
    isMissing = true;
    await enter(repository, table, missing);
  }
  if (isMissing) await store.write([{ op: 'put', key: layoutKey, value: packr.pack({ ...known, ...wanted }) }]);
}

async function enter(repository: Repository, table: Table, indexes: readonly string[]): Promise<void> {
  let batch: Write[] = [];
  for await (const { row } of repository.all(table)) {
    for (const name of indexes) {
      const parts = table.indexes[name]?.of(row) ?? null;
      if (parts !== null) batch.push({ op: 'put', key: indexRowKey(table, name, parts, row.id), value: Buffer.from(row.id) });
    }
    if (batch.length < rowsOfBatch) continue;
    await repository.store.write(batch);
    batch = [];
  }
  if (batch.length > 0) await repository.store.write(batch);
}
