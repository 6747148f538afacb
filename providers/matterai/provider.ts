import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'MatterAI',
  describe: 'Axon models for code: chat.',
  baseUrl: 'https://api.matterai.so/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
  },
});
