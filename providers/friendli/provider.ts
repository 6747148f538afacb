import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'FriendliAI',
  describe: 'Serverless endpoints: chat, completions, responses, messages and transcription.',
  baseUrl: 'https://api.friendli.ai/serverless/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    completions: true,
    messages: '/messages',
    responses: true,
    transcriptions: true,
    models: true,
  },
});
