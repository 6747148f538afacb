import { defineGuardrail } from '@gateway/plugin-sdk';
import { caseCheck, notLowerCase } from '../common/text/case-check.js';
import { scopeParam } from '../common/text/groups.js';

export default defineGuardrail({
  title: 'Is all lower case',
  describe: 'Passes when all letters are lower case.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'events' },
  runs: 'either',
  params: {
    type: 'object',
    properties: {
      format: { type: 'string', maxLength: 100, description: 'Accepted because configs written for the hosted reference carry it; it changes nothing.' },
      not: { type: 'boolean', default: false, description: 'Pass when not all letters are lower case.' },
      scope: scopeParam,
    },
  },
  lookBackMax: 0,
  create: ({ not, scope }) => caseCheck({ wrongCase: notLowerCase, name: 'lower case', not, scope }),
});
