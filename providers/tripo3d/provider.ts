import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Tripo',
  describe: "Text and images to 3D models. Nothing but the proxy route: its API is not OpenAI's.",
  baseUrl: 'https://api.tripo3d.ai/v2/openapi',
  endpoints: {},
});
