// What a translation from a client's dialect into chat completions knows of the call it is for.
// Runs for each attempt whose provider does not speak the client's dialect. Types only.

import type { ChatExtension } from '@gateway/plugin-sdk';

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

/** What an answer in the client's dialect is told of the call. */
export interface AnswerContext {
  /** The id of the exchange; the answer's own id is made of it. */
  readonly id: string;
  /** The model that was asked for, where the provider names none. */
  readonly model: string;
}
