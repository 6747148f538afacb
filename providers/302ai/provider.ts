import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: '302.AI',
  describe: 'One API over many providers: chat.',
  baseUrl: 'https://api.302.ai/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
  },
});
