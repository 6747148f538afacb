import type { Exchange } from '../exchange.js';
import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, Maybe, Needs } from '../shared.js';

/** Finds and keeps answers. The host computes the namespace, collects the bytes that went down, and replays an entry. */
export interface Cache extends Closable {
  lookup(question: CacheQuestion): Maybe<CacheEntry | undefined>;
  store(question: CacheQuestion, entry: CacheEntry): Maybe<void>;
}

export interface CacheQuestion {
  readonly exchange: Exchange;
  readonly namespace: string;
  readonly ageMsMax: number;
}

export interface CacheEntry {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly storedAtMs: number;
}

export interface CachePlugin<S extends ObjectSchema = any> extends Common<'cache', S> {
  readonly needs: Needs;
  create(params: FromSchema<S>, host: Host): Maybe<Cache>;
}
