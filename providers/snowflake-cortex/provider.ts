import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Snowflake Cortex',
  describe: 'Models of a Snowflake account: chat and messages.',
  baseUrl: '',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
    messages: '/messages',
  },
});
