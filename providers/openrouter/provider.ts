import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'OpenRouter',
  describe: 'One API over many providers: chat, responses, messages, embeddings, rerank and speech.',
  baseUrl: 'https://openrouter.ai/api/v1',
  endpoints: {
    chatCompletions: true,
    messages: '/messages',
    responses: true,
    embeddings: true,
    speech: true,
    transcriptions: true,
    rerank: true,
    files: true,
    models: true,
  },
});
