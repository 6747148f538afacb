import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Modal',
  describe: "Model servers of one's own on Modal: chat and completions.",
  baseUrl: '',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    completions: true,
    models: true,
  },
});
