import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'xAI',
  describe: 'Grok models: responses, chat, images and files.',
  baseUrl: 'https://api.x.ai/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
    completions: true,
    responses: true,
    embeddings: true,
    imageGenerations: true,
    files: true,
    models: true,
  },
});
