import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'FriendliAI',
  describe: 'Serverless endpoints: chat, completions, responses, messages and transcription.',
  baseUrl: 'https://api.friendli.ai/serverless/v1',
  endpoints: {
    chatCompletions: true,
    completions: true,
    messages: '/messages',
    responses: true,
    transcriptions: true,
    models: true,
  },
});
