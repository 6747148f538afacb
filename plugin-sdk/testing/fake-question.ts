import { createHash } from 'node:crypto';
import type { Exchange } from '../src/exchange.js';
import type { CacheEntry, CacheQuestion } from '../src/kinds/cache.js';
import { fakeExchange } from './fake-exchange.js';

export interface FakeQuestionOptions {
  /** Default: `tenant`. */
  readonly partition?: string;
  /** The user's last question; null: nothing to compare. Default: `What is the capital of France?` */
  readonly text?: string | null;
  /** Everything else of the request. */
  readonly rest?: string;
  readonly ageMsMax?: number;
  /** Parameters of the cache. */
  readonly params?: Readonly<Record<string, unknown>>;
  readonly exchange?: Exchange;
}

const digest = (...parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/** A question as the host makes it: equal options give equal keys. */
export function fakeQuestion(options: FakeQuestionOptions = {}): CacheQuestion {
  const { partition = 'tenant', text = 'What is the capital of France?', rest = '', ageMsMax = 3_600_000 } = options;
  const place = digest(partition);
  return {
    exchange: options.exchange ?? fakeExchange(),
    partition: place,
    key: digest(place, rest, text ?? ''),
    ageMsMax,
    params: options.params ?? {},
    prompt: () => (text === null ? null : { frame: digest(place, rest), text }),
  };
}

/** An answer to keep, for `ageMs`; `text` is its body. */
export const fakeEntry = (text: string, storedAtMs = 1_700_000_000_000, ageMs = 90 * 86_400_000): CacheEntry =>
  ({ status: 200, contentType: 'application/json', body: new TextEncoder().encode(JSON.stringify({ text })), storedAtMs, endsAtMs: storedAtMs + ageMs });
