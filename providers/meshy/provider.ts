import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Meshy',
  describe: "Text and images to 3D models. Nothing but the proxy route: its API is not OpenAI's.",
  baseUrl: 'https://api.meshy.ai/openapi/v1',
  endpoints: {},
});
