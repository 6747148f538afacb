// A client dialect as the rest of the gateway knows it: one object for each, in the folder of its name. Types, and the one place where such
// objects are made, so that all of them have the same shape. What an object holds runs for each call, and parts of it for each event.

import type { AnswerEvent, EndpointName, EventStage, Json, JsonObject } from '@gateway/plugin-sdk';
import type { Accumulator } from './common/accumulator.js';
import type { Deltas } from './common/deltas.js';
import type { LastEvents } from './common/event-members.js';
import type { TextGate } from './common/text-gate.js';
import type { AnswerContext, StoredItems, TranslateContext } from './context.js';

export interface Dialect extends LastEvents {
  /** The endpoint whose answers are told in this dialect. Other endpoints may have its errors. */
  readonly endpoint: EndpointName;

  // ---- requests ----

  /** How requests and answers go by way of chat completions; null: the provider has to speak the dialect itself. */
  readonly translation: Translation | null;
  /** Estimates the tokens of a request for a provider that cannot count them: the answer of the dialect's counting endpoint; null: there is none. */
  readonly countTokens: ((request: JsonObject) => JsonObject) | null;
  /** The gateway keeps answers for a provider that keeps none, and later requests may build on them. */
  readonly keepsAnswers: boolean;
  /** The request with what it builds on, for a provider that speaks the dialect but does not know those answers. */
  withStored(request: JsonObject, stored: StoredItems): JsonObject;
  /** The last words of the user; null when the last turn is not plain text. */
  lastPrompt(request: JsonObject): LastPrompt | null;

  // ---- errors ----

  errorBody(error: ClientError): string;
  /**
   * The event that ends a stream with an error, as it is written. `sequence`: its number, where events are numbered, as far as that is known.
   * `hookResults` stand beside the error; undefined when there are none.
   */
  errorEvent(error: ClientError, sequence: number, hookResults: unknown): string;
  /** The body is an error as the dialect's clients expect it. */
  isErrorBody(body: JsonObject): boolean;
  /** Names of events that tell of an error. */
  readonly errorEvents: readonly string[];
  /** Headers in which its clients look for what rate limits leave, beside x-ratelimit-*; null: in those alone. */
  readonly rateHeaders: RateHeaders | null;

  // ---- streams ----

  /** Found in the last bytes of a stream that did not break off; null when nothing can be told from them. */
  readonly endMark: RegExp | null;
  /** The same by what was read of its usage. */
  tellsEnd(usage: EndUsage): boolean;
  /** The last events of a stream with the results of hooks in them, where the dialect has a place for those. `first`: the stream's first event. */
  withResults(events: readonly AnswerEvent[], results: Json, first: AnswerEvent | null, call: CallIdentity): readonly AnswerEvent[];
  /** Finds the texts in the events of one stream, for a check. */
  deltas(gate: TextGate): Deltas;
  /** Events tell texts again, whole, that came in pieces. */
  readonly repeatsTexts: boolean;
  /** Puts the events of one stream together. */
  accumulator(): Accumulator;
  /** Streams have usage only when the client asks for it. */
  readonly asksForUsage: boolean;
  /** Whether this is a finished answer of the dialect, and not an error or something else. Only such an answer may be replayed. */
  isReplayable(answer: JsonObject): boolean;
  /** A replayable answer as the events of a stream, without `closing`. The events share parts with the answer. */
  replay(answer: JsonObject, options: ReplayOptions): Iterable<AnswerEvent>;
}

/** An error as a client is told of it: the gateway's own, or a provider's in the words of the provider. */
export interface ClientError {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

export interface RateHeaders {
  readonly requests: RateHeaderNames;
  readonly tokens: RateHeaderNames;
}

export interface RateHeaderNames {
  readonly limit: string;
  readonly remaining: string;
  /** The time of the next window, as RFC 3339 has it. */
  readonly reset: string;
}

export interface Translation {
  /** Members of a chat body, or paths in it -> what the dialect calls them; for errors. */
  readonly names: ReadonlyMap<string, string>;
  /** A request -> a chat request. */
  request(request: JsonObject, context: TranslateContext, stored: StoredItems): JsonObject;
  /** A chat completion -> an answer. */
  answer(completion: JsonObject, context: AnswerContext): JsonObject;
  /** Chunks -> events. `onWhole` gets the answer of a dialect that keeps answers when the stream ended well, before its last event is written. */
  stage(context: AnswerContext, onWhole: ((answer: JsonObject) => void) | null): TranslationStage;
}

export interface TranslationStage extends EventStage<AnswerEvent> {
  /** The number that the next event has, for an error that ends the stream from outside; 0 where events have no numbers. */
  readonly nextSequence: number;
}

export interface LastPrompt {
  readonly text: string;
  /** The request without it. */
  readonly rest: JsonObject;
}

export interface EndUsage {
  readonly finishReason: string;
  /** -1: not told. */
  readonly outputTokens: number;
}

/** For an event that the gateway adds to a stream. */
export interface CallIdentity {
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number;
}

export interface ReplayOptions {
  /** The client asked for usage in a chunk of its own (`stream_options.include_usage`). */
  readonly includesUsage: boolean;
}

/** What a dialect leaves out: it goes by way of nothing, keeps nothing and counts nothing. */
type Optional = 'translation' | 'countTokens' | 'keepsAnswers' | 'withStored' | 'errorEvents' | 'rateHeaders' | 'closing' | 'lastEvents' | 'endMark' | 'repeatsTexts' | 'asksForUsage';

const same = (request: JsonObject): JsonObject => request;

/** Every dialect is made here: code that meets several of them meets one shape of object. */
export const defineDialect = (members: Omit<Dialect, Optional> & Partial<Pick<Dialect, Optional>>): Dialect => Object.freeze({
  endpoint: members.endpoint,
  translation: members.translation ?? null,
  countTokens: members.countTokens ?? null,
  keepsAnswers: members.keepsAnswers ?? false,
  withStored: members.withStored ?? same,
  lastPrompt: members.lastPrompt,
  errorBody: members.errorBody,
  errorEvent: members.errorEvent,
  isErrorBody: members.isErrorBody,
  errorEvents: members.errorEvents ?? ['error'],
  rateHeaders: members.rateHeaders ?? null,
  closing: members.closing ?? '',
  lastEvents: members.lastEvents ?? [],
  endMark: members.endMark ?? null,
  tellsEnd: members.tellsEnd,
  withResults: members.withResults,
  deltas: members.deltas,
  repeatsTexts: members.repeatsTexts ?? false,
  accumulator: members.accumulator,
  asksForUsage: members.asksForUsage ?? false,
  isReplayable: members.isReplayable,
  replay: members.replay,
});
