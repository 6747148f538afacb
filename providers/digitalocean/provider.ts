import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'DigitalOcean Gradient',
  describe: 'Serverless inference: chat, embeddings and images.',
  baseUrl: 'https://inference.do-ai.run/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
    embeddings: true,
    imageGenerations: true,
    models: true,
  },
});
