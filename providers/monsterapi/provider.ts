import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'MonsterAPI',
  describe: 'Open models: chat.',
  baseUrl: 'https://llm.monsterapi.ai/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
  },
});
