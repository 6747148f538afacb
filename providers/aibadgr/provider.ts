import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'AI Badgr',
  describe: 'Chat on models named by tier.',
  baseUrl: 'https://aibadgr.com/api/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
  },
});
