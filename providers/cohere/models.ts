import { isObject, type EndpointSpec, type Json } from '@gateway/plugin-sdk';

/** OpenAI's model entry; Cohere's own members stay beside it. */
function model(entry: Json): Json[] {
  return isObject(entry) && typeof entry.name === 'string' ? [{ id: entry.name, object: 'model', created: 0, owned_by: 'cohere', ...entry }] : [];
}

function modelsAnswer(body: Json): Json {
  if (!isObject(body)) return body;
  if (!Array.isArray(body.models)) return model(body)[0] ?? body;
  return { object: 'list', data: (body.models as readonly Json[]).flatMap(model) };
}

/** A page holds 20 models unless more are asked for. */
export const models: EndpointSpec = { path: '/v1/models?page_size=1000', response: modelsAnswer };
