import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Deepbricks',
  describe: 'One API over several providers: chat.',
  baseUrl: 'https://api.deepbricks.ai/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
  },
});
