import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'DeepSeek',
  describe: 'DeepSeek models: chat, fill-in-the-middle completions and Anthropic-style messages.',
  baseUrl: 'https://api.deepseek.com',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    completions: '/beta/completions',
    messages: '/anthropic/v1/messages',
    models: true,
  },
});
