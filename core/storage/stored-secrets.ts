// The sealed members of rows, for what goes over all of them: a change of the master key, a backup, the check at the start.

import type { Stored } from './change.js';
import type { Row, Table } from './define-table.js';
import type { Repository } from './repository.js';
import { absentSecret, keyIdOf } from './sealer.js';

export interface StoredSecret {
  readonly member: string;
  readonly sealed: string;
  /** `<table>/<id>/<member>`: the value is bound to it. */
  readonly place: string;
  /** Of the master key; undefined: it holds no secret (any more). */
  readonly keyId: string | undefined;
}

/** Those that a row has. */
export function secretsOf(table: Table, row: Row): StoredSecret[] {
  const members: Readonly<Record<string, unknown>> = { ...row };
  return table.secrets.flatMap((member) => {
    const sealed = members[member];
    return typeof sealed === 'string' ? [{ member, sealed, place: `${table.name}/${row.id}/${member}`, keyId: keyIdOf(sealed) }] : [];
  });
}

export interface StoredUnderOtherKey extends Stored {
  readonly others: readonly StoredSecret[];
}

/** Rows with secrets that were stored under a master key other than these. */
export async function* rowsUnderOtherKeys(repository: Repository, tables: readonly Table[], keyIds: readonly string[]): AsyncGenerator<StoredUnderOtherKey> {
  for (const table of tables) {
    if (table.secrets.length === 0) continue;
    for await (const stored of repository.all(table)) {
      const others = secretsOf(table, stored.row).filter(({ keyId }) => keyId !== undefined && !keyIds.includes(keyId));
      if (others.length > 0) yield { ...stored, others };
    }
  }
}

/** The row with other values in place of these secrets. */
export function withSecrets(row: Row, secrets: readonly (readonly [member: string, sealed: string | null])[]): Row {
  return Object.freeze({ ...row, ...Object.fromEntries(secrets) });
}

/** The row without these secrets: null where its table allows that, else what says that a secret is absent. */
export function withoutSecrets(table: Table, row: Row, secrets: readonly StoredSecret[]): Row {
  let left = row;
  for (const { member } of secrets) {
    const emptied = withSecrets(left, [[member, null]]);
    left = table.fault(emptied) === undefined ? emptied : withSecrets(left, [[member, absentSecret]]);
  }
  return left;
}
