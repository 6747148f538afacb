import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'CometAPI',
  describe: 'One API over many providers: chat, embeddings, images and audio.',
  baseUrl: 'https://api.cometapi.com/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' } },
    embeddings: true,
    imageGenerations: true,
    imageEdits: true,
    speech: true,
    transcriptions: true,
    translations: true,
    models: true,
  },
});
