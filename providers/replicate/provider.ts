import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Replicate',
  describe: "Predictions on public and private models. Nothing but the proxy route: its API is not OpenAI's.",
  baseUrl: 'https://api.replicate.com/v1',
  endpoints: {},
});
