import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Groq',
  describe: 'OpenAI-compatible chat, responses and speech on LPU hardware.',
  baseUrl: 'https://api.groq.com/openai/v1',
  endpoints: {
    chatCompletions: {
      path: '/chat/completions',
      roles: { developer: 'system' },
      params: {
        logit_bias: { without: [{}], refuse: 'it answers 400 to the field' },
        logprobs: { without: [false], refuse: 'it answers 400 to the field' },
        top_logprobs: { without: [0], refuse: 'it answers 400 to the field' },
        n: { max: 1 },
      },
    },
    responses: true,
    embeddings: true,
    speech: true,
    transcriptions: true,
    translations: true,
    files: true,
    batches: true,
    models: true,
  },
});
