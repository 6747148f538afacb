import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Anyscale',
  describe: "Services of one's own that run Ray Serve LLM: chat, completions and embeddings.",
  baseUrl: '',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    completions: true,
    embeddings: true,
    models: true,
  },
});
