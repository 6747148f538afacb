// Where vectors come from: the model in the worker pool, or an endpoint that speaks OpenAI's embeddings. Remembered by text, also while under way.

import type { Host } from '@gateway/plugin-sdk';
import { LRUCache } from 'lru-cache';
import { dot, normalise } from './vector.js';

export interface Embedder {
  /** A vector of length 1, or undefined for a text that is longer than the model reads. */
  vector(text: string): Promise<Float32Array | undefined>;
  /** How near two words are in meaning, -1 to 1. */
  similarity(left: string, right: string): Promise<number>;
}

export interface Endpoint {
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly dimensions: number | undefined;
  readonly timeoutMs: number;
}

/** The functions of `worker.ts`. */
interface WorkerModule {
  embed(texts: readonly string[]): Promise<Float32Array[]>;
  similarities(pairs: readonly (readonly [string, string])[]): Promise<number[]>;
}

const rememberedMax = 500;
const answerBytesMax = 1024 * 1024;

/** Vectors by text, shared by those who ask for one text at once. What failed is forgotten. */
function remembering(compute: (text: string) => Promise<Float32Array | undefined>): (text: string) => Promise<Float32Array | undefined> {
  const known = new LRUCache<string, Promise<Float32Array | undefined>>({ max: rememberedMax });
  return (text) => {
    let vector = known.get(text);
    if (vector === undefined) {
      vector = compute(text);
      known.set(text, vector);
      vector.catch(() => known.delete(text));
    }
    return vector;
  };
}

export function localEmbedder(host: Host, timeoutMs: number): Embedder {
  const pool = host.worker<WorkerModule>(new URL('./worker.js', import.meta.url), { timeoutMs });
  return {
    vector: remembering(async (text) => {
      const [vector] = await pool.embed([text]);
      return vector === undefined || vector.length === 0 ? undefined : vector;
    }),
    similarity: async (left, right) => (await pool.similarities([[left, right]]))[0] ?? 0,
  };
}

export function endpointEmbedder(host: Host, endpoint: Endpoint): Embedder {
  const vector = remembering((text) => ask(host, endpoint, text));
  return {
    vector,
    similarity: async (left, right) => {
      const [leftVector, rightVector] = await Promise.all([vector(left), vector(right)]);
      return leftVector === undefined || rightVector === undefined ? 0 : dot(leftVector, rightVector);
    },
  };
}

async function ask(host: Host, { url, model, apiKey, dimensions, timeoutMs }: Endpoint, text: string): Promise<Float32Array> {
  const response = await host.fetch({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) },
    body: JSON.stringify({ model, input: text, encoding_format: 'float', ...(dimensions === undefined ? {} : { dimensions }) }),
    timeoutMs,
    bytesMax: answerBytesMax,
  });
  if (response.status !== 200) throw new Error(`the embedding endpoint answered ${response.status}; check cache.embedding`);
  const answer: unknown = JSON.parse(Buffer.from(await response.bytes()).toString('utf8'));
  const numbers = (answer as { readonly data?: readonly { readonly embedding?: unknown }[] } | null)?.data?.[0]?.embedding;
  if (!Array.isArray(numbers) || numbers.length === 0 || !numbers.every((value) => typeof value === 'number' && Number.isFinite(value))) {
    throw new Error('the embedding endpoint gave no vector; its answer must look like that of OpenAI');
  }
  if (dimensions !== undefined && numbers.length !== dimensions) throw new Error(`the embedding endpoint gave ${numbers.length} dimensions instead of ${dimensions}`);
  return normalise(Float32Array.from(numbers));
}
