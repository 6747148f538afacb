import { isObject, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { partitionOf, regionalUrl, regionOf } from '../common/aws.js';
import { documentText, readDocuments, readTopN, rerankAnswer } from '../common/rerank.js';

/** Bedrock bills a query by each hundred of documents. */
const documentsPerUnit = 100;

const translated: ReadonlySet<string> = new Set(['model', 'query', 'documents', 'top_n', 'return_documents', 'rank_fields', 'user']);

/** Reranking is a service beside the runtime, with a host of its own. */
export function rerankSpec(call: ProviderCall): EndpointSpec {
  return { path: '/rerank', baseUrl: regionalUrl('bedrock-agent-runtime', call.credentials), request: rerankRequest, response: rerankResponse };
}

function rerankRequest(body: JsonObject, call: ProviderCall): JsonObject {
  const text = typeof body.query === 'string' && body.query !== '' ? body.query : call.refuse('query', 'must be a text');
  const documents = readDocuments(body, call);
  const topN = readTopN(body, call) ?? documents.length;
  if (body.user !== undefined && body.user !== null) call.report('user');
  const fields = Object.fromEntries(Object.entries(body).filter(([name, value]) => !translated.has(name) && value !== null));
  return {
    queries: [{ type: 'TEXT', textQuery: { text } }],
    sources: documents.map((document, index) => ({ type: 'INLINE', inlineDocumentSource: sourceOf(document, index, body, call) })),
    rerankingConfiguration: {
      type: 'BEDROCK_RERANKING_MODEL',
      bedrockRerankingConfiguration: {
        // More than there are documents would be refused, and means all of them.
        numberOfResults: Math.min(topN, documents.length),
        modelConfiguration: {
          modelArn: modelArn(call),
          ...(Object.keys(fields).length > 0 ? { additionalModelRequestFields: fields } : {}),
        },
      },
    },
  };
}

function modelArn(call: ProviderCall): string {
  if (call.model.startsWith('arn:')) return call.model;
  const region = regionOf(call.credentials);
  return `arn:${partitionOf(region)}:bedrock:${region}::foundation-model/${call.model}`;
}

/** Objects without a text go up as they are, and are ranked by all of their members, or by those that `rank_fields` names. */
function sourceOf(document: Json, index: number, body: JsonObject, call: ProviderCall): Json {
  const isStructured = isObject(document) && typeof document.text !== 'string' && !Array.isArray(body.rank_fields) && Object.keys(document).length > 0;
  return isStructured ? { type: 'JSON', jsonDocument: document } : { type: 'TEXT', textDocument: { text: documentText(document, index, body, call) } };
}

function rerankResponse(body: Json, call: ProviderCall): JsonObject {
  const results = isObject(body) && Array.isArray(body.results) ? body.results as readonly Json[] : [];
  return rerankAnswer(call, {
    hits: results.flatMap((result) => (
      isObject(result) && typeof result.index === 'number' && typeof result.relevanceScore === 'number' ? [{ index: result.index, score: result.relevanceScore }] : []
    )),
    searchUnits: Math.ceil(readDocuments(call.body, call).length / documentsPerUnit),
  });
}
