// How a resource appears in a file of `gateway apply`: the name of its list, the member that identifies an object, the operations that make, change and
// remove it, and how a stored object is written. Applying, comparing, pruning and exporting all work from these definitions (resources/declarations/). A definition
// is in the folder of its resource, `declared.ts`, and has its line in resources/declared.ts.

import { hashKey } from '../auth/key.js';
import { fail } from '../errors/gateway-error.js';
import type { Stored } from '../storage/change.js';
import type { Row, Table } from '../storage/define-table.js';
import type { WorkspaceRow } from '../storage/tables/workspaces.js';
import type { TSchema } from '../storage/type.js';
import { checkInput } from './check-input.js';
import type { ControlContext } from './context.js';
import type { Operation, Reply, Resource } from './define-resource.js';

export type Members = Readonly<Record<string, unknown>>;

/** A secret of a stored row, in a view: told apart from others by its hash, and shown nowhere. */
export class DeclaredSecret {
  /** SHA-256 in lower-case hex, as keys of the gateway have it. */
  readonly digest: string;

  /** `hint`: the second half of the name of the variable that an export writes in place of the secret; the first half is the name of the object. */
  private constructor(digest: string, readonly hint: string) {
    this.digest = digest;
  }

  static of(text: string, hint: string): DeclaredSecret {
    return new DeclaredSecret(hashKey(text), hint);
  }

  static ofDigest(digest: string, hint: string): DeclaredSecret {
    return new DeclaredSecret(digest, hint);
  }

  toJSON(): string {
    return '(secret)';
  }
}

/** Another object that this one names. If the same files declare it, it is made first; whether it exists is checked by the operation. */
export interface DeclaredReference {
  /** The list that it is in: `providers`. */
  readonly section: string;
  readonly name: string;
  /** The member that names it, as in errors: `config.targets.0.provider`. */
  readonly place: string;
}

/** Where an object stands. */
export interface DeclaredPlace {
  readonly context: ControlContext;
  /** Null: it is the organisation's own. */
  readonly workspace: WorkspaceRow | null;
}

export interface Declared<R extends Row = Row> {
  /** The list in a file, or the member where there is only one: `configs`. */
  readonly section: string;
  /** In messages: `config`. */
  readonly kind: string;
  readonly table: Table<R>;
  /** Whose it is. `either`: of a workspace, or with `workspace_id: null` of the organisation. */
  readonly level: 'organisation' | 'workspace' | 'either';
  /** The member that names one among those of its place; null: there is one only. */
  readonly identity: 'slug' | 'name' | null;
  /** Schema of one entry, without workspace_id. Unknown members are refused by name before anything is done. */
  readonly entry: TSchema;
  /** Default values: set for members that the file leaves out, and left out of an export. A member without a default that the file leaves out stays as it is. */
  readonly defaults: Members;
  /** Scopes, of which any one allows reading it. */
  readonly readScopes: readonly string[];
  /** Members that are set after everything else has been made, since they may name objects that are made later. */
  readonly late: readonly string[];
  references(entry: Members): Iterable<DeclaredReference>;
  /** More entries that this one stands for. */
  implied(entry: Members, isOrganisations: boolean): Iterable<ImpliedEntry>;
  find(place: DeclaredPlace, name: string): Promise<Stored<R> | undefined>;
  /** All of the organisation that an export shows. */
  all(context: ControlContext): AsyncIterable<Stored<R>>;
  workspaceIdOf(row: R): string | null;
  nameOf(row: R): string;
  /** The stored one, with all members that an entry may have, by the names of others instead of their ids, and every secret as a DeclaredSecret. */
  view(context: ControlContext, stored: Stored<R>): Promise<Members> | Members;
  /** Members that an export has besides, or in the place of others; `only`: of this workspace alone. */
  exported(context: ControlContext, stored: Stored<R>, only: WorkspaceRow | undefined): Promise<Members> | Members;
  /** Makes it; a reply with a `key` is a key that was made for it. */
  create(place: DeclaredPlace, entry: Members): Promise<Reply> | Reply;
  /** `changed`: of the members of the entry, those that are not as they are stored. */
  update(place: DeclaredPlace, stored: Stored<R>, changed: Members, entry: Members): Promise<unknown>;
  /** Absent: it is never removed. */
  remove?(place: DeclaredPlace, stored: Stored<R>): Promise<unknown>;
}

/** An entry of another list, in the same workspace unless it says another by slug. It gives way to one that stands in the file, and one that is there is left as it is. */
export interface ImpliedEntry {
  readonly section: string;
  readonly entry: Members;
  readonly workspace?: string;
}

interface Slugged extends Row {
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly slug: string;
}

/** Its operations `create`, `update` and `delete` or `remove` are the ones. */
type Defined<R extends Row> = Pick<Declared<R>, 'section' | 'table' | 'view'> & Partial<Declared<R>> & { readonly resource: Resource };

