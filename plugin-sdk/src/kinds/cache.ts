import type { Exchange } from '../exchange.js';
import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, Maybe } from '../shared.js';

/** Finds and keeps answers. The host makes the keys, assembles streams, and replays an entry as the client asked for it. */
export interface Cache extends Closable {
  /** Undefined: nothing, or too old. What it throws counts as nothing found. */
  lookup(question: CacheQuestion): Maybe<CacheHit | undefined>;
  /** After the client has its answer. What it throws is logged. */
  store(question: CacheQuestion, entry: CacheEntry): Maybe<void>;
  /** Before a forced refresh: what was kept for this question goes, whatever becomes of the call. */
  remove(question: CacheQuestion): Maybe<void>;
}

export interface CacheQuestion {
  readonly exchange: Exchange;
  /** Entries never answer in another partition: tenant, and the client's namespace or else its metadata. Base64url, 43 characters. */
  readonly partition: string;
  /** Names the question exactly, partition, provider and parameters included. Base64url, 43 characters. */
  readonly key: string;
  /** An entry that was stored longer ago must not be used. Milliseconds. */
  readonly ageMsMax: number;
  /** For caches that compare meanings; null when there is nothing to compare (no text, or pictures and sound beside it). */
  prompt(): CachePrompt | null;
}

export interface CachePrompt {
  /** Everything but `text`: earlier turns, model, tools, parameters, partition. Only prompts of one frame may be compared. 43 characters. */
  readonly frame: string;
  /** What the user asked last. */
  readonly text: string;
}

export interface CacheEntry {
  readonly status: number;
  readonly contentType: string;
  /** The plain answer in the client's dialect; of a stream the assembled one. */
  readonly body: Uint8Array;
  /** Milliseconds since the Unix epoch. */
  readonly storedAtMs: number;
}

export interface CacheHit extends CacheEntry {
  readonly match: 'exact' | 'semantic';
}

/** What the operator lets a cache take, for each thread and in all. */
export interface CacheLimits {
  readonly memoryBytesMax: number;
  readonly diskBytesMax: number;
}

/** `params` are the members of the config's `cache` without `mode` and `max_age`. One instance for each distinct `params` in a thread. */
export interface CachePlugin<S extends ObjectSchema = any> extends Common<'cache', S> {
  /** `meaning`: a question that finds nothing is a SEMANTIC MISS. */
  readonly compares: 'exact' | 'meaning';
  create(params: FromSchema<S>, host: Host, limits: CacheLimits): Maybe<Cache>;
}
