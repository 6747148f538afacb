import { defineProvider, isObject, type Json } from '@gateway/plugin-sdk';
import { embeddings } from './embeddings.js';
import { rerank } from './rerank.js';

export default defineProvider({
  title: 'Jina AI',
  describe: 'Embeddings of text and images, and rerank.',
  baseUrl: 'https://api.jina.ai/v1',
  auth: { type: 'bearer' },
  params: {
    type: 'object',
    properties: { api_key: { type: 'string', secret: true, description: 'API key of the provider.' } },
  },
  endpoints: { embeddings, rerank },
  error: (body) => {
    const detail = isObject(body) ? body.detail : undefined;
    if (typeof detail === 'string') return { message: detail };
    if (!Array.isArray(detail)) return undefined;
    const messages = (detail as readonly Json[]).flatMap((entry) => (isObject(entry) && typeof entry.msg === 'string' ? [entry.msg] : []));
    return messages.length === 0 ? undefined : { message: messages.join('; ') };
  },
});
