import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Inference.net',
  describe: 'OpenAI-compatible chat on open models.',
  baseUrl: 'https://api.inference.net/v1',
  endpoints: { chatCompletions: true, models: true },
});
