import { isObject, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { documentText, readDocuments, readHits, readTopN, rerankAnswer } from '../common/rerank.js';

const translated: ReadonlySet<string> = new Set(['documents', 'top_n', 'return_documents', 'max_chunks_per_doc', 'rank_fields']);

function rerankRequest(body: JsonObject, call: ProviderCall): Json {
  const wire: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) {
    if (!translated.has(name) && value !== null) wire[name] = value;
  }
  wire.documents = readDocuments(body, call).map((document, index) => documentText(document, index, body, call));
  const top = readTopN(body, call);
  if (top !== undefined) wire.top_n = top;
  // The v2 API cuts documents by tokens (`max_tokens_per_doc`) and knows no chunks.
  if (body.max_chunks_per_doc !== undefined && body.max_chunks_per_doc !== null) call.report('max_chunks_per_doc');
  return wire;
}

function answer(body: Json, call: ProviderCall): Json {
  const given = isObject(body) ? body : {};
  const billed = isObject(given.meta) && isObject(given.meta.billed_units) ? given.meta.billed_units.search_units : undefined;
  return rerankAnswer(call, {
    id: typeof given.id === 'string' ? given.id : undefined,
    hits: readHits(given.results),
    searchUnits: typeof billed === 'number' ? billed : undefined,
  });
}

/** Cohere's v2 API gives back no documents: those of the client are put into the answer. */
export const rerank: EndpointSpec = { path: '/v2/rerank', request: rerankRequest, response: answer };
