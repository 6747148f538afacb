import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'MiniMax',
  describe: 'MiniMax models: chat and responses.',
  baseUrl: 'https://api.minimax.io/v1',
  endpoints: { chatCompletions: true, responses: true, models: true },
});
