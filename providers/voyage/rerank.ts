import { isObject, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { documentText, readDocuments, readTopN, restOfRerank, tokenRerankAnswer } from '../common/rerank.js';

/** Voyage would only send back what it got: the answer is given the client's own documents, with all their members. */
function rerankRequest(body: JsonObject, call: ProviderCall): Json {
  const wire = restOfRerank(body, call);
  wire.documents = readDocuments(body, call).map((document, index) => documentText(document, index, body, call));
  const top = readTopN(body, call);
  if (top !== undefined) wire.top_k = top;
  return wire;
}

export const rerank: EndpointSpec = {
  path: '/rerank', request: rerankRequest, response: (body, call) => tokenRerankAnswer(call, body, isObject(body) ? body.data : undefined),
};
