import { defineGuardrail } from '@gateway/plugin-sdk';
import { caseCheck, notUpperCase } from '../common/text/case-check.js';
import { scopeParam } from '../common/text/groups.js';

export default defineGuardrail({
  title: 'All upper case',
  describe: 'Passes when all letters are upper case.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'events' },
  runs: 'either',
  params: {
    type: 'object',
    properties: {
      not: { type: 'boolean', default: false, description: 'Pass when not all letters are upper case.' },
      scope: scopeParam,
    },
  },
  lookBackMax: 0,
  create: ({ not, scope }) => caseCheck({ wrongCase: notUpperCase, name: 'upper case', not, scope }),
});
