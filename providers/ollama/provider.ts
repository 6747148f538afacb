import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Ollama',
  describe: "Models on one's own machine, or on Ollama's cloud: chat, completions, responses, messages and embeddings.",
  baseUrl: '',
  endpoints: {
    chatCompletions: '/v1/chat/completions',
    completions: '/v1/completions',
    messages: '/v1/messages',
    responses: '/v1/responses',
    embeddings: '/v1/embeddings',
    models: '/v1/models',
  },
});
