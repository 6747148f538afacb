import type { EndpointSpec, Json, JsonObject, ProviderCall } from '@gateway/plugin-sdk';
import { isObject } from '@gateway/plugin-sdk';

/** A page of 1000 models is the largest. A single model is asked for without a page size, for Google refuses query parameters it does not know. */
export const models = (call: ProviderCall): EndpointSpec => ({
  path: /\/models\/./.test(call.exchange.request.path) ? '/models' : '/models?pageSize=1000',
  response: modelList,
});

/** Google's list, or one model of it, as OpenAI's. Google tells no date of creation. */
function modelList(answer: Json): JsonObject {
  if (!isObject(answer)) throw new Error('the response is not a JSON object');
  if (!Array.isArray(answer.models)) return typeof answer.name === 'string' ? modelOf(answer.name) : { object: 'list', data: [] };
  const list: readonly Json[] = answer.models;
  return { object: 'list', data: list.flatMap((model) => (isObject(model) && typeof model.name === 'string' ? [modelOf(model.name)] : [])) };
}

const modelOf = (name: string): JsonObject => ({ id: name.replace(/^models\//, ''), object: 'model', created: 0, owned_by: 'google' });
