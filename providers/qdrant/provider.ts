import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Qdrant',
  describe: "A vector database of one's own. Nothing but the proxy route: its API is not OpenAI's.",
  baseUrl: '',
  auth: { type: 'header', name: 'api-key' },
  endpoints: {},
});
