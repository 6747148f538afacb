import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Cerebras',
  describe: 'Chat and completions on wafer-scale hardware.',
  baseUrl: 'https://api.cerebras.ai/v1',
  endpoints: { chatCompletions: true, completions: true, models: true },
});
