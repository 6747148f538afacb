import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'BytePlus ModelArk',
  describe: 'Seed and other models: chat, responses and images.',
  baseUrl: 'https://ark.ap-southeast.bytepluses.com/api/v3',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
    responses: true,
    imageGenerations: true,
  },
});
