import { defineGuardrail } from '@gateway/plugin-sdk';
import { countCheck } from '../common/text/count-check.js';
import { scopeParam } from '../common/text/groups.js';
import { WordCounter } from '../common/text/word-counter.js';

export default defineGuardrail({
  title: 'Word count',
  describe: 'Passes when the number of words lies between two bounds.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'events' },
  params: {
    type: 'object',
    properties: {
      minWords: { type: 'integer', minimum: 0, default: 0, description: 'Fewest words that pass.' },
      maxWords: { type: 'integer', minimum: 0, default: 99999, description: 'Most words that pass.' },
      not: { type: 'boolean', default: false, description: 'Pass when the number lies outside of the bounds.' },
      scope: scopeParam,
    },
  },
  lookBackMax: 0,
  create: ({ minWords, maxWords, not, scope }) => countCheck({
    least: minWords,
    most: maxWords,
    not,
    scope,
    unit: 'words',
    makeCounter: () => new WordCounter(),
    names: { least: 'minWords', most: 'maxWords', count: 'wordCount' },
    leastParam: 'minWords',
  }),
});
