import type { EndpointSpec, JsonObject, ProviderCall } from '@gateway/plugin-sdk';
import { countTokensAnswer, geminiAccepts } from '../common/gemini.js';
import { parentPath } from './credentials.js';
import { countRequest } from './gemini.js';
import { publisherPath, vertexModel } from './models.js';

/** The version that Vertex AI wants in place of the header `anthropic-version`. */
const anthropicVersion = 'vertex-2023-10-16';

/** The version is a field, and the model stands in the path. */
export function vertexMessages(body: JsonObject): JsonObject {
  const { model: _model, ...rest } = body;
  return { anthropic_version: anthropicVersion, ...rest };
}

/** Features that are asked for by header travel on. */
export function betaHeaders(call: ProviderCall): Readonly<Record<string, string>> {
  const beta = call.header('anthropic-beta');
  return beta === undefined ? {} : { 'anthropic-beta': beta };
}

/** Claude speaks the client's dialect itself; for other models the host translates. */
export function messages(call: ProviderCall): EndpointSpec | undefined {
  const model = vertexModel(call);
  if (model.speaks !== 'anthropic') return undefined;
  return { path: publisherPath(call, model, 'rawPredict'), streamPath: publisherPath(call, model, 'streamRawPredict'), headers: betaHeaders, request: vertexMessages };
}

export function countTokens(call: ProviderCall): EndpointSpec | undefined {
  const model = vertexModel(call);
  if (model.speaks === 'anthropic') {
    return {
      path: `${parentPath(call.credentials)}/publishers/anthropic/models/count-tokens:rawPredict`,
      headers: betaHeaders,
      request: (body) => ({ anthropic_version: anthropicVersion, ...body, model: model.name }),
    };
  }
  if (model.speaks !== 'gemini') return undefined;
  return { path: publisherPath(call, model, 'countTokens'), from: 'chat', accepts: geminiAccepts, request: countRequest, response: countTokensAnswer };
}
