// The model on its WebAssembly engine.

import { enginePackage, neededModule, type Engine, type ModelFiles } from './engine.js';
import { normalise } from './vector.js';

interface EmbedPackage {
  createEmbedder(options: { readonly model: ModelFiles }): Promise<{ embed(texts: readonly string[]): Promise<readonly (readonly number[])[]> }>;
}

export async function wasmEngine(files: ModelFiles): Promise<Engine> {
  const { createEmbedder } = (await neededModule(enginePackage)) as EmbedPackage;
  const embedder = await createEmbedder({ model: files });
  return {
    embed: async (texts) => {
      const vectors: Float32Array[] = [];
      // One by one: the package starts threads of its own for large batches, and the pool is where threads belong.
      for (const text of texts) {
        const [vector] = await embedder.embed([text]);
        vectors.push(normalise(Float32Array.from(vector ?? [])));
      }
      return vectors;
    },
  };
}
