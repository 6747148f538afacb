import { defineHook } from '@gateway/plugin-sdk';
import { decideByVerdicts } from '../common/verdicts.js';

export default defineHook({
  title: 'Guardrail',
  describe: 'Checks at the same time; the hook fails when one of them fails. With deny a failed hook ends the call.',
  stages: ['before', 'after'],
  params: {
    type: 'object',
    properties: {
      deny: { type: 'boolean', default: false, description: 'A failed hook ends the call with status 446; otherwise it only marks it (246).' },
      deny_on_success: { type: 'boolean', default: false, description: 'A hook that passes ends the call with status 446: for checks that look for what is wanted nowhere.' },
      sequential: { type: 'boolean', default: false, description: 'One check after another, in the order of the list.' },
    },
  },
  create: ({ deny, deny_on_success: denyOnSuccess, sequential }) => ({
    order: sequential ? 'inTurn' : 'together',
    decide: (results) => decideByVerdicts(results, deny, denyOnSuccess),
  }),
});
