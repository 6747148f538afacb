import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Requesty',
  describe: 'A router over many providers: chat and responses.',
  baseUrl: 'https://router.requesty.ai/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
    responses: true,
    models: true,
  },
});
