import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Databricks Model Serving',
  describe: 'Serving endpoints of a workspace: chat, completions, responses, messages and embeddings.',
  baseUrl: '',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    completions: true,
    messages: '/anthropic/v1/messages',
    responses: true,
    embeddings: true,
  },
});
