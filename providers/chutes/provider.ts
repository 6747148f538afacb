import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Chutes',
  describe: 'Open models on a decentralised network: chat.',
  baseUrl: 'https://llm.chutes.ai/v1',
  endpoints: { chatCompletions: true, models: true },
});
