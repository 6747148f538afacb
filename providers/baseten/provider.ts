import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Baseten',
  describe: 'Model APIs: chat and messages.',
  baseUrl: 'https://inference.baseten.co/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    messages: '/messages',
    models: true,
  },
});
