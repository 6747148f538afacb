import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'DeepInfra',
  describe: 'Open models: chat, completions, embeddings, images, speech, files and batches.',
  baseUrl: 'https://api.deepinfra.com/v1/openai',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    completions: true,
    embeddings: true,
    imageGenerations: true,
    imageEdits: true,
    speech: true,
    transcriptions: true,
    files: true,
    batches: true,
    models: true,
  },
});
