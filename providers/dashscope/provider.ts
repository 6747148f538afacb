import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Alibaba Cloud Model Studio',
  describe: 'Qwen models: chat, embeddings, files and batches.',
  baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  endpoints: { chatCompletions: true, embeddings: true, files: true, batches: true },
});
