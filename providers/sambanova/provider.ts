import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'SambaNova',
  describe: 'Open models on RDU hardware: chat, responses, messages, embeddings and transcription.',
  baseUrl: 'https://api.sambanova.ai/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    completions: true,
    messages: '/messages',
    countTokens: '/messages/count_tokens',
    responses: true,
    embeddings: true,
    transcriptions: true,
    translations: true,
    models: true,
  },
});
