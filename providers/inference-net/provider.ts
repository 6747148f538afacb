import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Inference.net',
  describe: 'OpenAI-compatible chat on open models.',
  baseUrl: 'https://api.inference.net/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    models: true,
  },
});
