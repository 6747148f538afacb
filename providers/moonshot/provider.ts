import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Moonshot AI',
  describe: 'Kimi models: chat, files and batches.',
  priceTable: 'moonshotai',
  baseUrl: 'https://api.moonshot.ai/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
    files: true,
    batches: true,
    models: true,
  },
});
