import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Featherless AI',
  describe: 'Chat and completions on open models.',
  baseUrl: 'https://api.featherless.ai/v1',
  endpoints: { chatCompletions: true, completions: true, models: true },
});
