import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Poe',
  describe: 'The bots of Poe: chat and responses.',
  baseUrl: 'https://api.poe.com/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
    responses: true,
    models: true,
  },
});
