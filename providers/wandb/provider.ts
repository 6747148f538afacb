import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Weights & Biases Inference',
  describe: 'Open models on W&B: chat.',
  baseUrl: 'https://api.inference.wandb.ai/v1',
  headers: { 'openai-project': '{vendor_project}' },
  params: {
    type: 'object',
    properties: {
      vendor_project: { type: 'string', description: 'Team and project that usage is booked on: `team/project`.' },
    },
  },
  aliases: { vendor_project: ['openai_project'] },
  endpoints: {
    chatCompletions: { path: '/chat/completions', roles: { developer: 'system' }, params: { max_completion_tokens: { rename: 'max_tokens' } } },
    models: true,
  },
});
