import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'GitHub Models',
  describe: 'Models for GitHub accounts: chat and embeddings.',
  baseUrl: 'https://models.github.ai/inference',
  endpoints: { chatCompletions: true, embeddings: true },
});
