import { defineGuardrail } from '@gateway/plugin-sdk';
import { countCheck } from '../common/text/count-check.js';
import { scopeParam } from '../common/text/groups.js';
import { SentenceCounter } from '../common/text/sentence-counter.js';

export default defineGuardrail({
  title: 'Sentence count',
  describe: 'Passes when the number of sentences lies between two bounds.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'events' },
  params: {
    type: 'object',
    properties: {
      minSentences: { type: 'integer', minimum: 0, default: 0, description: 'Fewest sentences that pass.' },
      maxSentences: { type: 'integer', minimum: 0, default: 99999, description: 'Most sentences that pass.' },
      not: { type: 'boolean', default: false, description: 'Pass when the number lies outside of the bounds.' },
      scope: scopeParam,
    },
  },
  lookBackMax: 0,
  runs: 'either',
  create: ({ minSentences, maxSentences, not, scope }) => countCheck({
    least: minSentences,
    most: maxSentences,
    not,
    scope,
    unit: 'sentences',
    makeCounter: () => new SentenceCounter(),
    names: { least: 'minCount', most: 'maxCount', count: 'sentenceCount' },
    leastParam: 'minSentences',
  }),
});
