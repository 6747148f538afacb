import { defineProvider } from '@gateway/plugin-sdk';
import { anthropicAccepts, anthropicError, chatToMessages, messagesStage, messagesToChat } from '../common/anthropic.js';
import { completionStage, completionToMessages, messagesToCompletion } from './completions.js';
import { chatHeaders, clientHeaders } from './headers.js';
import { modelsAnswer } from './models.js';

export default defineProvider({
  title: 'Anthropic',
  describe: 'Claude models by way of the Messages API: chat with tools, thinking, images and documents; messages and token counts as they are.',
  baseUrl: 'https://api.anthropic.com/v1',
  auth: { type: 'header', name: 'x-api-key' },
  headers: { 'anthropic-version': '2023-06-01' },
  params: {
    type: 'object',
    properties: {
      anthropic_version: { type: 'string', description: 'Version of the API, when the client names none. Default: 2023-06-01.' },
      anthropic_beta: { type: 'string', description: 'Beta features, separated by commas, when the client names none.' },
    },
  },
  endpoints: {
    chatCompletions: {
      path: '/messages',
      accepts: anthropicAccepts,
      headers: chatHeaders,
      request: chatToMessages,
      response: messagesToChat,
      stream: messagesStage,
    },
    completions: { path: '/messages', headers: clientHeaders, request: completionToMessages, response: messagesToCompletion, stream: completionStage },
    messages: { path: '/messages', headers: clientHeaders },
    countTokens: { path: '/messages/count_tokens', headers: clientHeaders },
    models: { path: '/models', headers: clientHeaders, response: modelsAnswer },
  },
  error: anthropicError,
});
