import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Nscale',
  describe: 'Open models: chat, completions, embeddings and images.',
  baseUrl: 'https://inference.api.nscale.com/v1',
  endpoints: { chatCompletions: true, completions: true, embeddings: true, imageGenerations: true, models: true },
});
