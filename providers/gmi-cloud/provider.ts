import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'GMI Cloud',
  describe: 'Open models: chat.',
  baseUrl: 'https://api.gmi-serving.com/v1',
  endpoints: { chatCompletions: true, models: true },
});
