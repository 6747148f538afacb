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
  checkParams: async ({ timeout, embedding }) => {
    if (embedding !== undefined) {
      if (!/^https?:\/\/[^\s/]/u.test(embedding.url)) throw new ParameterError('embedding.url', 'must be an address that begins with https:// or http://');
      return;
    }
    const { missingPackages } = await import('./engine.js');
    const missing = missingPackages();
    if (missing.length > 0) throw new ParameterError('embedding', `the built-in model is not installed; run npm install ${missing.join(' ')}, or give embedding`);
    if (timeout < localTimeoutMsMin) throw new ParameterError('timeout', `the built-in model needs time to load; give ${localTimeoutMsMin} or more`);
  },
  create: async (host, limits) => {
    const { loadUsearch } = await import('./frame-index.js');
    const { SemanticCache } = await import('./semantic-cache.js');
    const { sweepPeriodMs } = await import('./sweeper.js');
    const usearch = loadUsearch();
    if (usearch === undefined) host.log.warn('usearch is not installed: at most 256 questions of a frame are compared; run npm install usearch');
    const cache = new SemanticCache(host, await host.store('entries'), limits, usearch);
    host.every(sweepPeriodMs, () => cache.sweep());
    return cache;
  },
});
