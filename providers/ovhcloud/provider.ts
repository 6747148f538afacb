import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'OVHcloud AI Endpoints',
  describe: 'Open models in European data centres: chat, embeddings and transcription.',
  baseUrl: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
  endpoints: { chatCompletions: true, embeddings: true, transcriptions: true, models: true },
});
