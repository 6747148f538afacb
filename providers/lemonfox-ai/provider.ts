import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Lemonfox.ai',
  describe: 'Transcription, speech, images and chat.',
  baseUrl: 'https://api.lemonfox.ai/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    imageGenerations: true,
    speech: true,
    transcriptions: true,
  },
});
