import { isObject, ProviderError, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';

/** The list is `/api/tags`. One model has no native path of its own that takes a GET; Ollama's OpenAI interface has. */
export function modelsEndpoint(call: ProviderCall): EndpointSpec {
  return /\/models\/./.test(call.exchange.request.path) ? { path: '/v1/models' } : { path: '/api/tags', response: modelList };
}

export function modelList(answer: Json): JsonObject {
  if (!isObject(answer) || !Array.isArray(answer.models)) throw new ProviderError('ollama answered without models');
  return {
    object: 'list',
    data: (answer.models as readonly Json[]).flatMap((model): JsonObject[] => {
      if (!isObject(model)) return [];
      const id = typeof model.model === 'string' && model.model !== '' ? model.model : model.name;
      if (typeof id !== 'string') return [];
      const modified = typeof model.modified_at === 'string' ? Date.parse(model.modified_at) : NaN;
      return [{ id, object: 'model', created: Number.isNaN(modified) ? 0 : Math.floor(modified / 1000), owned_by: ownerOf(id) }];
    }),
  };
}

/** `namespace/model:tag`, before it perhaps a registry; models without a namespace are the library's. */
function ownerOf(id: string): string {
  const steps = id.split('/');
  return steps.length > 1 ? steps[steps.length - 2] ?? 'library' : 'library';
}
