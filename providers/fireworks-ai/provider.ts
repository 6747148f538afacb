import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Fireworks AI',
  describe: 'Open models: chat, completions, responses, messages, embeddings and rerank.',
  priceTable: 'fireworks',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    completions: true,
    messages: '/messages',
    responses: true,
    embeddings: true,
    rerank: true,
    models: true,
  },
});
