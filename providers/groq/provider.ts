import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Groq',
  describe: 'OpenAI-compatible chat, responses and speech on LPU hardware.',
  baseUrl: 'https://api.groq.com/openai/v1',
  endpoints: {
    chatCompletions: {
      path: '/chat/completions',
      params: {
        logit_bias: { refuse: 'it answers 400 to the field' },
        logprobs: { refuse: 'it answers 400 to the field' },
        top_logprobs: { refuse: 'it answers 400 to the field' },
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
