import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Nscale',
  describe: 'Open models: chat, completions, embeddings and images.',
  baseUrl: 'https://inference.api.nscale.com/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    completions: true,
    embeddings: true,
    imageGenerations: true,
    models: true,
  },
});
