import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Fireworks AI',
  describe: 'Open models: chat, completions, responses, messages, embeddings and rerank.',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  endpoints: {
    chatCompletions: true,
    completions: true,
    messages: '/messages',
    responses: true,
    embeddings: true,
    rerank: true,
    models: true,
  },
});
