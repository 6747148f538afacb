import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Modal',
  describe: "Model servers of one's own on Modal: chat and completions.",
  baseUrl: '',
  endpoints: { chatCompletions: true, completions: true, models: true },
});
