import { isObject, pathSegment, type Endpoint, type EndpointSpec, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { anthropicAccepts, chatToMessages, messagesStage, messagesToChat } from '../common/anthropic.js';
import { deploymentOf, isClaude, placeOf, type Call, type FoundryCredentials } from './place.js';
import { rerankRequest, rerankResponse } from './rerank.js';

type Spec = EndpointSpec<FoundryCredentials>;

/** Of the model inference API, where the config names no version. */
const inferenceVersion = '2024-05-01-preview';
/** Versions without a date; the paths are OpenAI's own. */
const undated: ReadonlyMap<string, string> = new Map([['v1', ''], ['latest', ''], ['preview', '?api-version=preview']]);

const versionOf = ({ cloud3_api_version: version, api_version: other }: FoundryCredentials): string | undefined => version || other || undefined;

/** A resource is called by OpenAI's v1 API unless the config names a dated version; the other places by the model inference API. */
function versionAt(call: Call): string {
  return versionOf(call.credentials) ?? (placeOf(call.credentials) === 'resource' ? 'v1' : inferenceVersion);
}

const prefixOf = (call: Call): string => (placeOf(call.credentials) === 'resource' ? '/openai/v1' : placeOf(call.credentials) === 'custom' ? '' : '/v1');

/** Chat, completions and embeddings: in both APIs. */
const inference = (path: string) => (call: Call): Spec => {
  const version = versionAt(call);
  const query = undated.get(version);
  if (query !== undefined) return { path: `${prefixOf(call)}${path}${query}`, headers: routeHeaders(call), ...withModel(call) };
  const folder = placeOf(call.credentials) === 'resource' ? '/models' : '';
  return {
    path: `${folder}${path}?api-version=${pathSegment(version, 'api_version')}`,
    // A field that the API does not know goes to the model; without this header the call is refused, or the field dropped.
    headers: { 'extra-parameters': 'pass-through', ...routeHeaders(call) },
    ...withModel(call),
  };
};

/** Endpoints that the model inference API does not have: OpenAI's v1 API of a resource, and custom hosts, which may be one. */
const openai = (path: string) => (call: Call): Spec | undefined => {
  const query = undated.get(versionAt(call));
  const place = placeOf(call.credentials);
  if (query === undefined || (place !== 'resource' && place !== 'custom')) return undefined;
  // A custom host for Claude has Anthropic's API alone.
  if (place === 'custom' && isClaude(call)) return undefined;
  return { path: `${prefixOf(call)}${path}${query}`, ...withModel(call) };
};

/** An online endpoint shares its traffic among deployments unless one is named. */
function routeHeaders({ credentials }: Call): Readonly<Record<string, string>> {
  const name = placeOf(credentials) === 'managed' ? credentials.cloud3_deployment_name : undefined;
  return name === undefined || name === '' ? {} : { 'azureml-model-deployment': name };
}

/** The client's bytes stay as they are unless the config names the deployment that is to be called. */
function withModel(call: Call): Pick<Spec, 'request'> {
  const deployment = deploymentOf(call);
  if (deployment === call.model || Object.keys(call.body).length === 0) return {};
  return { request: (body) => ({ ...body, model: deployment }) };
}

/** Anthropic's version, and its betas if the client named some. */
function anthropicHeaders(call: Call): Readonly<Record<string, string>> {
  const betas = call.header('anthropic-beta');
  return { 'anthropic-version': call.header('anthropic-version') ?? '2023-06-01', ...(betas === undefined ? {} : { 'anthropic-beta': betas }) };
}

const anthropicPath = (call: Call, path: string): string => (placeOf(call.credentials) === 'resource' ? `/anthropic${path}` : path);

function chatCompletions(call: Call): Spec {
  if (!isClaude(call)) return inference('/chat/completions')(call);
  const deployment = deploymentOf(call);
  return {
    path: anthropicPath(call, '/v1/messages'),
    headers: anthropicHeaders(call),
    accepts: anthropicAccepts,
    request: (body, own) => {
      const messages = chatToMessages(body, own);
      return isObject(messages) && deployment !== own.model ? { ...messages, model: deployment } : messages;
    },
    response: (answer, own) => messagesToChat(answer, own),
    stream: (own) => messagesStage(own),
  };
}

/** Anthropic's own API for Claude; for other models the call is translated. */
const anthropic = (path: string) => (call: Call): Spec | undefined => (isClaude(call)
  ? { path: anthropicPath(call, path), headers: anthropicHeaders(call), ...withModel(call) }
  : undefined);

/** Cohere's API: a path of its own on a resource; serverless endpoints have Cohere's first version. */
function rerank(call: Call): Spec {
  const place = placeOf(call.credentials);
  return {
    path: place === 'resource' ? '/providers/cohere/v2/rerank' : '/v1/rerank',
    headers: routeHeaders(call),
    request: (body, own) => rerankRequest(body, own, deploymentOf(call)),
    response: rerankResponse,
  };
}

/** The model inference API tells of the one model that is deployed. */
function models(call: Call): Spec | undefined {
  const version = versionAt(call);
  if (undated.has(version)) return inference('/models')(call);
  const folder = placeOf(call.credentials) === 'resource' ? '/models' : '';
  return { path: `${folder}/info?api-version=${pathSegment(version, 'api_version')}`, headers: routeHeaders(call), response: modelList };
}

export function modelList(info: Json): JsonObject {
  const isNamed = isObject(info) && typeof info.model_name === 'string';
  return {
    object: 'list',
    data: isNamed
      ? [{ id: info.model_name ?? '', object: 'model', created: 0, owned_by: typeof info.model_provider_name === 'string' ? info.model_provider_name : 'azure-ai' }]
      : [],
  };
}

export const endpoints = {
  chatCompletions,
  completions: inference('/completions'),
  messages: anthropic('/v1/messages'),
  countTokens: anthropic('/v1/messages/count_tokens'),
  responses: openai('/responses'),
  embeddings: inference('/embeddings'),
  imageGenerations: openai('/images/generations'),
  imageEdits: openai('/images/edits'),
  speech: openai('/audio/speech'),
  transcriptions: openai('/audio/transcriptions'),
  translations: openai('/audio/translations'),
  rerank,
  files: openai('/files'),
  batches: openai('/batches'),
  models,
} satisfies { readonly [name: string]: Endpoint<FoundryCredentials> };
