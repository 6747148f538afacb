import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'OVHcloud AI Endpoints',
  describe: 'Open models in European data centres: chat, embeddings and transcription.',
  baseUrl: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    embeddings: true,
    transcriptions: true,
    models: true,
  },
});
