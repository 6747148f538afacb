import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'AiHubMix',
  describe: 'One API over many providers: chat.',
  baseUrl: 'https://aihubmix.com/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
  },
});
