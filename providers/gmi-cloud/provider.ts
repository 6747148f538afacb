import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'GMI Cloud',
  describe: 'Open models: chat.',
  baseUrl: 'https://api.gmi-serving.com/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    models: true,
  },
});
