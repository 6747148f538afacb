import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Upstage',
  describe: 'Solar models: chat and embeddings.',
  baseUrl: 'https://api.upstage.ai/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    embeddings: true,
    models: true,
  },
});
