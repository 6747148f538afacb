// Where vectors come from: the model in the worker pool, or an endpoint that speaks OpenAI's embeddings. Remembered by text, also while under way.

import type { Host } from '@gateway/plugin-sdk';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { dot, normalise } from './vector.js';

export interface Embedder {
  /** Names the model: vectors of different models are worth nothing to each other. Empty for the built-in one. */
  readonly mark: string;
  /** Length of its vectors, or a good guess. */
  readonly dimensions: number;
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

const answerBytesMax = 1024 * 1024;
/** Bytes that a remembered vector takes beside its text and its numbers. */
const overheadBytes = 256;

/** Vectors by model and text, shared by those who ask for one text at once. What failed is forgotten. */
export class RememberedVectors {
  readonly #known: LRUCache<string, Promise<Float32Array | undefined>>;

  constructor(bytesMax: number) {
    this.#known = new LRUCache({ maxSize: Math.max(1, bytesMax) });
  }

  get bytes(): number {
    return this.#known.calculatedSize;
  }

  find(model: string, text: string, compute: (text: string) => Promise<Float32Array | undefined>): Promise<Float32Array | undefined> {
    const key = `${model} ${text}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const vector = compute(text);
    const size = 2 * key.length + overheadBytes;
    this.#known.set(key, vector, { size });
    vector.then(
      (found) => { if (found !== undefined && this.#known.peek(key) === vector) this.#known.set(key, vector, { size: size + found.byteLength }); },
      () => { if (this.#known.peek(key) === vector) this.#known.delete(key); },
    );
    return vector;
  }
}

export function localEmbedder(host: Host, timeoutMs: number, remembered: RememberedVectors): Embedder {
  const pool = host.worker<WorkerModule>(new URL('./worker.js', import.meta.url), { timeoutMs });
  const embed = async (text: string): Promise<Float32Array | undefined> => {
    const [vector] = await pool.embed([text]);
    return vector === undefined || vector.length === 0 ? undefined : vector;
  };
  return {
    mark: '',
    dimensions: localDimensions,
    vector: (text) => remembered.find('', text, embed),
    similarity: async (left, right) => (await pool.similarities([[left, right]]))[0] ?? 0,
  };
}

export function endpointEmbedder(host: Host, endpoint: Endpoint, remembered: RememberedVectors): Embedder {
  const { url, model, dimensions, apiKey } = endpoint;
  const mark = digest([url, model, dimensions ?? 0]);
  // A key that the endpoint refuses must not fail those who come with another.
  const caller = `${mark} ${digest([apiKey ?? ''])}`;
  const compute = (text: string): Promise<Float32Array> => ask(host, endpoint, text);
  const vector = (text: string): Promise<Float32Array | undefined> => remembered.find(caller, text, compute);
  return {
    mark,
    dimensions: dimensions ?? usualDimensions,
    vector,
    similarity: async (left, right) => {
      const [leftVector, rightVector] = await Promise.all([vector(left), vector(right)]);
      return leftVector === undefined || rightVector === undefined ? 0 : dot(leftVector, rightVector);
    },
  };
}

const localDimensions = 384;
const usualDimensions = 1536;
const digest = (parts: readonly unknown[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

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
