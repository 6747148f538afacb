import { defineHook } from '@gateway/plugin-sdk';
import { decideByVerdicts } from '../common/verdicts.js';

export default defineHook({
  title: 'Mutator',
  describe: 'Checks that change the body, one after another, each on what the one before it made.',
  stages: ['before', 'after'],
  params: {
    type: 'object',
    properties: {
      deny: { type: 'boolean', default: false, description: 'A check that fails ends the call with status 446; otherwise it only marks it (246).' },
    },
  },
  create: ({ deny }) => ({
    order: 'inTurn',
    decide: (results) => decideByVerdicts(results, deny, false),
  }),
});
