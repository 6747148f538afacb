import { defineProvider, isObject, lines } from '@gateway/plugin-sdk';
import { OllamaChatStage } from './chat-stream.js';
import { chatToOllama, ollamaToChat } from './chat.js';
import { completionsEndpoint } from './completions.js';
import { embedBody, embeddingList } from './embeddings.js';
import { modelsEndpoint } from './models.js';

const framing = lines('application/x-ndjson');

export default defineProvider({
  title: 'Ollama',
  describe: "Models on one's own machine, or on Ollama's cloud, by Ollama's own API: chat with thinking, tools and images, completions and embeddings.",
  params: {
    type: 'object',
    properties: { api_key: { type: 'string', secret: true, description: "API key of Ollama's cloud; without one the calls go to the server on the gateway's own machine." } },
  },
  // The cloud knows its callers by a key; a server of one's own asks for none.
  baseUrl: ({ api_key: key }) => (key === undefined || key === '' ? 'http://127.0.0.1:11434' : 'https://ollama.com'),
  auth: { type: 'bearer', isOptional: true },
  endpoints: {
    chatCompletions: {
      path: '/api/chat',
      accepts: ['thinking', 'top_k'],
      request: chatToOllama,
      response: ollamaToChat,
      framing,
      stream: (call) => new OllamaChatStage(call),
    },
    completions: (call) => ({ ...completionsEndpoint(call), framing }),
    embeddings: { path: '/api/embed', request: embedBody, response: embeddingList },
    models: modelsEndpoint,
  },
  error: (body) => {
    if (!isObject(body)) return undefined;
    if (typeof body.error === 'string' && body.error !== '') return { message: body.error };
    // What the paths below /v1 say.
    if (isObject(body.error) && typeof body.error.message === 'string') {
      const { message, type, code } = body.error;
      return { message, ...(typeof type === 'string' ? { type } : {}), ...(typeof code === 'string' ? { code } : {}) };
    }
    return undefined;
  },
});
