import { isObject, listOf, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { packVector, readInputs } from '../common/gemini.js';
import { parentPath } from './credentials.js';
import { publisherPath, vertexModel } from './models.js';

export function embeddings(call: ProviderCall): EndpointSpec | undefined {
  const model = vertexModel(call);
  if (model.speaks === 'openai') {
    return { path: `${parentPath(call.credentials)}/endpoints/openapi/embeddings`, request: (body) => ({ ...body, model: model.name }) };
  }
  if (model.speaks !== 'gemini') return undefined;
  // Gemini's embedding models take one text a call, and those after the first one by a method of their own.
  const isGemini = model.name.includes('gemini');
  if (isGemini && model.name !== 'gemini-embedding-001') {
    return { path: publisherPath(call, model, 'embedContent'), isFanOut: true, request: contentRequests, response: contentList };
  }
  const path = publisherPath(call, model, 'predict');
  return isGemini
    ? { path, isFanOut: true, request: (body) => readInputs(body, call).map((text) => predictRequest([text], body, call)), response: predictionList }
    : { path, request: (body) => predictRequest(readInputs(body, call), body, call), response: (answer) => predictionList([answer], call) };
}

const read = new Set(['model', 'input', 'encoding_format', 'user', 'dimensions', 'task_type', 'taskType', 'title', 'auto_truncate', 'autoTruncate', 'parameters']);

function predictRequest(texts: readonly string[], body: JsonObject, call: ProviderCall): JsonObject {
  if (typeof body.user === 'string') call.report('user');
  const taskType = body.task_type ?? body.taskType;
  const autoTruncate = body.auto_truncate ?? body.autoTruncate;
  const own = {
    ...(typeof taskType === 'string' ? { task_type: taskType } : {}),
    ...(typeof body.title === 'string' ? { title: body.title } : {}),
  };
  const parameters = {
    ...(typeof body.dimensions === 'number' ? { outputDimensionality: body.dimensions } : {}),
    ...(typeof autoTruncate === 'boolean' ? { autoTruncate } : {}),
    ...(isObject(body.parameters) ? body.parameters : {}),
  };
  return {
    instances: texts.map((content) => ({ content, ...own })),
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    ...otherFields(body),
  };
}

function contentRequests(body: JsonObject, call: ProviderCall): JsonObject[] {
  if (typeof body.user === 'string') call.report('user');
  const taskType = body.task_type ?? body.taskType;
  const autoTruncate = body.auto_truncate ?? body.autoTruncate;
  const config = {
    ...(typeof taskType === 'string' ? { taskType } : {}),
    ...(typeof body.title === 'string' ? { title: body.title } : {}),
    ...(typeof body.dimensions === 'number' ? { outputDimensionality: body.dimensions } : {}),
    ...(typeof autoTruncate === 'boolean' ? { autoTruncate } : {}),
  };
  const fields = { ...(Object.keys(config).length === 0 ? {} : { embedContentConfig: config }), ...otherFields(body) };
  return readInputs(body, call).map((text) => ({ content: { parts: [{ text }] }, ...fields }));
}

const otherFields = (body: JsonObject): JsonObject => Object.fromEntries(Object.entries(body).filter(([name, value]) => !read.has(name) && value !== null));

/** Answers of `predict`, in the order of the texts. */
function predictionList(answers: Json, call: ProviderCall): JsonObject {
  const predictions = listOf(answers).flatMap((answer) => (isObject(answer) ? listOf(answer.predictions) : []));
  const embedded = predictions.map((prediction) => (isObject(prediction) && isObject(prediction.embeddings) ? prediction.embeddings : {}));
  return embeddingList(embedded.map((one) => one.values), embedded.map((one) => (isObject(one.statistics) ? one.statistics.token_count : undefined)), call);
}

/** Answers of `embedContent`. */
function contentList(answers: Json, call: ProviderCall): JsonObject {
  const list = listOf(answers).filter(isObject);
  const vectors = list.map((answer) => (isObject(answer.embedding) ? answer.embedding.values : undefined));
  return embeddingList(vectors, list.map((answer) => (isObject(answer.usageMetadata) ? answer.usageMetadata.promptTokenCount : undefined)), call);
}

function embeddingList(vectors: readonly (Json | undefined)[], counts: readonly (Json | undefined)[], call: ProviderCall): JsonObject {
  const told = counts.filter((count) => typeof count === 'number');
  const tokens = told.reduce((sum, count) => sum + count, 0);
  return {
    object: 'list',
    data: vectors.map((values, index) => ({ object: 'embedding', index, embedding: packVector(values, call) })),
    model: call.model,
    ...(told.length === 0 ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
}
