// Writes the inference routes, the catch-all route and the edge's own answers as paths of the description.

import { proxy } from '../endpoints/proxy.js';
import type { EndpointDefinition, JsonSchema } from '../exchange/endpoint.js';
import { edgeRoutes, exactRoutes, familyRoutes, modelsPath, promptRoutes, promptSegment, proxyMethods, proxyPath } from '../router/routes.js';
import type { Components } from './components.js';
import type { PathItem } from './control-paths.js';
import { inferenceRefusals } from './errors.js';
import { exampleOf } from './example.js';
import { routeDescriptions, type RouteDescription } from './inference.js';

interface DescribedRoute {
  readonly method: string;
  readonly path: string;
  readonly endpoint: EndpointDefinition;
}

/** Every route of inference but the catch-all. */
export const inferenceRoutes = (): readonly DescribedRoute[] => [
  ...exactRoutes,
  ...familyRoutes.map(({ method, path, action, endpoint }) => ({ method, endpoint, path: `${path}/{id}${action === '' ? '' : `/${action}`}` })),
  ...[...promptRoutes].map(([action, { endpoint }]) => ({ method: 'POST', path: `/v1/${promptSegment}/{id}/${action}`, endpoint })),
  ...exactRoutes.filter(({ path }) => path === modelsPath).map((route) => ({ ...route, path: `${modelsPath}/{id}` })),
];

const header = (name: string, description: string, more: JsonSchema = { type: 'string' }): Readonly<Record<string, unknown>> => ({ name, in: 'header', description, schema: more });

/** Headers that route a call. */
export const callHeaders: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  config: header('x-gateway-config', 'a config as JSON, or the slug of a stored one'),
  provider: header('x-gateway-provider', 'id of a provider, or @slug of a stored one', { type: 'string', examples: ['openai', '@support'] }),
  virtualKey: header('x-gateway-virtual-key', 'the older name of a stored provider: its slug'),
  customHost: header('x-gateway-custom-host', 'another base address of the provider'),
  forwardHeaders: header('x-gateway-forward-headers', 'names of headers, separated by commas, that go to the provider'),
  requestTimeout: header('x-gateway-request-timeout', 'milliseconds that each attempt may take to its first byte', { type: 'integer' }),
  metadata: header('x-gateway-metadata', 'a JSON object of texts, for routing, logs and limits'),
  traceId: header('x-gateway-trace-id', 'joins calls that belong together in the log'),
  strict: header('x-gateway-strict-reference-compliance', '`false` lets members through that only some providers know', { type: 'string', enum: ['true', 'false'] }),
  unsupportedParams: header('x-gateway-unsupported-params', 'what becomes of parameters that the provider cannot take', { type: 'string', enum: ['refuse', 'omit'] }),
  cacheNamespace: header('x-gateway-cache-namespace', 'a part of the cache of its own'),
  cacheForceRefresh: header('x-gateway-cache-force-refresh', '`true` asks the provider, and keeps the new answer', { type: 'string', enum: ['true', 'false'] }),
};
const headerReferences = Object.keys(callHeaders).map((name) => ({ $ref: `#/components/parameters/${name}` }));

function bodyOf({ endpoint }: DescribedRoute, { id, example, body, fields }: RouteDescription, components: Components): Readonly<Record<string, unknown>> {
  if (endpoint.schema !== undefined) {
    const schema = components.add(`${id.slice(0, 1).toUpperCase()}${id.slice(1)}Body`, endpoint.schema());
    return { requestBody: { required: true, content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } } } };
  }
  if (body !== undefined) return { requestBody: { required: true, content: { 'application/json': { schema: components.refer(body), example } } } };
  if (fields !== undefined) return { requestBody: { required: true, content: { 'multipart/form-data': { schema: fields } } } };
  return {};
}

function answerOf({ reply, event }: RouteDescription, components: Components): Readonly<Record<string, unknown>> {
  if ('bytes' in reply) return { description: 'The bytes.', content: { [String(reply.bytes)]: {} } };
  const events = event === undefined ? {} : { 'text/event-stream': { schema: components.refer(event) } };
  return {
    description: event === undefined ? 'The answer of the provider.' : 'The answer of the provider; with `stream: true` a stream of events, each with one of these as its data.',
    content: { 'application/json': { schema: components.refer(reply), example: exampleOf(reply, true) }, ...events },
  };
}

