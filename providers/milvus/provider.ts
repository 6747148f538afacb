import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Milvus',
  describe: "A vector database of one's own. Nothing but the proxy route: its API is not OpenAI's.",
  baseUrl: '',
  endpoints: {},
});
