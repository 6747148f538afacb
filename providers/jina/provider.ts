import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Jina AI',
  describe: 'Embeddings and rerank.',
  baseUrl: 'https://api.jina.ai/v1',
  endpoints: { embeddings: true, rerank: true },
});
