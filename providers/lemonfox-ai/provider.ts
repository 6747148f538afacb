import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Lemonfox.ai',
  describe: 'Transcription, speech, images and chat.',
  baseUrl: 'https://api.lemonfox.ai/v1',
  endpoints: { chatCompletions: true, imageGenerations: true, speech: true, transcriptions: true },
});
