import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Chutes',
  describe: 'Open models on a decentralised network: chat.',
  baseUrl: 'https://llm.chutes.ai/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    models: true,
  },
});
