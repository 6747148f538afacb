// A change of rows, in one piece: gathered here, written by Repository.commit(), all or nothing.

import type { Row, Table } from './define-table.js';

/** A row as it was read. */
export interface Stored<R extends Row = Row> {
  readonly table: Table<R>;
  readonly row: R;
  /** Of the row in the store: what was read must still be there when it is written. */
  readonly version: number;
}

/** Who did what, in the words of the audit log; the repository adds time order and the chain. */
export type AuditRecord = Readonly<Record<string, unknown>>;

export interface RowChange {
  readonly table: Table;
  readonly id: string;
  /** As it was read; null: there must be none. */
  readonly before: Stored | null;
  /** Null: removed. */
  readonly after: Row | null;
}

export class Change {
  readonly rows: RowChange[] = [];
  readonly audit: AuditRecord[] = [];

  get isEmpty(): boolean {
    return this.rows.length === 0 && this.audit.length === 0;
  }

  insert<R extends Row>(table: Table<R>, row: R): void {
    this.rows.push({ table, id: row.id, before: null, after: row });
  }

  /** `row` has the id of `stored`. */
  update<R extends Row>(stored: Stored<R>, row: R): void {
    this.rows.push({ table: stored.table, id: stored.row.id, before: stored, after: row });
  }

  remove<R extends Row>(stored: Stored<R>): void {
    this.rows.push({ table: stored.table, id: stored.row.id, before: stored, after: null });
  }
}

/** The rows are not as they were read, or a unique index has another row in the place. Nothing was written. */
export class CommitConflict extends Error {
  constructor(
    readonly kind: 'stale' | 'duplicate',
    readonly table: string,
    readonly id: string,
    /** Of a duplicate: which index has it, and whose it is. */
    readonly index = '',
    readonly holder = '',
  ) {
    super(kind === 'stale' ? `${table} ${id} was changed meanwhile` : `${table} ${holder} has the same ${index}`);
    this.name = 'CommitConflict';
  }
}
