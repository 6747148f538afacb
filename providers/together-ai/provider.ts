import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Together AI',
  describe: 'Open models: chat, completions, embeddings, images, speech and rerank.',
  priceTable: 'together',
  baseUrl: 'https://api.together.xyz/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    completions: true,
    embeddings: true,
    imageGenerations: true,
    speech: true,
    transcriptions: true,
    translations: true,
    rerank: true,
    batches: true,
    models: true,
  },
});
