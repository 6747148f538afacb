import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Novita AI',
  describe: 'Open models: chat, completions, embeddings and rerank.',
  baseUrl: 'https://api.novita.ai/openai/v1',
  endpoints: { chatCompletions: true, completions: true, embeddings: true, rerank: true, models: true },
});
