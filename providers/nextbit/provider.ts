import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'NextBit',
  describe: 'Open models: chat.',
  baseUrl: 'https://api.nextbit256.com/v1',
  endpoints: { chatCompletions: true, models: true },
});