/**
 * A resource whose rows have a slug and the indexes `slug` ([workspace id, slug]) and `organisation` ([organisation id]), and whose operations take the id in their
 * paths. Everything can be said otherwise. Its slug is the client's own, so its create takes one.
 */
export function declareSlugged<R extends Slugged>(given: Defined<R>): Declared<R> {
  const { table, level = 'workspace' } = given;
  return declareResource<R>({
    level, identity: 'slug',
    find: ({ context, workspace }, slug) => context.repository.find(table, 'slug', level === 'organisation' ? [context.caller.organisationId, slug] : level === 'either' ? [context.caller.organisationId, workspace?.id ?? '', slug] : [workspace?.id ?? '', slug]),
    all: (context) => context.repository.each(table, { index: 'organisation', parts: [context.caller.organisationId] }),
    workspaceIdOf: (row) => row.workspaceId, nameOf: (row) => row.slug,
    ...given,
  });
}

type Rest = 'level' | 'identity' | 'find' | 'all' | 'workspaceIdOf' | 'nameOf';

export function declareResource<R extends Row>({ resource, ...given }: Defined<R> & Pick<Declared<R>, Rest>): Declared<R> {
  const { create, read, update, delete: removeByDelete, remove = removeByDelete } = resource.operations;
  const known = Object.keys(Object(Object(update?.body).properties));
  const missing = (): never => { throw new TypeError(`${resource.name} has no such operation, and its declaration does not say what to do instead`); };
  return Object.freeze<Declared<R>>({
    kind: resource.kind, entry: create?.body ?? { type: 'object', properties: {}, additionalProperties: false }, defaults: {}, late: [],
    readScopes: read?.scope ?? [],
    references: () => [],
    implied: () => [],
    exported: () => ({}),
    create: ({ context }, entry) => perform(create ?? missing(), context, { body: entry }),
    update: ({ context }, stored, changed) => {
      for (const name of Object.keys(changed)) if (!known.includes(name)) throw fixedMember(name);
      return perform(update ?? missing(), context, { id: stored.row.id, body: changed });
    },
    ...(remove === undefined ? {} : { remove: ({ context }: DeclaredPlace, stored: Stored<R>) => perform(remove, context, { id: stored.row.id }) }),
    ...given,
  });
}

export const fixedMember = (name: string): Error => fail('FIELD_INVALID', { param: name, reason: 'cannot be changed; give it another slug, so that another one is made, or change it back' });

/** Calls an operation from within another one: checks scope and input, runs the handler. The changes are in `context.change`. `id` fills every name in its path that `params` does not have. */
export async function perform(operation: Operation, context: ControlContext, { id, params = {}, body = {} }: { readonly id?: string; readonly params?: Readonly<Record<string, string>>; readonly body?: Members }): Promise<Reply> {
  const { scope } = operation;
  if (scope !== null && !scope.some((each) => context.has(each))) throw fail('SCOPE_MISSING', { scope: scope.join(' or ') });
  const named = Object.fromEntries([...operation.path.matchAll(/\{([\w-]+)\}/g)].map(([, name = '']) => [name, id ?? '']));
  const checked = checkInput(operation.body, structuredClone(body), 'body');
  return operation.handle(context, { params: { ...named, ...params }, query: {}, body: checked, bodies: [checked] });
}

/** Changes a row that an operation has prepared, before it is written: for members of files that no operation takes. */
export async function amend<R extends Row>({ change }: ControlContext, table: Table<R>, id: string | undefined, by: (row: R) => Promise<R> | R): Promise<void> {
  const place = change.rows.findLastIndex((each) => each.table.name === table.name && (id === undefined || each.id === id));
  const written = change.rows[place];
  if (written === undefined || written.after === null) throw new TypeError(`no ${table.name} was written`);
  // It is a row of this table.
  const row = await by(written.after as unknown as R);
  change.rows[place] = { ...written, after: row };
}

/** All texts in a value, as secrets. */
export function secretsIn(value: unknown, hint: string): unknown {
  if (typeof value === 'string') return DeclaredSecret.of(value, hint);
  if (Array.isArray(value)) return value.map((each, index) => secretsIn(each, `${hint}_${index}`));
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, secretsIn(each, `${hint}_${name}`)])) : value;
}

/** Undefined where there is nothing in it. */
export const filled = <T extends object>(value: T): T | undefined => (Object.keys(value).length === 0 ? undefined : value);

/** Members of an entry that stand in a schema, without others. */
export function membersFor(entry: Members, schema: TSchema | null | undefined): Members {
  const known: Members = { ...Object(Object(schema).properties) };
  return Object.fromEntries(Object.entries(entry).filter(([name]) => Object.hasOwn(known, name)));
}
