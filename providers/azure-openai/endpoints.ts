import { pathSegment, type EndpointSpec, type ProviderCall } from '@gateway/plugin-sdk';
import { resolveDeployment, resourceVersion, type DeploymentCredentials } from './deployment.js';

type Call = ProviderCall<DeploymentCredentials>;
type Endpoint = (call: Call) => EndpointSpec<DeploymentCredentials>;

/** The newest dated version that is generally available; Azure has dated none since, and goes on with `v1`. */
const newestDated = '2024-10-21';

/**
 * The version without a date has the paths of OpenAI's own API: `v1` is what is generally available, `preview` says so in the query.
 * `latest` was its name before `v1`.
 */
const undated: ReadonlyMap<string, string> = new Map([['v1', ''], ['latest', ''], ['preview', '?api-version=preview']]);

const dated = (path: string, version: string): string => `${path}?api-version=${pathSegment(version, 'api_version')}`;

/** Calls to a model. Dated versions have the deployment in the path; the others read it from `model`. */
export const inference = (path: string, usual: string): Endpoint => (call) => {
  const { id, apiVersion = usual } = resolveDeployment(call);
  const query = undated.get(apiVersion);
  if (query === undefined) return { path: dated(`/deployments/${pathSegment(id)}${path}`, apiVersion) };
  return { path: `/v1${path}${query}`, ...withModel(call, id) };
};

/** Dated versions before this one answer 400 to `stream_options`. */
const streamUsageSince = '2024-09-01';

/** Azure's chat, which takes no `stream_options` where it searches data of the caller. */
const chat: Endpoint = (call) => {
  const spec = inference('/chat/completions', 'v1')(call);
  const { apiVersion = 'v1' } = resolveDeployment(call);
  if ('data_sources' in call.body || (!undated.has(apiVersion) && apiVersion < streamUsageSince)) return spec;
  return { ...spec, streamUsage: 'stream_options' };
};

/** Calls to the resource, stored objects below the path included. */
export const resource = (path: string, usual: string): Endpoint => ({ credentials }) => {
  const version = resourceVersion(credentials) ?? usual;
  const query = undated.get(version);
  return { path: query === undefined ? dated(path, version) : `/v1${path}${query}` };
};

/** A new response names its deployment in the body whatever the version; stored ones are the resource's. */
export const responses: Endpoint = (call) => {
  const path = '/responses';
  if (call.model === '' && Object.keys(call.body).length === 0) return resource(path, 'v1')(call);
  const { id, apiVersion = 'v1' } = resolveDeployment(call);
  const query = undated.get(apiVersion);
  return { path: query === undefined ? dated(path, apiVersion) : `/v1${path}${query}`, ...withModel(call, id) };
};

/** The client's bytes stay as they are unless the client called the deployment by another name. */
function withModel(call: Call, deployment: string): Pick<EndpointSpec<DeploymentCredentials>, 'request'> {
  if (call.model === deployment) return {};
  // A form's bytes cannot be changed here.
  if (Object.keys(call.body).length === 0) return call.refuse('model', `must be ${deployment}; api versions without a date take no other name in a form`);
  return { request: (body) => ({ ...body, model: deployment }) };
}

/** What each endpoint is called with when the config has no API version: what is generally available, else the first version that has it. */
export const endpoints = {
  chatCompletions: chat,
  completions: inference('/completions', newestDated),
  responses,
  embeddings: inference('/embeddings', 'v1'),
  imageGenerations: inference('/images/generations', newestDated),
  imageEdits: inference('/images/edits', '2025-04-01-preview'),
  speech: inference('/audio/speech', '2025-03-01-preview'),
  transcriptions: inference('/audio/transcriptions', newestDated),
  translations: inference('/audio/translations', newestDated),
  files: resource('/files', 'v1'),
  batches: resource('/batches', 'v1'),
  fineTuning: resource('/fine_tuning/jobs', 'v1'),
  models: resource('/models', 'v1'),
} satisfies { readonly [name: string]: Endpoint };
