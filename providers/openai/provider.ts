import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'OpenAI',
  describe: 'The reference of the wire format: chat, responses, embeddings, images, audio, moderations, files, batches and fine-tuning.',
  baseUrl: 'https://api.openai.com/v1',
  headers: { 'openai-organization': '{vendor_organization}', 'openai-project': '{vendor_project}' },
  params: {
    type: 'object',
    properties: {
      vendor_organization: { type: 'string', description: 'Organization that the calls are billed to.' },
      vendor_project: { type: 'string', description: 'Project that the calls belong to.' },
    },
  },
  aliases: { vendor_organization: ['openai_organization'], vendor_project: ['openai_project'], custom_host: ['openai_base_url'] },
  endpoints: {
    chatCompletions: { path: '/chat/completions', streamUsage: 'stream_options' },
    completions: { path: '/completions', streamUsage: 'stream_options' },
    responses: true,
    embeddings: true,
    imageGenerations: true,
    imageEdits: true,
    imageVariations: true,
    speech: true,
    transcriptions: true,
    translations: true,
    moderations: true,
    files: true,
    batches: true,
    fineTuning: true,
    models: true,
  },
});
