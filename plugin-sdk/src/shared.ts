/** A value, or a promise of one. The host never awaits when it gets the value itself. */
export type Maybe<T> = T | Promise<T>;

/** Any JSON value. Read-only: what the host hands out is shared between plugins. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * The operations a client can ask for, one name for each upstream path family.
 * `files`, `batches`, `fineTuning`, `responses` and `models` cover the calls below their path (`/v1/files/{id}/content` ...);
 * `proxy` is every path without a unified route.
 */
export const endpointNames = [
  'chatCompletions', 'completions', 'messages', 'countTokens', 'responses', 'embeddings', 'imageGenerations', 'imageEdits',
  'imageVariations', 'speech', 'transcriptions', 'translations', 'rerank', 'moderations', 'files', 'batches', 'fineTuning',
  'models', 'proxy',
] as const;
export type EndpointName = (typeof endpointNames)[number];

/** Each level includes those to its left. A route runs at the highest level that anything on it asks for. */
export interface Needs {
  /** `head`: the body is relayed unread. `bytes`: collected once. `json`: parsed once and shared. */
  readonly request?: 'head' | 'bytes' | 'json';
  /** `head`: relayed unread. `tail`: the last bytes are kept beside the relay. `events`: cut into SSE events. `json`: collected. */
  readonly response?: 'head' | 'tail' | 'events' | 'json';
  /** Left out by a plugin that only looks. A change costs a re-serialisation. */
  readonly changes?: 'request' | 'response' | 'both';
}

/** Settled when a config is compiled: a plugin whose filter says no is not on the route at all. */
export interface When {
  readonly endpoints?: readonly EndpointName[];
  readonly providers?: readonly string[];
  readonly stream?: boolean;
}

/** The members of every plugin definition. Data only: importing a definition must have no side effect. */
export interface Common<K extends string, S> {
  readonly kind: K;
  /** Version of the contract of this kind that the plugin was written for. */
  readonly contract: 1;
  readonly title: string;
  /** One or two sentences for the catalogue. */
  readonly describe: string;
  /** JSON Schema of the parameters: validates (ajv), types `create()`, documents, draws the console form. */
  readonly params: S;
  readonly when?: When;
  readonly deprecated?: { readonly since: string; readonly removedIn: string; readonly use: string };
}

/** `close()` is called once when the last plan that holds the instance is dropped; calling it again must be harmless. */
export interface Closable {
  close?(): Maybe<void>;
}

/**
 * What an instance costs beyond the little that every one does. The host adds up what all instances of a config say, refuses a config that asks
 * for too much, and keeps fewer of the heavy ones.
 */
export interface Weight {
  /** Bytes that it may come to hold for as long as it lives, about: compiled patterns and schemas, their caches, tables. */
  readonly bytes: number;
  /** Nanoseconds that one character of text may take at the worst. Where that makes a verdict long, it goes to the worker pool at once, if the plugin may run there. */
  readonly nanosecondsPerCharacter?: number;
}

export interface Weighed {
  readonly weight?: Weight;
}
