import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'nCompass',
  describe: 'Open models: chat.',
  baseUrl: 'https://api.ncompass.tech/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
  },
});
