import { isObject, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { documentText, readDocuments, readTopN, restOfRerank, tokenRerankAnswer } from '../common/rerank.js';

const defaultModel = 'jina-reranker-v2-base-multilingual';

function rerankRequest(body: JsonObject, call: ProviderCall): Json {
  const wire = restOfRerank(body, call);
  wire.documents = readDocuments(body, call).map((document, index) => (
    // Images are ranked as they are.
    isObject(document) && document.image !== undefined ? { image: document.image } : documentText(document, index, body, call)
  ));
  const top = readTopN(body, call);
  if (top !== undefined) wire.top_n = top;
  // Jina sends documents back unless it is told not to; the answer is given the client's own, with all their members.
  wire.return_documents = false;
  return wire;
}

export const rerank: EndpointSpec = {
  path: '/rerank', params: { model: { default: defaultModel } }, request: rerankRequest,
  response: (body, call) => tokenRerankAnswer(call, body, isObject(body) ? body.results : undefined),
};
