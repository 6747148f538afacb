// The model on ONNX Runtime: about seven times as fast as the WebAssembly engine. Chosen when the operator installed its two packages.

import { readFile } from 'node:fs/promises';
import { onnxPackages, optionalModule, type Engine, type ModelFiles, type Tokenizer } from './engine.js';
import { encoderGraph, type OnnxProto } from './onnx-graph.js';
import { Weights } from './safetensors.js';
import { normalise } from './vector.js';

interface OnnxTensor {
  readonly data: Float32Array;
}

interface OnnxRuntime {
  readonly InferenceSession: { create(graph: Uint8Array, options: object): Promise<{ run(feeds: object): Promise<{ readonly states: OnnxTensor }> }> };
  readonly Tensor: new (type: 'int32', data: Int32Array, sizes: readonly number[]) => object;
}

const endOfText = '\n';

/** Undefined when one of its packages is not installed. */
export async function onnxEngine(files: ModelFiles, tokenizer: Tokenizer): Promise<Engine | undefined> {
  const runtime = defaultOf<OnnxRuntime>(await optionalModule(onnxPackages[0]));
  const proto = defaultOf<OnnxProto>(await optionalModule(onnxPackages[1]));
  if (runtime === undefined || proto === undefined) return undefined;
  const graph = encoderGraph(new Weights(await readFile(files.weightsPath)), proto);
  // One thread: the pool has as many workers as there are cores, and more threads for each would only get in each other's way.
  const session = await runtime.InferenceSession.create(graph, { intraOpNumThreads: 1, interOpNumThreads: 1, graphOptimizationLevel: 'all' });
  const one = async (text: string): Promise<Float32Array> => {
    const ids = Int32Array.from(tokenizer.encode(text).ids.slice(0, files.maxTokens));
    const sizes = [1, ids.length];
    const { states } = await session.run({ ids: new runtime.Tensor('int32', ids, sizes), segments: new runtime.Tensor('int32', new Int32Array(ids.length), sizes) });
    return normalise(meanOf(states.data, ids.length, files.dimensions));
  };
  return {
    name: 'onnx',
    embed: async (texts) => {
      const vectors: Float32Array[] = [];
      // One after the other: texts of unlike length in one batch would need padding, and one thread gains nothing by it.
      for (const text of texts) vectors.push(await one(text === '' ? endOfText : text));
      return vectors;
    },
  };
}

function meanOf(states: Float32Array, count: number, dimensions: number): Float32Array {
  const mean = new Float32Array(dimensions);
  for (let token = 0; token < count; token += 1) {
    for (let index = 0; index < dimensions; index += 1) mean[index] = (mean[index] ?? 0) + (states[token * dimensions + index] ?? 0) / count;
  }
  return mean;
}

/** Both packages are CommonJS: all they export is the default of the module, and maybe more. */
const defaultOf = <T>(module: unknown): T | undefined => (module === undefined ? undefined : (module as { readonly default: T }).default);
