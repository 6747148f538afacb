import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Perplexity',
  describe: 'Sonar models with web search, and the responses API.',
  priceTable: 'perplexity',
  baseUrl: 'https://api.perplexity.ai',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    responses: '/v1/responses',
  },
});
