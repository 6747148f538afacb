import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Nebius Token Factory',
  describe: 'Open models: chat and embeddings.',
  baseUrl: 'https://api.tokenfactory.nebius.com/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    embeddings: true,
    models: true,
  },
});
