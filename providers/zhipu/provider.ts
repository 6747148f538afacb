import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Zhipu AI',
  describe: 'GLM models on the Chinese platform: chat, embeddings, images, speech, files and batches.',
  priceTable: 'zhipuai',
  baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    embeddings: true,
    imageGenerations: true,
    speech: true,
    transcriptions: true,
    files: true,
    batches: true,
  },
});
