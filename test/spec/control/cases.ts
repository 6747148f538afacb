// What a case file says of the operations of a resource: `<resource>.cases.ts` beside this file exports it as its default. The calls that must be refused
// follow from the right call where they can: without a key, without the scope, by a key of another workspace, about an id that there is not, with a field
// that there is not, with a stale `if-match`. control-operations.test.ts runs all of them over HTTP, and fails for an operation that has no case.

import type { TestIssuer } from '../../support/issuer.js';

export type WhoCalls = 'admin' | 'workspace' | 'user';

export interface StageReply {
  readonly status: number;
  readonly headers: Headers;
  // The shapes are what the cases are about.
  readonly body: Record<string, any>;
}

export interface CallOptions {
  /** The admin key when left out; null: none. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A running gateway with two workspaces and keys of all kinds. */
export interface Stage {
  readonly url: string;
  /** People sign in with it. */
  readonly issuer: TestIssuer;
  /** Every scope of its type each; `user` is a workspace-user key of the first workspace, `other` a service key of the other one. */
  readonly keys: Readonly<Record<WhoCalls | 'other', string>>;
  /** Whom the key `user` acts for: a manager of the first workspace. */
  readonly userId: string;
  /** The workspace that `workspace` and `user` are locked to. */
  readonly workspace: { readonly id: string; readonly slug: string };
  readonly other: { readonly id: string; readonly slug: string };
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<StageReply>;
  /** The same, and it must be answered with 200. */
  made(method: string, path: string, body?: unknown, options?: CallOptions): Promise<StageReply>;
  /** A text that nothing has used yet. */
  unique(prefix: string): string;
}

/** With what an operation is called. */
export interface Target {
  /** For the names in the path. */
  readonly params?: Readonly<Record<string, string>>;
  /** Without the question mark. */
  readonly query?: string;
  /** Beside the key. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface BadInput {
  /** Instead of the body of the right call. */
  readonly body?: unknown;
  /** Instead of its query. */
  readonly query?: string;
  /** `error.param` of the answer. */
  readonly param: string;
}

/** A call that differs from the right one, or why there is none. */
export type Variant = ((stage: Stage, target: Target) => Target | Promise<Target>) | { readonly none: string };

export interface OperationCase {
  /** Who makes the right call; `admin` when left out. */
  readonly as?: WhoCalls;
  /** Where the definition leaves scopes to the handler: a key without all of these is refused. */
  readonly scopes?: readonly string[];
  /** Makes what the right call needs, through the stage, and says with what it is made. The refused calls are made with the same, and before it. */
  target(stage: Stage): Target | Promise<Target>;
  /** Of the right call; 200 when left out. */
  readonly status?: number;
  /** Whoever calls may add fields to the query that nobody here knows. */
  readonly takesUnknownQuery?: boolean;
  /** Looks at the answer of the right call. */
  check(reply: StageReply, stage: Stage, target: Target): void | Promise<void>;
  /** Refused with 400. At least one where there is a body or a query. */
  readonly bad: readonly BadInput[];
  /** Refused with 409. */
  readonly conflict: Variant;
  /** Refused with 403 for the key of the other workspace; the right call itself when left out. */
  readonly foreign?: Variant;
  /** Refused with 404; when left out, the right call with an id and a slug in the last name of the path that there are not. */
  readonly unknown?: Variant;
  /** Answers with an etag and takes `if-match`; true when left out and the path has a name. */
  readonly isConditional?: boolean;
}

export interface ResourceCases {
  /** Its name. */
  readonly resource: string;
  /** By the name of the operation in the definition. */
  readonly operations: Readonly<Record<string, OperationCase>>;
}

/** For case files: `export default resourceCases({ ... })`. */
export const resourceCases = (cases: ResourceCases): ResourceCases => cases;
