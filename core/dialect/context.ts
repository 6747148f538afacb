// What a translation from a client's dialect into chat completions, and back, knows of the call it is for.
// Made for each attempt whose provider does not speak the client's dialect. Types only.

import type { ChatExtension, Json, JsonObject } from '@gateway/plugin-sdk';

export interface TranslateContext {
  /** What the provider's chat endpoint takes beyond OpenAI's API; other extensions are left out. */
  readonly accepts: ReadonlySet<ChatExtension>;
  /** Ends the attempt with 400: `param` is malformed, or the request cannot do without it. */
  refuse(param: string, reason: string): never;
  /** Without `param` the answer would mean something else: ends the attempt with 400, unless the call says that it may be left out. */
  omit(param: string, reason: string): void;
  /** `param` is left out, which changes no meaning; the client reads of it in a header. */
  report(param: string): void;
}

/** What the gateway keeps of earlier answers, as far as a request builds on it. */
export interface StoredItems {
  /** Items of the conversation so far; null when there are none, or the provider keeps them. */
  readonly history: readonly Json[] | null;
  /** Items that the request only names, by their id; null when there are none. */
  readonly references: ReadonlyMap<string, Json> | null;
}

/** What an answer in the client's dialect is told of the call. */
export interface AnswerContext {
  /** The id of the exchange. */
  readonly id: string;
  /** The model that was asked for, where the provider names none. */
  readonly model: string;
  /** Seconds since the Unix epoch. */
  readonly createdAt: number;
  /** The client's body. */
  readonly request: JsonObject;
  /** Later calls may read this answer. */
  readonly isStored: boolean;
  /** Twice as many hexadecimal digits, for an id of the answer's own. */
  randomHex(bytes: number): string;
}
