// The inference routes for the description: one summary each, an example of the body, and the main members of the answer. Schemas of bodies come from the
// checks of the endpoints. Answers are the provider's, so they may have other members as well.

import type { JsonSchema } from '../exchange/endpoint.js';

export interface RouteDescription {
  readonly id: string;
  readonly summary: string;
  readonly tag: string;
  /** Example of the request body. */
  readonly example?: unknown;
  /** Schema of the body, if the endpoint has none. */
  readonly body?: JsonSchema;
  /** Fields of an upload. */
  readonly fields?: JsonSchema;
  /** Content type of an answer that is bytes; absent: JSON. */
  readonly reply: JsonSchema | { readonly bytes: string };
  /** One event of a stream, where the body asks for one with `stream: true`. */
  readonly event?: JsonSchema;
}

const text = { type: 'string' };
const count = { type: 'integer' };
const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
const open = (title: string, properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema => ({ title, type: 'object', ...(required.length === 0 ? {} : { required }), properties });
const textOrNull = { type: ['string', 'null'] };

const usage = open('Usage', { prompt_tokens: count, completion_tokens: count, total_tokens: count });
const chatMessage = open('ChatAnswerMessage', { role: { const: 'assistant' }, content: textOrNull, refusal: textOrNull, tool_calls: list({ type: 'object' }) });
const chatCompletion = open('ChatCompletion', {
  id: { ...text, examples: ['chatcmpl-1'] }, object: { const: 'chat.completion' }, created: count, model: text,
  choices: list({ type: 'object', properties: { index: count, message: chatMessage, finish_reason: textOrNull, logprobs: { type: ['object', 'null'] } } }), usage,
  hook_results: { type: 'object', description: 'verdicts of the checks of the config, where there are any' },
}, ['id', 'object', 'choices']);
const chatChunk = open('ChatCompletionChunk', {
  id: text, object: { const: 'chat.completion.chunk' }, created: count, model: text, choices: list({ type: 'object', properties: { index: count, delta: { type: 'object' }, finish_reason: textOrNull } }),
});
const completion = open('Completion', { id: text, object: { const: 'text_completion' }, created: count, model: text, choices: list({ type: 'object', properties: { index: count, text, finish_reason: textOrNull } }), usage });
const embeddingList = open('EmbeddingList', {
  object: { const: 'list' }, model: text, data: list({ type: 'object', properties: { object: { const: 'embedding' }, index: count, embedding: { description: 'numbers, or base64', type: ['array', 'string'] } } }), usage,
});
const image = open('ImageList', { created: count, data: list({ type: 'object', properties: { url: text, b64_json: text, revised_prompt: text } }) });
const transcript = open('Transcript', { text });
const moderation = open('Moderation', { id: text, model: text, results: list({ type: 'object', properties: { flagged: { type: 'boolean' }, categories: { type: 'object' }, category_scores: { type: 'object' } } }) });
const ranking = open('Ranking', { id: text, results: list({ type: 'object', properties: { index: count, relevance_score: { type: 'number' }, document: { type: ['object', 'string'] } } }) });
const message = open('MessageAnswer', {
  id: text, type: { const: 'message' }, role: { const: 'assistant' }, model: text, content: list({ type: 'object', properties: { type: text, text } }), stop_reason: textOrNull, stop_sequence: textOrNull,
  usage: { type: 'object', properties: { input_tokens: count, output_tokens: count } },
}, ['id', 'type', 'content']);
const event = (title: string): JsonSchema => open(title, { type: text }, ['type']);
const response = open('Response', {
  id: text, object: { const: 'response' }, status: { ...text, examples: ['completed'] }, model: text, output: list({ type: 'object', properties: { type: text } }),
  usage: { type: ['object', 'null'], properties: { input_tokens: count, output_tokens: count, total_tokens: count } }, error: { type: ['object', 'null'] },
}, ['id', 'object', 'output']);
const file = open('File', { id: text, object: { const: 'file' }, bytes: count, created_at: count, filename: text, purpose: text });
const batch = open('Batch', { id: text, object: { const: 'batch' }, endpoint: text, input_file_id: text, completion_window: text, status: text, output_file_id: textOrNull, error_file_id: textOrNull, created_at: count });
const job = open('FineTuningJob', { id: text, object: { const: 'fine_tuning.job' }, model: text, training_file: text, status: text, fine_tuned_model: textOrNull, created_at: count });
const listed = (items: JsonSchema): JsonSchema => ({ type: 'object', properties: { object: { const: 'list' }, data: list(items), has_more: { type: 'boolean' } } });
const deleted = open('Deleted', { id: text, object: text, deleted: { type: 'boolean' } });
const model = open('Model', { id: { ...text, examples: ['@openai/gpt-4o-mini'] }, object: { const: 'model' }, created: count, owned_by: text }, ['id', 'object']);

const upload = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema => ({ type: 'object', required, properties });
const bytes = { type: 'string', contentMediaType: 'application/octet-stream' };

const messages = [{ role: 'user', content: 'Say hello' }];
const chatModel = 'gpt-4o-mini';

const promptBody = open('PromptCallBody', {
  variables: { type: 'object', description: 'values for the template' }, stream: { type: 'boolean' },
  hyperparameters: { type: 'object', description: 'members of the completion, in place of those that are saved with the prompt; they may stand beside variables as well' },
}, ['variables']);
const promptCall = { example: { variables: { name: 'Ada' } }, body: promptBody, tag: 'prompts', reply: chatCompletion, event: chatChunk };

/** By method and path; `{id}` names the object in a path. */
export const routeDescriptions: Readonly<Record<string, RouteDescription>> = {
  'POST /v1/chat/completions': { id: 'createChatCompletion', summary: 'Answer a conversation', tag: 'chat', example: { model: chatModel, messages }, reply: chatCompletion, event: chatChunk },
  'POST /v1/completions': { id: 'createCompletion', summary: 'Complete a text', tag: 'completions', example: { model: 'gpt-3.5-turbo-instruct', prompt: 'Say hello' }, reply: completion, event: open('CompletionChunk', { id: text, choices: list({ type: 'object' }) }) },
  'POST /v1/embeddings': { id: 'createEmbedding', summary: 'Turn texts into vectors', tag: 'embeddings', example: { model: 'text-embedding-3-small', input: 'hello' }, reply: embeddingList },
  'POST /v1/images/generations': { id: 'createImage', summary: 'Make images from a text', tag: 'images', example: { model: 'dall-e-3', prompt: 'A lighthouse at dusk' }, reply: image },
  'POST /v1/images/edits': { id: 'editImage', summary: 'Change an image', tag: 'images', fields: upload({ image: bytes, mask: bytes, prompt: text, model: text }, ['image', 'prompt']), reply: image },
  'POST /v1/images/variations': { id: 'varyImage', summary: 'Make variations of an image', tag: 'images', fields: upload({ image: bytes, model: text }, ['image']), reply: image },
  'POST /v1/audio/speech': { id: 'createSpeech', summary: 'Read a text aloud', tag: 'audio', example: { model: 'tts-1', input: 'Hello', voice: 'alloy' }, reply: { bytes: 'audio/mpeg' } },
  'POST /v1/audio/transcriptions': { id: 'createTranscription', summary: 'Write down what is said', tag: 'audio', fields: upload({ file: bytes, model: text, language: text }, ['file', 'model']), reply: transcript },
  'POST /v1/audio/translations': { id: 'createTranslation', summary: 'Write down in English what is said', tag: 'audio', fields: upload({ file: bytes, model: text }, ['file', 'model']), reply: transcript },
  'POST /v1/moderations': { id: 'createModeration', summary: 'Judge a text', tag: 'moderations', example: { input: 'hello' }, reply: moderation },
  'POST /v1/rerank': { id: 'rerank', summary: 'Order documents by how well they fit a query', tag: 'rerank', example: { model: 'rerank-v3.5', query: 'lighthouse', documents: ['A tower with a lamp', 'A boat'] }, reply: ranking },
  'POST /v1/messages': { id: 'createMessage', summary: 'Answer a conversation, in the Messages API', tag: 'messages', example: { model: 'claude-sonnet-4-5', max_tokens: 256, messages }, reply: message, event: event('MessageEvent') },
  'POST /v1/messages/count_tokens': { id: 'countMessageTokens', summary: 'Count the tokens of a conversation', tag: 'messages', example: { model: 'claude-sonnet-4-5', messages }, reply: open('TokenCount', { input_tokens: count }, ['input_tokens']) },
  'POST /v1/responses': { id: 'createResponse', summary: 'Answer, in the Responses API', tag: 'responses', example: { model: chatModel, input: 'Say hello' }, reply: response, event: event('ResponseEvent') },
  'GET /v1/responses/{id}': { id: 'getResponse', summary: 'Get a stored response', tag: 'responses', reply: response },
  'DELETE /v1/responses/{id}': { id: 'deleteResponse', summary: 'Delete a stored response', tag: 'responses', reply: deleted },
  'GET /v1/responses/{id}/input_items': { id: 'listResponseInputItems', summary: 'List what a response answered', tag: 'responses', reply: listed({ type: 'object' }) },
  'POST /v1/responses/{id}/cancel': { id: 'cancelResponse', summary: 'Stop a response that is made in the background', tag: 'responses', reply: response },
  'POST /v1/prompts/{id}/completions': { id: 'createPromptCompletion', summary: 'Answer by a stored prompt; a version or label may stand behind its name: `greeting@2`', ...promptCall },
  'POST /v1/prompts/{id}/generate': { id: 'generatePromptCompletion', summary: 'The older name of completions', ...promptCall },
  'POST /v1/prompts/{id}/render': { id: 'renderPrompt', summary: 'The body of the completion that a stored prompt makes, without a call', tag: 'prompts', example: promptCall.example, body: promptBody, reply: open('RenderedPrompt', { success: { const: true }, data: { type: 'object' } }, ['success', 'data']) },
  'GET /v1/files': { id: 'listFiles', summary: 'List files', tag: 'files', reply: listed(file) },
  'POST /v1/files': { id: 'uploadFile', summary: 'Upload a file', tag: 'files', fields: upload({ file: bytes, purpose: text }, ['file', 'purpose']), reply: file },
  'GET /v1/files/{id}': { id: 'getFile', summary: 'Get what is known of a file', tag: 'files', reply: file },
  'DELETE /v1/files/{id}': { id: 'deleteFile', summary: 'Delete a file', tag: 'files', reply: deleted },
  'GET /v1/files/{id}/content': { id: 'getFileContent', summary: 'Get a file', tag: 'files', reply: { bytes: 'application/octet-stream' } },
  'GET /v1/batches': { id: 'listBatches', summary: 'List batches', tag: 'batches', reply: listed(batch) },
  'POST /v1/batches': { id: 'createBatch', summary: 'Make many calls from a file', tag: 'batches', example: { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' }, reply: batch },
  'GET /v1/batches/{id}': { id: 'getBatch', summary: 'Get a batch', tag: 'batches', reply: batch },
  'POST /v1/batches/{id}/cancel': { id: 'cancelBatch', summary: 'Stop a batch', tag: 'batches', reply: batch },
  'GET /v1/fine_tuning/jobs': { id: 'listFineTuningJobs', summary: 'List fine-tuning jobs', tag: 'fine-tuning', reply: listed(job) },
  'POST /v1/fine_tuning/jobs': { id: 'createFineTuningJob', summary: 'Begin to fine-tune a model', tag: 'fine-tuning', example: { model: chatModel, training_file: 'file-1' }, reply: job },
  'GET /v1/fine_tuning/jobs/{id}': { id: 'getFineTuningJob', summary: 'Get a fine-tuning job', tag: 'fine-tuning', reply: job },
  'POST /v1/fine_tuning/jobs/{id}/cancel': { id: 'cancelFineTuningJob', summary: 'Stop a fine-tuning job', tag: 'fine-tuning', reply: job },
  'GET /v1/fine_tuning/jobs/{id}/checkpoints': { id: 'listFineTuningCheckpoints', summary: 'List the checkpoints of a fine-tuning job', tag: 'fine-tuning', reply: listed({ type: 'object' }) },
  'GET /v1/fine_tuning/jobs/{id}/events': { id: 'listFineTuningEvents', summary: 'List the events of a fine-tuning job', tag: 'fine-tuning', reply: listed({ type: 'object' }) },
  'GET /v1/models': { id: 'listModels', summary: 'List the models that the key may use, or those of the provider that the call names', tag: 'models', reply: listed(model) },
  'GET /v1/models/{id}': { id: 'getModel', summary: 'Get what is known of a model', tag: 'models', reply: model },
};
