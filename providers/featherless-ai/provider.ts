import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Featherless AI',
  describe: 'Chat and completions on open models.',
  baseUrl: 'https://api.featherless.ai/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    completions: true,
    models: true,
  },
});
