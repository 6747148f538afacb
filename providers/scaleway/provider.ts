import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Scaleway Generative APIs',
  describe: 'Open models in European data centres: chat, embeddings and transcription.',
  baseUrl: 'https://api.scaleway.ai/v1',
  endpoints: { chatCompletions: true, embeddings: true, transcriptions: true, models: true },
});
