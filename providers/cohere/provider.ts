import { defineProvider, isObject } from '@gateway/plugin-sdk';
import { chatAnswer } from './chat-answer.js';
import { ChatStage } from './chat-stream.js';
import { chatRequest } from './chat.js';
import { embeddings } from './embeddings.js';
import { models } from './models.js';
import { rerank } from './rerank.js';

export default defineProvider({
  title: 'Cohere',
  describe: 'Command models with tools, documents, citations and reasoning; embeddings of text and images, rerank, transcriptions.',
  baseUrl: 'https://api.cohere.com',
  auth: { type: 'bearer' },
  endpoints: {
    chatCompletions: {
      path: '/v2/chat',
      accepts: ['thinking', 'top_k'],
      request: chatRequest,
      response: chatAnswer,
      stream: (call) => new ChatStage(call),
    },
    embeddings,
    transcriptions: '/v2/audio/transcriptions',
    rerank,
    models,
  },
  error: (body) => {
    if (!isObject(body)) return undefined;
    const message = body.message ?? body.data ?? body.detail;
    if (typeof message === 'string') return { message };
    return isObject(message) && typeof message.message === 'string' ? { message: message.message } : undefined;
  },
});
