import type { EndpointSpec, Json, JsonObject, ProviderCall } from '@gateway/plugin-sdk';
import { isObject } from '@gateway/plugin-sdk';
import { packVector, readInputs } from '../common/gemini.js';
import { modelPath, modelResource } from './chat.js';

const names: ReadonlyMap<string, string> = new Map([['dimensions', 'outputDimensionality'], ['output_dimensionality', 'outputDimensionality'], ['task_type', 'taskType']]);
const read = new Set(['model', 'input', 'encoding_format', 'user']);

/** One text is one call; a list is a batch with a request for each text, so that each gives its own vector. */
export function embeddings(call: ProviderCall): EndpointSpec {
  return Array.isArray(call.body.input)
    ? { path: modelPath(call, 'batchEmbedContents'), request: batchRequest, response: embeddingList }
    : { path: modelPath(call, 'embedContent'), request: singleRequest, response: embeddingList };
}

function batchRequest(body: JsonObject, call: ProviderCall): JsonObject {
  const fields = otherFields(body, call);
  return { requests: readInputs(body, call).map((text) => embedRequest(text, call, fields)) };
}

function singleRequest(body: JsonObject, call: ProviderCall): JsonObject {
  const [text = ''] = readInputs(body, call);
  return embedRequest(text, call, otherFields(body, call));
}

const embedRequest = (text: string, call: ProviderCall, fields: JsonObject): JsonObject => ({ model: modelResource(call), content: { parts: [{ text }] }, ...fields });

function otherFields(body: JsonObject, call: ProviderCall): JsonObject {
  if (typeof body.user === 'string') call.report('user');
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => !read.has(name) && value !== null).map(([name, value]) => [names.get(name) ?? name, value]));
}

function embeddingList(answer: Json, call: ProviderCall): JsonObject {
  if (!isObject(answer)) throw new Error('the response is not a JSON object');
  const vectors: readonly Json[] = Array.isArray(answer.embeddings) ? answer.embeddings : [answer.embedding ?? null];
  const tokens = isObject(answer.usageMetadata) ? answer.usageMetadata.promptTokenCount : undefined;
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: packVector(isObject(vector) ? vector.values : undefined, call) })),
    model: call.model,
    ...(typeof tokens === 'number' ? { usage: { prompt_tokens: tokens, total_tokens: tokens } } : {}),
  };
}
