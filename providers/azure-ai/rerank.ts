import { isObject, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { documentText, readDocuments, readTopN, rerankAnswer } from '../common/rerank.js';

const translated: ReadonlySet<string> = new Set(['documents', 'top_n', 'return_documents', 'max_chunks_per_doc', 'rank_fields']);

/** Cohere's API, which is the only one for reranking on Azure. `model`: the deployment. */
export function rerankRequest(body: JsonObject, call: ProviderCall, model: string): JsonObject {
  const wire: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) if (!translated.has(name) && value !== null) wire[name] = value;
  wire.model = model;
  wire.documents = readDocuments(body, call).map((document, index) => documentText(document, index, body, call));
  const top = readTopN(body, call);
  if (top !== undefined) wire.top_n = top;
  // Documents are cut by tokens (`max_tokens_per_doc`); chunks are unknown to the second version.
  if (body.max_chunks_per_doc !== undefined && body.max_chunks_per_doc !== null) call.report('max_chunks_per_doc');
  return wire;
}

/** Documents are not given back: those of the client are put into the answer. */
export function rerankResponse(answer: Json, call: ProviderCall): JsonObject {
  const given = isObject(answer) ? answer : {};
  const billed = isObject(given.meta) && isObject(given.meta.billed_units) ? given.meta.billed_units.search_units : undefined;
  const results = Array.isArray(given.results) ? given.results as readonly Json[] : [];
  return rerankAnswer(call, {
    id: typeof given.id === 'string' ? given.id : undefined,
    hits: results.flatMap((result) => (
      isObject(result) && typeof result.index === 'number' && typeof result.relevance_score === 'number' ? [{ index: result.index, score: result.relevance_score }] : []
    )),
    searchUnits: typeof billed === 'number' ? billed : undefined,
  });
}
