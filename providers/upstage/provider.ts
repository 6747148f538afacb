import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Upstage',
  describe: 'Solar models: chat and embeddings.',
  baseUrl: 'https://api.upstage.ai/v1',
  endpoints: { chatCompletions: true, embeddings: true, models: true },
});
