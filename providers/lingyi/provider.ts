import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: '01.AI',
  describe: 'Yi models: chat.',
  baseUrl: 'https://api.lingyiwanwu.com/v1',
  endpoints: { chatCompletions: true, models: true },
});
