import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Scaleway Generative APIs',
  describe: 'Open models in European data centres: chat, embeddings and transcription.',
  baseUrl: 'https://api.scaleway.ai/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    embeddings: true,
    transcriptions: true,
    models: true,
  },
});
