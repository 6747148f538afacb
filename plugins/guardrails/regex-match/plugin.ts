import { defineGuardrail } from '@gateway/plugin-sdk';
import { lookBackMax, lookBackParam } from '../common/text/look-back.js';

export default defineGuardrail({
  title: 'Regex match',
  describe: 'Passes when a regular expression matches somewhere in the text, or with `not` when it matches nowhere.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'events' },
  params: {
    type: 'object',
    required: ['rule'],
    properties: {
      rule: { type: 'string', minLength: 1, maxLength: 4000, description: 'Regular expression in RE2 syntax; also as /pattern/flags with the flags i, m and s.' },
      not: { type: 'boolean', default: false, description: 'Pass when it matches nowhere.' },
      lookBack: lookBackParam,
    },
  },
  // That something is there can be known late; that nothing is there has to be known before it goes.
  needsFor: ({ not }) => ({ request: 'json', response: not ? 'events' : 'json' }),
  lookBackMax,
  runs: 'either',
  create: async ({ rule, not, lookBack }) => {
    const { RegexMatch } = await import('./regex-match.js');
    return new RegexMatch(rule, not, lookBack);
  },
});
