import { defineProvider } from '@gateway/plugin-sdk';
import { countTokensAnswer, geminiAccepts, geminiError, geminiSpeech, geminiSpeechRequest, geminiStage, geminiToChat } from '../common/gemini.js';
import { chatRequest, countRequest, modelPath } from './chat.js';
import { embeddings } from './embeddings.js';
import { imageGenerations } from './images.js';
import { models } from './models.js';

export default defineProvider({
  title: 'Google Gemini',
  describe: 'The Gemini API: chat, embeddings, images, speech and token counts by Gemini, Imagen and Gemma models.',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  auth: { type: 'header', name: 'x-goog-api-key' },
  params: {
    type: 'object',
    properties: { api_key: { type: 'string', secret: true, description: 'API key of the Gemini API.' } },
  },
  endpoints: {
    chatCompletions: (call) => ({
      path: modelPath(call, 'generateContent'),
      streamPath: modelPath(call, 'streamGenerateContent?alt=sse'),
      accepts: geminiAccepts,
      request: chatRequest,
      response: geminiToChat,
      stream: geminiStage,
    }),
    countTokens: (call) => ({ path: modelPath(call, 'countTokens'), from: 'chat', accepts: geminiAccepts, request: countRequest, response: countTokensAnswer }),
    embeddings,
    imageGenerations,
    speech: (call) => ({ path: modelPath(call, 'generateContent'), request: geminiSpeechRequest, response: geminiSpeech }),
    models,
  },
  error: geminiError,
});
