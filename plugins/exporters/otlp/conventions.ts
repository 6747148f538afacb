// Names and values of the GenAI semantic conventions of OpenTelemetry, as far as log records have what they ask for: those of release 1.45.0 of the
// package of the conventions, which has the same names as the conventions' own repository since.

import type { EndpointName, LogRecord } from '@gateway/plugin-sdk';

export const attribute = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  isStream: 'gen_ai.request.stream',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  promptName: 'gen_ai.prompt.name',
  tokenType: 'gen_ai.token.type',
  errorType: 'error.type',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  status: 'http.response.status_code',
} as const;

export const metric = {
  tokens: 'gen_ai.client.token.usage',
  duration: 'gen_ai.client.operation.duration',
  timeToFirstChunk: 'gen_ai.client.operation.time_to_first_chunk',
} as const;

export const tokenBuckets: readonly number[] = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
export const secondsBuckets: readonly number[] = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/** Those without a value of the conventions have one of their own, as these allow. */
const operations: { readonly [E in EndpointName]: string } = {
  chatCompletions: 'chat', messages: 'chat', responses: 'chat', completions: 'text_completion', embeddings: 'embeddings', countTokens: 'count_tokens',
  imageGenerations: 'image_generation', imageEdits: 'image_edit', imageVariations: 'image_variation', speech: 'speech', transcriptions: 'transcription', translations: 'translation',
  rerank: 'rerank', moderations: 'moderation', files: 'files', batches: 'batches', fineTuning: 'fine_tuning', models: 'models', proxy: 'proxy',
};

/** Well-known names of providers, where they are others than ours. */
export const providerNames: ReadonlyMap<string, string> = new Map([
  ['azure-openai', 'azure.ai.openai'], ['azure-ai', 'azure.ai.inference'], ['bedrock', 'aws.bedrock'], ['google', 'gcp.gemini'], ['vertex-ai', 'gcp.vertex_ai'],
  ['mistral-ai', 'mistral_ai'], ['moonshot', 'moonshot_ai'], ['perplexity-ai', 'perplexity'], ['x-ai', 'x_ai'],
]);

export const operationOf = ({ endpoint }: LogRecord): string => operations[endpoint] ?? endpoint;
export const providerOf = ({ provider }: LogRecord): string => providerNames.get(provider) ?? provider;

/** Of few values: a code of the gateway's, a status, or who left. Undefined: no error, as when the client left. */
export function errorOf({ status, errorCode, ended }: LogRecord): string | undefined {
  if (errorCode !== '') return errorCode;
  if (status >= 400) return String(status);
  return ended === 'upstream' || ended === 'gateway' ? `${ended}_left` : undefined;
}
