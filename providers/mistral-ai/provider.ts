import { defineProvider, type EndpointSpec } from '@gateway/plugin-sdk';
import { chatAnswer } from './chat-answer.js';
import { ChatStage } from './chat-stream.js';
import { chatRequest } from './chat.js';
import { embeddings, moderations, speech } from './endpoints.js';
import { mistralError } from './error.js';
import { completions, fimChat } from './fim.js';

const chat: EndpointSpec = {
  path: '/chat/completions',
  accepts: ['thinking'],
  request: chatRequest,
  response: chatAnswer,
  stream: (call) => new ChatStage(call),
};

export default defineProvider({
  title: 'Mistral AI',
  describe: 'Mistral, Magistral, Codestral and Devstral models: chat with tools, documents and reasoning; fill-in-the-middle, embeddings, moderation, speech.',
  priceTable: 'mistral',
  baseUrl: 'https://api.mistral.ai/v1',
  auth: { type: 'bearer' },
  endpoints: {
    chatCompletions: (call) => (call.header('mistral-fim-completion') === 'true' ? fimChat : chat),
    completions,
    embeddings,
    speech,
    transcriptions: '/audio/transcriptions',
    moderations,
    files: '/files',
    models: '/models',
  },
  error: mistralError,
});
