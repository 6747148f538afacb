import { isObject, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { documentText, readDocuments, readHits, readTopN, rerankAnswer } from '../common/rerank.js';

const translated: ReadonlySet<string> = new Set(['documents', 'top_n', 'max_chunks_per_doc', 'max_tokens_per_doc', 'rank_fields', 'priority', 'return_documents']);

function rerankRequest(body: JsonObject, call: ProviderCall): Json {
  const wire: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) {
    if (!translated.has(name) && value !== null) wire[name] = value;
  }
  wire.documents = readDocuments(body, call).map((document, index) => documentText(document, index, body, call));
  const top = readTopN(body, call);
  if (top !== undefined) wire.top_k = top;
  // Voyage would only send back what it got: the answer is given the client's own documents, with all their members.
  for (const name of ['max_chunks_per_doc', 'max_tokens_per_doc', 'priority']) {
    if (body[name] !== undefined && body[name] !== null) call.report(name);
  }
  return wire;
}

function answer(body: Json, call: ProviderCall): Json {
  const given = isObject(body) ? body : {};
  const tokens = isObject(given.usage) ? given.usage.total_tokens : undefined;
  return rerankAnswer(call, {
    model: typeof given.model === 'string' ? given.model : undefined,
    hits: readHits(given.data),
    searchUnits: typeof tokens === 'number' ? tokens : undefined,
  });
}

export const rerank: EndpointSpec = { path: '/rerank', request: rerankRequest, response: answer };
