import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'NVIDIA NIM',
  describe: 'Models of the NVIDIA API catalogue: chat, completions and embeddings.',
  baseUrl: 'https://integrate.api.nvidia.com/v1',
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    completions: true,
    embeddings: true,
    models: true,
  },
});
