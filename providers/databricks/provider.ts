import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Databricks Model Serving',
  describe: 'Serving endpoints of a workspace: chat, completions, responses, messages and embeddings.',
  baseUrl: '',
  endpoints: { chatCompletions: true, completions: true, messages: '/anthropic/v1/messages', responses: true, embeddings: true },
});
