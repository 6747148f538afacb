// Typed rows over a store: `<table>/<id>` -> MessagePack of the row and its format. Used by the control plane, at the start, and by the
// snapshot; never on the path of a call. A row that a newer version wrote is refused, because what it means is not known here.

import type { Store, Write } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';
import { fail } from '../errors/gateway-error.js';
import type { Table } from './rows.js';

export interface Stored<R> {
  readonly row: R;
  /** For `ifVersion`. */
  readonly version: number;
}

const rowsOfPage = 1000;
const packr = new Packr({ useRecords: false });

export class Repository {
  /** `onCommit` is told after each write that changed something: it bumps the revision signal of the threads. */
  constructor(readonly store: Store, readonly onCommit: () => void = () => {}) {}

  async get<R extends { readonly id: string }>(table: Table<R>, id: string): Promise<Stored<R> | undefined> {
    const stored = await this.store.get(`${table.name}/${id}`);
    return stored === undefined ? undefined : { row: decodeRow(table, id, stored.value), version: stored.version };
  }

  /** Rows in the order of their ids, from the first id above `after`. */
  async list<R extends { readonly id: string }>(table: Table<R>, limit: number, after = ''): Promise<Stored<R>[]> {
    const from = `${table.name}/${after}${after === '' ? '' : '\u0000'}`;
    const list: Stored<R>[] = [];
    // '0' follows '/'.
    for await (const { key, value, version } of this.store.range({ from, to: `${table.name}0`, limit })) {
      list.push({ row: decodeRow(table, key.slice(table.name.length + 1), value), version });
    }
    return list;
  }

  /** Every row of a table, page by page; not one snapshot. */
  async *all<R extends { readonly id: string }>(table: Table<R>): AsyncGenerator<Stored<R>> {
    for (let after = ''; ;) {
      const page = await this.list(table, rowsOfPage, after);
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < rowsOfPage) return;
      after = last.row.id;
    }
  }

  /** All or nothing; false when an `ifVersion` did not hold. Make the batch with `putRow` and `removeRow`. */
  async write(batch: readonly Write[]): Promise<boolean> {
    const isWritten = await this.store.write(batch);
    if (isWritten && batch.length > 0) this.onCommit();
    return isWritten;
  }

  async revision(): Promise<number> {
    return this.store.revision();
  }
}

/** `ifVersion` 0: the row must not exist. */
export function putRow<R extends { readonly id: string }>(table: Table<R>, row: R, ifVersion?: number): Write {
  const value = packr.pack({ format: table.format, row });
  const key = `${table.name}/${row.id}`;
  return ifVersion === undefined ? { op: 'put', key, value } : { op: 'put', key, value, ifVersion };
}

export function removeRow<R extends { readonly id: string }>(table: Table<R>, id: string, ifVersion?: number): Write {
  const key = `${table.name}/${id}`;
  return ifVersion === undefined ? { op: 'remove', key } : { op: 'remove', key, ifVersion };
}

function decodeRow<R extends { readonly id: string }>(table: Table<R>, id: string, value: Uint8Array): R {
  const where = `the stored ${table.name} ${id}`;
  let packed: unknown;
  try {
    packed = packr.unpack(value);
  } catch (thrown) {
    throw fail('SETTINGS_INVALID', { reason: `${where} is damaged; restore the data directory from a backup` }, thrown);
  }
  const { format, row }: { format?: unknown; row?: unknown } = Object(packed);
  if (typeof format === 'number' && Number.isInteger(format) && format > table.format) {
    throw fail('SETTINGS_INVALID', { reason: `${where} has format ${format}, newer than the ${table.format} that this version reads; start the newer version of the gateway` });
  }
  if (format !== table.format || typeof row !== 'object' || row === null) throw damaged(where, 'it has no format');
  const entries = new Map<string, unknown>(Object.entries(row));
  for (const name of Object.keys(table.fields) as (keyof R & string)[]) {
    if (!table.fields[name](entries.get(name))) throw damaged(where, `its ${name} is not valid`);
  }
  // Each field of the table was checked above.
  return Object.freeze(row as R);
}

const damaged = (where: string, reason: string): Error => fail('SETTINGS_INVALID', { reason: `${where} is damaged (${reason}); restore the data directory from a backup` });
