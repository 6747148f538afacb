import { defineStrategy } from '@gateway/plugin-sdk';

export default defineStrategy({
  title: 'Single',
  describe: 'The first target, and no other.',
  params: { type: 'object', properties: {} },
  create: () => ({
    next: (_exchange, targets, outcomes) => (outcomes.length === 0 && targets.length > 0 ? 0 : -1),
  }),
});
