import { pathSegment, type ProviderCall } from '@gateway/plugin-sdk';
import { parentPath } from './credentials.js';

/** Who made a model, and how its service speaks. */
export type VertexModel =
  | { readonly speaks: 'gemini' | 'anthropic' | 'raw'; readonly publisher: string; readonly name: string }
  /** Google's OpenAI-compatible service; the name has its publisher in front. */
  | { readonly speaks: 'openai'; readonly name: string }
  /** Deployed by the client itself. */
  | { readonly speaks: 'endpoint'; readonly name: string };

/** `meta.llama-3` as well as `meta/llama-3`: before the first dot or slash stands the publisher, when it is one. */
const publishers = new Set([
  'google', 'anthropic', 'meta', 'mistralai', 'endpoints', 'deepseek-ai', 'qwen', 'openai', 'moonshotai', 'minimaxai', 'zai-org', 'zai', 'xai', 'ai21', 'nvidia', 'intfloat',
]);

export function vertexModel(call: ProviderCall): VertexModel {
  const given = call.model.replace(/^publishers\/([^/]+)\/models\//, '$1/');
  if (given === '') return call.refuse('model', 'must name a model; it is part of Google\'s path');
  const [, prefix = '', rest = ''] = /^([a-z0-9-]+)[./](.+)$/s.exec(given) ?? [];
  const publisher = publishers.has(prefix) ? prefix : '';
  const name = publisher === '' ? given : rest;
  switch (publisher) {
    case '':
      if (name.startsWith('claude-')) return { speaks: 'anthropic', publisher: 'anthropic', name };
      // The publisher of a new open model that is not known here yet.
      return name.includes('/') ? { speaks: 'openai', name } : { speaks: 'gemini', publisher: 'google', name };
    case 'google': return { speaks: 'gemini', publisher, name };
    case 'anthropic': return { speaks: 'anthropic', publisher, name };
    case 'mistralai': case 'ai21': return { speaks: 'raw', publisher, name };
    case 'endpoints': return { speaks: 'endpoint', name };
    default: return { speaks: 'openai', name: `${publisher}/${name}` };
  }
}

/** `/projects/.../publishers/google/models/gemini-2.5-flash:generateContent`; a tuned model (`google.endpoints.123`) is called at its endpoint. */
export function publisherPath(call: ProviderCall, model: Extract<VertexModel, { publisher: string }>, action: string): string {
  const [, endpoint] = /^endpoints[./](.+)$/.exec(model.name) ?? [];
  if (endpoint !== undefined) return `${parentPath(call.credentials)}/endpoints/${pathSegment(endpoint)}:${action}`;
  return `${parentPath(call.credentials)}/publishers/${pathSegment(model.publisher)}/models/${pathSegment(model.name)}:${action}`;
}
