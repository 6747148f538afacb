import { defineGuardrail } from '@gateway/plugin-sdk';
import { lookBackMax, lookBackParam } from '../common/text/look-back.js';

export default defineGuardrail({
  title: 'Regex replace',
  describe: 'Replaces every match of a regular expression, in all texts of the body.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'events', changes: 'both' },
  params: {
    type: 'object',
    required: ['rule'],
    properties: {
      rule: { type: 'string', minLength: 1, maxLength: 4000, description: 'Regular expression in RE2 syntax; also as /pattern/flags with the flags i, m and s.' },
      redactText: { type: 'string', default: '[REDACTED]', maxLength: 1000, description: 'What stands in place of a match, as it is: $1 and the like mean nothing.' },
      failOnDetection: { type: 'boolean', default: false, description: 'Fail when there was a match.' },
      lookBack: lookBackParam,
    },
  },
  lookBackMax,
  runs: 'either',
  create: async ({ rule, redactText, failOnDetection, lookBack }) => {
    const { RegexReplace } = await import('./regex-replace.js');
    return new RegexReplace({ rule, redactText, failOnDetection, lookBack });
  },
});
