import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'NextBit',
  describe: 'Open models: chat.',
  baseUrl: 'https://api.nextbit256.com/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    models: true,
  },
});
