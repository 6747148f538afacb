import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Vercel AI Gateway',
  describe: 'One API over many providers: chat, responses, messages and embeddings.',
  baseUrl: 'https://ai-gateway.vercel.sh/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
    messages: '/messages',
    responses: true,
    embeddings: true,
    models: true,
  },
});
