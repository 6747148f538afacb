import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Alibaba Cloud Model Studio',
  describe: 'Qwen models: chat, embeddings, files and batches.',
  baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } }, streamUsage: 'stream_options' },
    embeddings: true,
    files: true,
    batches: true,
  },
});
