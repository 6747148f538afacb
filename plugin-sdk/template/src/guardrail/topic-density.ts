import { defineGuardrail, ParameterError, type Json } from '@gateway/plugin-sdk';
import { scoreTopic } from './topic-score.js';

/** Longer texts are scored in the worker pool, so that they keep no other call waiting. */
const loopCharactersMax = 8 * 1024;

export default defineGuardrail({
  title: 'Topic density',
  describe: 'Fails texts in which the weighted terms of a topic are dense.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'json' },
  params: {
    type: 'object',
    required: ['terms'],
    properties: {
      terms: { type: 'object', properties: {}, additionalProperties: { type: 'number', minimum: 0 }, description: 'Single words and what each of them weighs.' },
      threshold: { type: 'number', exclusiveMinimum: 0, default: 10, description: 'A text fails from this weight for each hundred words on.' },
    },
  },
  create({ terms, threshold }, host) {
    const weights = new Map<string, number>();
    for (const [term, weight] of Object.entries(terms)) {
      if (!/^[\p{L}\p{N}]+$/u.test(term)) throw new ParameterError(`terms.${term}`, 'must be a single word');
      weights.set(term.toLowerCase(), weight);
    }
    if (weights.size === 0) throw new ParameterError('terms', 'must hold at least one word');
    const list = [...weights];
    // The new URL keeps the worker beside this module, wherever the package is installed.
    const worker = host.worker<typeof import('./topic-density-worker.js')>(new URL('./topic-density-worker.js', import.meta.url), { timeoutMs: 2_000 });
    return {
      async evaluate(input) {
        const texts = input.text();
        const isShort = texts.reduce((length, text) => length + text.length, 0) <= loopCharactersMax;
        if (!isShort) host.count('pooled');
        const { words, density, found } = isShort ? scoreTopic(texts, weights) : await worker.score(texts, list);
        const rounded = Math.round(density * 100) / 100;
        const data: Json = { words, density: rounded, threshold, found };
        return density < threshold ? { pass: true, data } : { pass: false, why: `the topic has a density of ${rounded}, and ${threshold} is too much`, data };
      },
    };
  },
});
