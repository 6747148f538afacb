// Runs in the worker pool. The engine is loaded with the first text and stays: a worker that has been used once answers in milliseconds.

import { LRUCache } from 'lru-cache';
import { loadTokenizer, modelFiles, type Engine, type Tokenizer } from './engine.js';
import { wasmEngine } from './engine-wasm.js';
import { dot } from './vector.js';

interface Loaded {
  readonly engine: Engine;
  readonly tokenizer: Tokenizer;
  readonly tokensMax: number;
}

let loading: Promise<Loaded> | undefined;
/** Words that questions differ in come again and again. */
const fragments = new LRUCache<string, Float32Array>({ max: 2000 });

/** One vector of length 1 for each text; an empty one for a text that is longer than the model reads, which must not be compared. */
export async function embed(texts: readonly string[]): Promise<Float32Array[]> {
  const { engine, tokenizer, tokensMax } = await loaded();
  const fitting = texts.filter((text) => tokenizer.encode(text).ids.length <= tokensMax);
  const vectors = await engine.embed(fitting);
  if (fitting.length === texts.length) return vectors;
  let next = 0;
  return texts.map((text) => {
    if (text !== fitting[next]) return new Float32Array(0);
    next += 1;
    return vectors[next - 1] ?? new Float32Array(0);
  });
}

/** How near the two words or phrases of each pair are in meaning, -1 to 1. */
export async function similarities(pairs: readonly (readonly [string, string])[]): Promise<number[]> {
  const missing = [...new Set(pairs.flat())].filter((text) => !fragments.has(text));
  for (const [index, vector] of (await embed(missing)).entries()) fragments.set(missing[index] ?? '', vector);
  return pairs.map(([left, right]) => {
    const [leftVector, rightVector] = [fragments.get(left), fragments.get(right)];
    return leftVector === undefined || rightVector === undefined || leftVector.length !== rightVector.length ? 0 : dot(leftVector, rightVector);
  });
}

function loaded(): Promise<Loaded> {
  loading ??= load().catch((thrown: unknown) => {
    // The next call tries again: the operator may have installed what was missing, or memory was short for a moment.
    loading = undefined;
    throw thrown;
  });
  return loading;
}

async function load(): Promise<Loaded> {
  const files = await modelFiles();
  const tokenizer = await loadTokenizer(files);
  const engine = await wasmEngine(files);
  return { engine, tokenizer, tokensMax: files.maxTokens };
}
