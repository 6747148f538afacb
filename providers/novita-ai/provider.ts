import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Novita AI',
  describe: 'Open models: chat, completions, embeddings and rerank.',
  priceTable: 'novita',
  baseUrl: 'https://api.novita.ai/openai/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    completions: true,
    embeddings: true,
    rerank: true,
    models: true,
  },
});