const idParameter = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

function describeRoute(route: DescribedRoute, components: Components): Readonly<Record<string, unknown>> {
  const { method, path, endpoint } = route;
  const description = routeDescriptions[`${method} ${path}`] ?? { id: `${method.toLowerCase()}${path.replace(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/\W/g, '')}`, summary: path, tag: 'inference', reply: {} };
  const { id, summary, tag } = description;
  const scopes = [endpoint.scope, ...endpoint.otherScopes ?? []];
  return {
    operationId: id, summary, tags: [tag], 'x-scopes': scopes, parameters: [...(path.includes('{id}') ? [idParameter] : []), ...headerReferences],
    ...bodyOf(route, description, components), responses: { 200: answerOf(description, components), ...inferenceRefusals(endpoint.dialect) },
  };
}

export function inferencePaths(components: Components): Record<string, PathItem> {
  const paths: Record<string, PathItem> = {};
  for (const route of inferenceRoutes()) (paths[route.path] ??= {})[route.method.toLowerCase()] = describeRoute(route, components);
  return paths;
}

/** The catch-all route: calls of other paths go to the provider unchanged. */
export function proxyPaths(): Record<string, PathItem> {
  const item: PathItem = {};
  for (const method of proxyMethods) {
    item[method.toLowerCase()] = {
      operationId: `proxy${method.slice(0, 1)}${method.slice(1).toLowerCase()}`, summary: 'Call the provider\'s own API', tags: ['proxy'], 'x-scopes': ['completions.write'],
      description: 'Method, path, query and body are relayed as they are. The same holds for every path below `/v1/` that has no operation here.',
      parameters: [{ name: 'path', in: 'path', required: true, description: 'of the provider; may hold slashes', schema: { type: 'string' } }, ...headerReferences],
      ...(method === 'GET' || method === 'DELETE' ? {} : { requestBody: { content: { '*/*': {} } } }),
      responses: { default: { description: 'The answer of the provider.', content: { '*/*': {} } }, ...inferenceRefusals(proxy.dialect) },
    };
  }
  return { [proxyPath]: item };
}

const edgeReplies = {
  health: { summary: 'Whether the process lives', statuses: { 200: 'It does.' }, schema: { type: 'object', required: ['status', 'message', 'version'], properties: { status: { const: 'success' }, message: { type: 'string' }, version: { type: 'string' } } } },
  ready: { summary: 'Whether calls are taken', statuses: { 200: 'They are.', 503: 'It is shutting down.' }, schema: { type: 'object', required: ['status'], properties: { status: { type: 'string', enum: ['ready', 'draining'] } } } },
} as const;

const metricsOperation = (): Readonly<Record<string, unknown>> => ({
  operationId: 'getMetrics', summary: 'Metrics for Prometheus', tags: ['gateway'], 'x-scopes': ['metrics.read'],
  description: 'Of the whole process. From this machine, and with no proxy between, also without a key.',
  responses: {
    200: { description: 'The text format of Prometheus.', content: { 'text/plain': { schema: { type: 'string' }, example: '# TYPE gateway_open_calls gauge\ngateway_open_calls{thread="serve-0"} 3\n' } } },
    ...inferenceRefusals(proxy.dialect),
  },
});

export function edgePaths(): Record<string, PathItem> {
  const paths: Record<string, PathItem> = {};
  for (const { path, kind } of edgeRoutes) {
    if (kind === 'metrics') {
      paths[path] = { get: metricsOperation() };
      continue;
    }
    const { summary, statuses, schema } = edgeReplies[kind];
    const name = path.startsWith('/v1/') ? `${kind}V1` : kind;
    const responses = Object.fromEntries(Object.entries(statuses).map(([status, description]) => [status, { description, content: { 'application/json': { schema, example: exampleOf(schema, true) } } }]));
    paths[path] = { get: { operationId: `get${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, summary, tags: ['gateway'], description: 'Needs no key.', security: [], responses } };
  }
  return paths;
}
