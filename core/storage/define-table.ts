// One definition for each kind of row in the control store: its schema, its format with the way up from every older one, its indexes. Reading,
// writing, migration and backup are folds over these definitions. Raise `format` when a member is added, removed or changes its meaning, and add the
// upgrade from the format before.

import { isDeepStrictEqual } from 'node:util';
import { Ajv, type ValidateFunction } from 'ajv';
import { SharedLists } from './shared-lists.js';
import type { Static, TObject } from './type.js';

export interface Row {
  readonly id: string;
}

export interface Index<R> {
  /** At most one row may have these parts; a second one is refused as a duplicate. */
  readonly isUnique?: true;
  /** The parts that the row is found by; null: the row is not in the index. Pure. */
  of(row: R): readonly string[] | null;
}

export interface Table<R extends Row = Row> {
  readonly name: string;
  /** Format of the rows that this version writes. */
  readonly format: number;
  readonly indexes: Readonly<Record<string, Index<R>>>;
  /** Members that hold one sealed value each, or null; nothing else in a row may be a secret. Several secrets of a row are sealed as one JSON text. */
  readonly secrets: readonly string[];
  /** Of a row that was read and is well: lists that many rows have alike are shared. Changes `row`. */
  share(row: Record<string, unknown>): void;
  /** From format n to n + 1, under n. Gets a row of that format and may trust it. */
  readonly upgrades: Readonly<Record<number, (row: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>>>;
  /** The first fault of a row of this format: its place and what is wrong; undefined when it is well. */
  fault(row: unknown): string | undefined;
}

/** The type of a table's rows. */
export type RowOf<T> = T extends Table<infer R> ? R : never;

const ajv = new Ajv({ allowUnionTypes: true });

export interface TableDefinition<S extends TObject, R> {
  readonly name: string;
  readonly schema: S;
  readonly format: number;
  readonly indexes?: Readonly<Record<string, Index<NoInfer<R>>>>;
  readonly secrets?: readonly (keyof NoInfer<R> & string)[];
  /** Lists of texts that are the same in many rows. */
  readonly shared?: readonly (keyof NoInfer<R> & string)[];
  readonly upgrades?: Table['upgrades'];
}

/** Lower-case names of letters and dashes: they begin the keys of the rows. */
export function defineTable<S extends TObject, R extends Row = Static<S> & Row>({ name, schema, format, indexes = {}, secrets = [], shared = [], upgrades = {} }: TableDefinition<S, R>): Table<R> {
  let validate: ValidateFunction | undefined = undefined;
  const lists = shared.map((member) => ({ member, known: new SharedLists() }));
  for (const member of secrets) {
    const { type, pattern } = Object(schema.properties[member]);
    if (!isDeepStrictEqual(type, 'string') && !isDeepStrictEqual(type, ['string', 'null'])) throw new TypeError(`${name}.${member} is sealed: its schema must be a string, or that or null`);
    if (pattern !== undefined) throw new TypeError(`${name}.${member} is sealed: its schema has no pattern`);
  }
  return Object.freeze({
    name, format, indexes, secrets, upgrades,
    share: (row: Record<string, unknown>) => {
      for (const { member, known } of lists) row[member] = known.share(row[member]);
    },
    fault: (row: unknown) => {
      validate ??= ajv.compile(schema);
      if (validate(row)) return undefined;
      const [first] = validate.errors ?? [];
      const place = (first?.instancePath ?? '').slice(1).replaceAll('/', '.');
      return `${place === '' ? 'it' : `its ${place}`} ${first?.message ?? 'is not valid'}`;
    },
  });
}
