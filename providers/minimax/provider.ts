import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'MiniMax',
  describe: 'MiniMax models: chat and responses.',
  baseUrl: 'https://api.minimax.io/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
    responses: true,
    models: true,
  },
});
