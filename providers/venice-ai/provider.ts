import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Venice',
  describe: 'Private and open models: chat, responses, embeddings, images and audio.',
  baseUrl: 'https://api.venice.ai/api/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
    responses: true,
    embeddings: true,
    imageGenerations: true,
    speech: true,
    transcriptions: true,
    models: true,
  },
});
