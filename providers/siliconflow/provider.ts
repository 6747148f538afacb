import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'SiliconFlow',
  describe: 'Open models: chat, messages, embeddings, rerank, speech, files and batches.',
  baseUrl: 'https://api.siliconflow.cn/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    messages: '/messages',
    embeddings: true,
    speech: true,
    transcriptions: true,
    rerank: true,
    files: true,
    batches: true,
    models: true,
  },
});
