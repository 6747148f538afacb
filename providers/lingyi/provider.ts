import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: '01.AI',
  describe: 'Yi models: chat.',
  baseUrl: 'https://api.lingyiwanwu.com/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    models: true,
  },
});
