import { isObject, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { documentText, readDocuments, readHits, readTopN, rerankAnswer } from '../common/rerank.js';

const translated: ReadonlySet<string> = new Set(['documents', 'top_n', 'max_chunks_per_doc', 'max_tokens_per_doc', 'rank_fields', 'priority']);

function rerankRequest(body: JsonObject, call: ProviderCall): Json {
  const wire: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) {
    if (!translated.has(name) && value !== null) wire[name] = value;
  }
  wire.documents = readDocuments(body, call).map((document, index) => (
    // Images are ranked as they are.
    isObject(document) && document.image !== undefined ? { image: document.image } : documentText(document, index, body, call)
  ));
  const top = readTopN(body, call);
  if (top !== undefined) wire.top_n = top;
  // Jina sends documents back unless it is told not to; the answer is given the client's own, with all their members.
  wire.return_documents = false;
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
    hits: readHits(given.results),
    searchUnits: typeof tokens === 'number' ? tokens : undefined,
  });
}

const defaultModel = 'jina-reranker-v2-base-multilingual';

export const rerank: EndpointSpec = { path: '/rerank', params: { model: { default: defaultModel } }, request: rerankRequest, response: answer };
