import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Anyscale',
  describe: "Services of one's own that run Ray Serve LLM: chat, completions and embeddings.",
  baseUrl: '',
  endpoints: { chatCompletions: true, completions: true, embeddings: true, models: true },
});
