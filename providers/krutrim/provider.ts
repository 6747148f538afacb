import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Krutrim Cloud',
  describe: 'Open and Krutrim models hosted in India: chat.',
  baseUrl: 'https://cloud.olakrutrim.com/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
  },
});
