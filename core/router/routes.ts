// The route table, as data; read once, when match.ts is loaded. Exact paths first; a family takes the paths below it by how many segments
// follow and what the last one is. What is in neither goes to the proxy.

import { speech, transcriptions, translations } from '../endpoints/audio.js';
import { chatCompletions } from '../endpoints/chat-completions.js';
import { completions } from '../endpoints/completions.js';
import { embeddings } from '../endpoints/embeddings.js';
import { cancelBatch, cancelJob, createBatch, createJob, storedBatch, storedFile, storedJob, uploadFile } from '../endpoints/files.js';
import { imageEdits, imageGenerations, imageVariations } from '../endpoints/images.js';
import { countTokens, messages } from '../endpoints/messages.js';
import { models } from '../endpoints/models.js';
import { moderations } from '../endpoints/moderations.js';
import { promptActions } from '../endpoints/prompts.js';
import { rerank } from '../endpoints/rerank.js';
import { cancelResponse, createResponse, storedResponse } from '../endpoints/responses.js';
import type { EndpointDefinition, PromptAction } from '../exchange/endpoint.js';

export interface ExactRoute {
  readonly method: string;
  readonly path: string;
  readonly endpoint: EndpointDefinition;
}

/** `{path}/{id}` and, with `action`, `{path}/{id}/{action}`. */
export interface FamilyRoute {
  readonly method: string;
  readonly path: string;
  /** Empty: the path ends with the id. */
  readonly action: string;
  readonly endpoint: EndpointDefinition;
}

export const exactRoutes: readonly ExactRoute[] = [
  { method: 'POST', path: '/v1/chat/completions', endpoint: chatCompletions },
  { method: 'POST', path: '/v1/completions', endpoint: completions },
  { method: 'POST', path: '/v1/embeddings', endpoint: embeddings },
  { method: 'POST', path: '/v1/images/generations', endpoint: imageGenerations },
  { method: 'POST', path: '/v1/images/edits', endpoint: imageEdits },
  { method: 'POST', path: '/v1/images/variations', endpoint: imageVariations },
  { method: 'POST', path: '/v1/audio/speech', endpoint: speech },
  { method: 'POST', path: '/v1/audio/transcriptions', endpoint: transcriptions },
  { method: 'POST', path: '/v1/audio/translations', endpoint: translations },
  { method: 'POST', path: '/v1/moderations', endpoint: moderations },
  { method: 'POST', path: '/v1/rerank', endpoint: rerank },
  { method: 'POST', path: '/v1/messages', endpoint: messages },
  { method: 'POST', path: '/v1/messages/count_tokens', endpoint: countTokens },
  { method: 'POST', path: '/v1/responses', endpoint: createResponse },
  { method: 'GET', path: '/v1/files', endpoint: storedFile },
  { method: 'POST', path: '/v1/files', endpoint: uploadFile },
  { method: 'GET', path: '/v1/batches', endpoint: storedBatch },
  { method: 'POST', path: '/v1/batches', endpoint: createBatch },
  { method: 'GET', path: '/v1/fine_tuning/jobs', endpoint: storedJob },
  { method: 'POST', path: '/v1/fine_tuning/jobs', endpoint: createJob },
  { method: 'GET', path: '/v1/models', endpoint: models },
];

export const familyRoutes: readonly FamilyRoute[] = [
  { method: 'GET', path: '/v1/responses', action: '', endpoint: storedResponse },
  { method: 'DELETE', path: '/v1/responses', action: '', endpoint: storedResponse },
  { method: 'GET', path: '/v1/responses', action: 'input_items', endpoint: storedResponse },
  { method: 'POST', path: '/v1/responses', action: 'cancel', endpoint: cancelResponse },
  { method: 'GET', path: '/v1/files', action: '', endpoint: storedFile },
  { method: 'DELETE', path: '/v1/files', action: '', endpoint: storedFile },
  { method: 'GET', path: '/v1/files', action: 'content', endpoint: storedFile },
  { method: 'GET', path: '/v1/batches', action: '', endpoint: storedBatch },
  { method: 'POST', path: '/v1/batches', action: 'cancel', endpoint: cancelBatch },
  { method: 'GET', path: '/v1/fine_tuning/jobs', action: '', endpoint: storedJob },
  { method: 'POST', path: '/v1/fine_tuning/jobs', action: 'cancel', endpoint: cancelJob },
  { method: 'GET', path: '/v1/fine_tuning/jobs', action: 'checkpoints', endpoint: storedJob },
  { method: 'GET', path: '/v1/fine_tuning/jobs', action: 'events', endpoint: storedJob },
];

/** `POST {segment}/{id}/{action}` below `/v1/`, `/v2/` and `/`: of the control plane's paths those that are calls. */
export const promptSegment = 'prompts';
/** Not ids: the control plane has its own paths below them. */
export const promptReserved: readonly string[] = ['partials'];
export const promptRoutes: ReadonlyMap<string, PromptAction> = new Map(promptActions.map((action) => [action.name, action]));

/** First segments that belong to the control plane, below `/v1/`, `/v2/` and `/`: never the provider's business, so never relayed. */
export const controlSegments: readonly string[] = [
  'admin', 'agent', 'agent-integrations', 'agent-servers', 'analytics', 'api-keys', 'audit-logs', 'auth', 'collections', 'configs', 'declarations', 'feedback', 'guardrails', 'integrations', 'labels', 'logs',
  'mcp-integrations', 'mcp-servers', 'model-configs', 'openapi.json', 'organisation', 'policies', 'prompt-partials', 'prompts', 'providers', 'scim', 'secret-references', 'users', 'virtual-keys',
  'workspace-exclusions', 'workspaces',
];

/** Public operations, which need no key, by method and path without its version prefix. They are also marked in their resources; a test compares the two. */
const publicControl: readonly { readonly method: string; readonly path: RegExp }[] = [
  { method: 'POST', path: /^\/(?:admin\/)?users\/invites\/[^/]+\/accept$/ },
  { method: 'GET', path: /^\/auth\/(?:login|callback|session)$/ },
  { method: 'POST', path: /^\/auth\/logout$/ },
  { method: 'GET', path: /^\/openapi\.json$/ },
  { method: 'GET', path: /^\/model-configs\/(?:pricing|general)\/[^/]+\/[^/]+(?:\/[^/]+)?\/?$/ },
];

export const isPublicControl = (method: string, path: string): boolean => {
  const bare = path.replace(/^\/v[12](?=\/)/, '');
  return publicControl.some((each) => each.method === method && each.path.test(bare));
};

/** Answered by the edge itself: the metrics for those who may see them, the others for anybody. */
export const edgeRoutes: readonly { readonly path: string; readonly kind: 'health' | 'ready' | 'metrics' }[] = [
  { path: '/health', kind: 'health' }, { path: '/v1/health', kind: 'health' }, { path: '/ready', kind: 'ready' }, { path: '/metrics', kind: 'metrics' },
];

/** With an id behind it, which may hold slashes, it is about one model. */
export const modelsPath = '/v1/models';

/** The realtime route is a websocket, which comes later; a plain GET of it has no answer anywhere. */
export const reservedGets: readonly string[] = ['/v1/realtime'];

/** Methods of the catch-all. */
export const proxyPath = '/v1/proxy/{path}';
export const proxyMethods: readonly string[] = ['GET', 'POST', 'PUT', 'DELETE'];
