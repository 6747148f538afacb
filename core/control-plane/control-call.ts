// A control call and its reply, by value: they travel between threads.

import type { Caller } from './context.js';
import type { Input } from './define-resource.js';

export interface ControlCall {
  readonly id: string;
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly body: Uint8Array;
  readonly ifMatch: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** All headers without those that hold a key of ours: name, value, ...; names in lower case. */
  readonly headers: readonly string[];
  /** Of the client, as text. */
  readonly address: string;
  readonly caller: Caller;
}

export interface ControlReply {
  readonly status: number;
  /** Name, value, name, value. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** The client's input, checked, with defaults filled in. */
export interface CheckedInput extends Input {
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly bodies: readonly Readonly<Record<string, unknown>>[];
  /** From query or body. */
  readonly workspaceId: string | undefined;
}
