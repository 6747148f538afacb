import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Z.ai',
  describe: 'GLM models: chat, images and transcription.',
  priceTable: 'zai',
  baseUrl: 'https://api.z.ai/api/paas/v4',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    imageGenerations: true,
    transcriptions: true,
  },
});
