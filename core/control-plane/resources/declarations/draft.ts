// Changes of rows that come one after the other, and are one change in the end.

import { Change, CommitConflict, type RowChange } from '../../../storage/change.js';
import type { Table } from '../../../storage/define-table.js';
import { Repository } from '../../../storage/repository.js';
import { fail } from '../../../errors/gateway-error.js';
import { OverlayStore } from './overlay-store.js';

export class Draft {
  /** Reads the stored rows with the changes of this draft on top. */
  readonly repository: Repository;
  readonly #rows = new Map<string, RowChange>();

  constructor(below: Repository) {
    this.repository = new Repository(new OverlayStore(below.store));
  }

  /** Adds a change to the draft. Throws ROW_EXISTS where a unique index has another row, and CommitConflict when a stored row was changed meanwhile. */
  async take(change: Change, kind: string): Promise<void> {
    try {
      await this.repository.commit(change);
    } catch (thrown) {
      if (thrown instanceof CommitConflict && thrown.kind === 'duplicate') throw fail('ROW_EXISTS', { kind, id: `with this ${thrown.index}`, param: thrown.index });
      throw thrown;
    }
    for (const each of change.rows) {
      const key = `${each.table.name}/${each.id}`;
      const first = this.#rows.get(key);
      if (first === undefined) this.#rows.set(key, each);
      else if (first.before === null && each.after === null) this.#rows.delete(key);
      else this.#rows.set(key, { ...each, before: first.before });
    }
  }

  /** The change of a row in this draft, if there is one. */
  row(table: Table, id: string): RowChange | undefined {
    return this.#rows.get(`${table.name}/${id}`);
  }

  get rows(): readonly RowChange[] {
    return [...this.#rows.values()];
  }
}
