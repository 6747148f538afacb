import type { Exchange } from '../exchange.js';
import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, Maybe } from '../shared.js';

/** Finds and keeps answers. The host makes the keys, assembles streams, and replays an entry as the client asked for it. */
export interface Cache<P = any> extends Closable {
  /** Undefined: nothing, or too old. What it throws counts as nothing found, and so does what is not an entry; that is removed. */
  lookup(question: CacheQuestion<P>): Maybe<CacheHit | undefined>;
  /** After the client has its answer. What it throws is logged. The answer is found from now on, also while it is still being written. */
  store(question: CacheQuestion<P>, entry: CacheEntry): Maybe<void>;
  /**
   * Before a forced refresh: what was kept for this question goes, whatever becomes of the call. The new answer may be stored before this is
   * done, and stays.
   */
  remove(question: CacheQuestion<P>): Maybe<void>;
}

export interface CacheQuestion<P = any> {
  readonly exchange: Exchange;
  /** Entries never answer in another partition: tenant, and the client's namespace or else its metadata. Base64url, 43 characters. */
  readonly partition: string;
  /** Names the question exactly, partition, provider and parameters included. Base64url, 43 characters. */
  readonly key: string;
  /** An entry that was stored longer ago must not be used. Milliseconds. */
  readonly ageMsMax: number;
  /** The members of the config's `cache` without `mode`, `max_age` and `share_in_flight`; the same object for all calls of one target. */
  readonly params: P;
  /** For caches that compare meanings; null when there is nothing to compare (no text, or pictures and sound beside it). */
  prompt(): CachePrompt | null;
}

export interface CachePrompt {
  /** Everything but `text`: earlier turns, model, tools, parameters, partition. Only prompts of one frame may be compared. 43 characters. */
  readonly frame: string;
  /** The user's last question. */
  readonly text: string;
}

export interface CacheEntry {
  readonly status: number;
  readonly contentType: string;
  /** The plain answer in the client's dialect; of a stream the assembled one. */
  readonly body: Uint8Array;
  /** Milliseconds since the Unix epoch. */
  readonly storedAtMs: number;
  /** So long its writer wanted it to be used at most, whatever a later question allows. Milliseconds since the Unix epoch. */
  readonly endsAtMs: number;
}

export interface CacheHit extends CacheEntry {
  readonly match: 'exact' | 'semantic';
}

/** The room that the operator lets a cache take, for each thread and in all. */
export interface CacheLimits {
  readonly memoryBytesMax: number;
  readonly diskBytesMax: number;
}

/** One instance in a thread, for all parameters that configs name: they are a part of each question, and share what is kept and its limits. */
export interface CachePlugin<S extends ObjectSchema = any> extends Common<'cache', S> {
  /** `meaning`: a question that finds nothing is a SEMANTIC MISS. */
  readonly compares: 'exact' | 'meaning';
  create(host: Host, limits: CacheLimits): Maybe<Cache<FromSchema<S>>>;
  /** When a config names the cache. Throw a `ParameterError` for parameters that can never work: the config is refused with the place named. */
  checkParams?(params: FromSchema<S>): Maybe<void>;
}
