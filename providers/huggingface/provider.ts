import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Hugging Face Inference Providers',
  describe: 'The router over many inference providers: chat and responses.',
  baseUrl: 'https://router.huggingface.co/v1',
  aliases: { custom_host: ['huggingface_base_url'] },
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    responses: true,
    models: true,
  },
});
