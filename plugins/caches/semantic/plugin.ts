import { defineCache, ParameterError } from '@gateway/plugin-sdk';

/** Measured on the tuning half of the labelled pairs: with the veto, higher loses hits and lower gains none. */
const defaultThreshold = 0.85;
/** A worker that is ended while it loads the model starts again from nothing with the next question. */
const localTimeoutMsMin = 2000;

export default defineCache({
  title: 'Semantic',
  describe: 'Answers a question from the cache when the same was asked before, also in other words. Numbers, names and negations must agree.',
  params: {
    type: 'object',
    properties: {
      threshold: { type: 'number', minimum: 0.5, maximum: 1, default: defaultThreshold, description: 'Cosine similarity from which two questions may mean the same.' },
      veto: { type: 'boolean', default: true, description: 'Compares numbers, names, negations and order too. Without it, many answers will be wrong.' },
      characters_max: {
        type: 'integer', minimum: 1, maximum: 8000, default: 400, description: 'Longer questions are only found when they are the same.',
      },
      timeout: {
        type: 'integer', minimum: 1, maximum: 60_000, default: 5000, description: 'Milliseconds that an embedding may take. What is late counts as nothing found.',
      },
      embedding: {
        type: 'object',
        properties: {
          url: { type: 'string', minLength: 1, description: 'Address of an embeddings endpoint like that of OpenAI, with its path.' },
          model: { type: 'string', minLength: 1, description: 'Name of the embedding model.' },
          api_key: { type: 'string', secret: true, description: 'Key of the endpoint.' },
          dimensions: { type: 'integer', minimum: 1, maximum: 8192, description: 'Length of the vectors, for models that let it be chosen.' },
        },
        required: ['url', 'model'],
        description: 'Where vectors come from instead of the built-in model.',
      },
    },
  },
  compares: 'meaning',
  create: async (params, host, limits) => {
    const { endpointEmbedder, localEmbedder } = await import('./embedding.js');
    const { loadUsearch } = await import('./frame-index.js');
    const { SemanticCache } = await import('./semantic-cache.js');
    const { sweepPeriodMs } = await import('./sweeper.js');
    const { threshold, veto, timeout, embedding } = params;
    let embedder;
    if (embedding === undefined) {
      const { missingPackages } = await import('./engine.js');
      const missing = missingPackages();
      if (missing.length > 0) throw new ParameterError('embedding', `the built-in model is not installed; run npm install ${missing.join(' ')}, or give embedding`);
      if (timeout < localTimeoutMsMin) throw new ParameterError('timeout', `the built-in model needs time to load; give ${localTimeoutMsMin} or more`);
      embedder = localEmbedder(host, timeout);
    } else {
      const { url, model, api_key: apiKey, dimensions } = embedding;
      if (!/^https?:\/\/[^\s/]/u.test(url)) throw new ParameterError('embedding.url', 'must be an address that begins with https:// or http://');
      // Taken as it is written: configs come from clients, and a reference to a secret of the operator would send it to an address of theirs.
      embedder = endpointEmbedder(host, { url, model, dimensions, timeoutMs: timeout, apiKey });
    }
    const usearch = loadUsearch();
    if (usearch === undefined) host.log.warn('usearch is not installed: at most 256 questions of a frame are compared; run npm install usearch');
    // Vectors of different models are worth nothing to each other, so each model has rows of its own.
    const store = await host.store(embedding === undefined ? 'entries' : `entries-${await modelMark(embedding.url, embedding.model, embedding.dimensions)}`);
    const cache = new SemanticCache(host, store, embedder, { threshold, veto, charactersMax: params.characters_max }, limits, usearch);
    host.every(sweepPeriodMs, () => cache.sweep());
    return cache;
  },
});

async function modelMark(url: string, model: string, dimensions: number | undefined): Promise<string> {
  const { createHash } = await import('node:crypto');
  return createHash('sha256').update(JSON.stringify([url, model, dimensions ?? 0])).digest('hex').slice(0, 16);
}
