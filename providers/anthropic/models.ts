import { isObject, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';

/** The list of models, or one of them, in OpenAI's shape. A client that names an API version is Anthropic's own and reads theirs. */
export function modelsAnswer(answer: Json, call: ProviderCall): Json {
  if (!isObject(answer) || call.header('anthropic-version') !== undefined) return answer;
  if (!Array.isArray(answer.data)) return modelOf(answer, call);
  const { data, ...paging } = answer;
  return { object: 'list', data: (data as readonly Json[]).map((model) => (isObject(model) ? modelOf(model, call) : model)), ...(call.isStrict ? {} : paging) };
}

function modelOf(model: JsonObject, call: ProviderCall): JsonObject {
  const createdAtMs = typeof model.created_at === 'string' ? Date.parse(model.created_at) : Number.NaN;
  const { id, ...rest } = model;
  return {
    id: id ?? null,
    object: 'model',
    created: Number.isNaN(createdAtMs) ? 0 : Math.floor(createdAtMs / 1000),
    owned_by: 'anthropic',
    ...(call.isStrict ? {} : rest),
  };
}
