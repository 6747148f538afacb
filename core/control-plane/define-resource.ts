// One definition for each resource of the control plane. Router, validation, scope check, audit entry and the tables of docs and tests are folds over
// these definitions: nothing is said twice. A handler knows no HTTP; it reads rows, gathers what is to change, and returns what the client reads.

import type { Static, TSchema } from '../storage/type.js';
import type { ControlContext } from './context.js';

export type ControlMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface Input<Q = unknown, B = unknown> {
  /** Named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  /** Of a list: the first of its items. */
  readonly body: B;
  /** All items of an operation that takes a list; of others the body alone. */
  readonly bodies: readonly B[];
}

/** The body of the answer; its status is 200 unless `context.answer` says another. A string is not wrapped: replies are objects. */
export type Reply = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly method: ControlMethod;
  /** Without a version prefix; it is served below `/v1`, `/v2` and `/`. `{name}` stands for one segment. */
  readonly path: string;
  readonly aliases: readonly string[];
  /** Schemas of names in the path, for the docs; names without one are ids or slugs. */
  readonly params: Readonly<Record<string, TSchema>>;
  /** Scopes, of which any one is enough; null: the handler checks the scope that depends on the row with `context.require`. */
  readonly scope: readonly string[] | null;
  /** Served without a key as well: the handler learns the caller from its input. Such paths are also listed in router/routes.ts. */
  readonly isPublic: boolean;
  readonly query: TSchema | null;
  /** Null: a body is refused, unless it is empty or an empty object. */
  readonly body: TSchema | null;
  /** Above 0: the body may also be a list of so many at most, or an object of them by their numbers, as some clients write lists. */
  readonly listMax: number;
  /** True: the call runs alone among the calls that change something. Removals always do. */
  isAlone(input: Input): boolean;
  /** In the audit log: `created`, `updated`, `deleted`, `rotated`; null: it changes nothing. */
  readonly action: string | null;
  /** Of its answer; 204 and 302 have no body that is read. */
  readonly status: 200 | 204 | 302;
  /** Schema of the answer, for the docs: it names every member, and answers have no others. Tests check each answer against it. */
  readonly reply: TSchema;
  handle(context: ControlContext, input: Input): Promise<Reply> | Reply;
}

export interface OperationDefinition<Q extends TSchema, B extends TSchema> {
  readonly method: ControlMethod;
  readonly path: string;
  readonly aliases?: readonly string[];
  readonly params?: Readonly<Record<string, TSchema>>;
  readonly scope: string | readonly string[] | null;
  readonly isPublic?: boolean;
  readonly query?: Q;
  readonly body?: B;
  readonly listMax?: number;
  readonly isAlone?: (input: Input<Static<Q>, Static<B>>) => boolean;
  readonly action?: string;
  /** Status that the handler sets in `context.answer`, if it is not 200. */
  readonly status?: Operation['status'];
  readonly reply: TSchema;
  readonly handle: (context: ControlContext, input: Input<Static<Q>, Static<B>>) => Promise<Reply> | Reply;
}

export interface Resource {
  /** In the plural, as in paths: `api-keys`. */
  readonly name: string;
  /** In messages and in the audit log, in the singular: `api-key`. */
  readonly kind: string;
  readonly operations: Readonly<Record<string, Operation>>;
}

/** One operation; the types of `query` and `body` reach its handler. */
export function operation<Q extends TSchema = TSchema, B extends TSchema = TSchema>(definition: OperationDefinition<Q, B>): Operation {
  const { method, path, aliases = [], params = {}, scope, isPublic = false, query = null, body = null, listMax = 0, action = null, status = 200, reply } = definition;
  return Object.freeze({
    method, path, aliases, params, scope: typeof scope === 'string' ? [scope] : scope, isPublic, query, body, listMax, action, status, reply,
    // Dispatch has checked both against the schemas that the types were made of.
    isAlone: (input: Input) => method === 'DELETE' || definition.isAlone?.(input as Input<Static<Q>, Static<B>>) === true,
    handle: (context: ControlContext, input: Input) => definition.handle(context, input as Input<Static<Q>, Static<B>>),
  });
}

/** Another call with the same key in `idempotency-key` gets the same reply. */
export const takesIdempotencyKey = ({ method, action }: Pick<Operation, 'method' | 'action'>): boolean => method === 'POST' && action !== null;

/** For `isAlone` of operations that add to rows that are limited in number: what they have counted must hold until they are written. */
export const countsRows = (): boolean => true;

/** It changes a row that there is, and can be told which version of it. */
export const takesIfMatch = ({ method, path, action, isPublic }: Pick<Operation, 'method' | 'path' | 'action' | 'isPublic'>): boolean =>
  action !== null && !isPublic && action !== 'created' && (method === 'PUT' || method === 'DELETE' || path.includes('{'));

export const defineResource = (resource: Resource): Resource => Object.freeze(resource);
