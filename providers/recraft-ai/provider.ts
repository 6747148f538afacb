import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Recraft',
  describe: 'Raster and vector images.',
  baseUrl: 'https://external.api.recraft.ai/v1',
  endpoints: { imageGenerations: true },
});
