import { defineProvider } from '@gateway/plugin-sdk';
import { anthropicError } from '../common/anthropic.js';
import { geminiError } from '../common/gemini.js';
import { chatCompletions } from './chat.js';
import { countTokens, messages } from './claude.js';
import { baseUrlOf } from './credentials.js';
import { embeddings } from './embeddings.js';
import { imageGenerations, speech } from './media.js';
import { sign } from './signature.js';

export default defineProvider({
  title: 'Google Vertex AI',
  describe: 'Gemini, Imagen, Claude, Mistral, Llama and other open models, and endpoints of one\'s own, in a Google Cloud project.',
  priceTable: 'google',
  baseUrl: baseUrlOf,
  auth: { type: 'signed' },
  params: {
    type: 'object',
    properties: {
      api_key: { type: 'string', secret: true, description: 'An access token, or an API key of Google Cloud.' },
      cloud2_auth_type: { type: 'string', enum: ['basic', 'serviceAccount'], description: 'Which credentials are meant; the others here say it themselves.' },
      cloud2_project_id: { type: 'string', description: 'Google Cloud project; default: the one of the service account key.' },
      cloud2_region: { type: 'string', description: 'Location: global (default), us, eu or a region such as us-central1.' },
      cloud2_service_account_json: { type: 'object', properties: {}, additionalProperties: true, description: 'Key file of a service account, as JSON.' },
    },
  },
  aliases: {
    cloud2_auth_type: ['vertex_auth_type'], cloud2_project_id: ['vertex_project_id'], cloud2_region: ['vertex_region'], cloud2_service_account_json: ['vertex_service_account_json'],
  },
  endpoints: { chatCompletions, messages, countTokens, embeddings, imageGenerations, speech },
  error: (body, status) => geminiError(body) ?? anthropicError(body, status),
  sign,
});
