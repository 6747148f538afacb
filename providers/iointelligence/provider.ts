import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'IO Intelligence',
  describe: 'Open models on the io.net network: chat.',
  baseUrl: 'https://api.intelligence.io.solutions/api/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    models: true,
  },
});
