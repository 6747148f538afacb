// Writes the control operations as paths of the description, from their definitions alone.

import { isObject } from '@gateway/plugin-sdk';
import { takesIdempotencyKey, takesIfMatch, type Operation, type Resource } from '../control-plane/define-resource.js';
import type { JsonSchema } from '../exchange/endpoint.js';
import type { Components } from './components.js';
import { controlRefusals } from './errors.js';
import { exampleOf } from './example.js';

export type PathItem = Record<string, Readonly<Record<string, unknown>>>;

const words = (text: string): readonly string[] => text.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(/[^a-zA-Z0-9]+/).filter((word) => word !== '');
const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
const pascal = (text: string): string => words(text).map(capital).join('');

/** Verb in the name of an operation -> verb in its `operationId`. */
const verbs: Readonly<Record<string, string>> = { create: 'create', list: 'list', read: 'get', get: 'get', update: 'update', delete: 'delete', remove: 'delete', export: 'export' };

interface Names {
  /** In camel case, such as `createConfig`. */
  readonly id: string;
  readonly summary: string;
}

/** `list` of configs: listConfigs; `updateModels` of integrations: updateIntegrationModels; `models`: listIntegrationModels. */
export function namesOf({ name, kind }: Pick<Resource, 'name' | 'kind'>, operationName: string, { method }: Pick<Operation, 'method'>): Names {
  const [first = '', ...rest] = words(operationName);
  const isKnown = Object.hasOwn(verbs, first);
  const isAction = !isKnown && method !== 'GET';
  const nouns = [first, ...rest];
  const verb = isKnown ? verbs[first] ?? first : isAction ? first : nouns.at(-1)?.endsWith('s') === true ? 'list' : 'get';
  const about = isKnown || isAction ? rest : nouns.join(' ') === words(kind).join(' ') ? [] : nouns;
  const isPlural = verb === 'list' && about.length === 0;
  const singular = name.replace(/s$/, '');
  // For resources of a workspace the name (`workspace-members`) says more than the kind (`member`).
  const plural = name.endsWith('s') ? name : `${kind}s`;
  const subject = words(isPlural ? plural : singular.endsWith(kind) ? singular : kind);
  return { id: verb + pascal([...subject, ...about].join(' ')), summary: capital([verb, ...(isPlural || about.length > 0 ? [] : [article(subject)]), ...subject, ...about].join(' ')).replaceAll('api ', 'API ') };
}

const article = ([word = '']: readonly string[]): string => (/^[aeio]/.test(word) && word !== 'one' ? 'an' : 'a');

/** Parameters in the path: ids or slugs, unless the operation has a schema for them. */
const pathParameters = ({ path, params }: Operation): readonly unknown[] => [...path.matchAll(/\{([\w-]+)\}/g)].map(([, name = '']) => {
  const { description = 'id or slug', ...schema } = params[name] ?? { type: 'string' };
  return { name, in: 'path', required: true, description, schema };
});

function queryParameters(operation: Operation, components: Components): readonly unknown[] {
  const query: JsonSchema = operation.query ?? {};
  const { properties, required } = query;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(Object(properties)).map(([name, each]) => {
    const { description, ...schema }: JsonSchema = isObject(each) ? each : {};
    return { name, in: 'query', required: needed.includes(name), ...(description === undefined ? {} : { description }), schema: components.refer(schema) };
  });
}

export const sharedParameters = {
  workspaceId: { name: 'workspace_id', in: 'query', description: 'id or slug of a workspace: for keys of the organisation; a key of a workspace has its own', schema: { type: 'string' } },
  ifMatch: { name: 'if-match', in: 'header', description: 'the `etag` of the version that is to be changed; another one is refused with 412', schema: { type: 'string', examples: ['"3"'] } },
  idempotencyKey: { name: 'idempotency-key', in: 'header', description: 'the same call with the same key, within 24 hours, gets the same reply and changes nothing more', schema: { type: 'string', minLength: 1, maxLength: 255 } },
} as const;
const shared = (name: keyof typeof sharedParameters): JsonSchema => ({ $ref: `#/components/parameters/${name}` });

/** The body as clients may send it, with `workspace_id`, which every body may have. */
const sentBody = (operation: Operation, body: JsonSchema): JsonSchema => {
  const { method, isPublic } = operation;
  return isPublic || method === 'DELETE' || !isObject(body.properties) ? body : { ...body, properties: { ...body.properties, workspace_id: { type: 'string', description: sharedParameters.workspaceId.description } } };
};

function requestBody(operation: Operation, id: string, components: Components): Readonly<Record<string, unknown>> {
  const { body } = operation;
  if (body === null) return {};
  const { required } = body;
  const one = components.add(`${capital(id)}Body`, sentBody(operation, body));
  const schema = operation.listMax === 0 ? one : { oneOf: [one, { type: 'array', items: one, minItems: 1, maxItems: operation.listMax }] };
  return { requestBody: { required: Array.isArray(required) && required.length > 0, content: { 'application/json': { schema, example: exampleOf(body, false) } } } };
}

function answerOf(operation: Operation, id: string, components: Components): Readonly<Record<string, unknown>> {
  const { reply, method, action, status } = operation;
  if (status === 204) return { description: 'It is done.' };
  if (status === 302) return { description: 'The way to go on.', headers: { location: { schema: { type: 'string' } }, 'set-cookie': { schema: { type: 'string' } } } };
  const schema = typeof reply.title === 'string' ? components.refer(reply) : components.add(`${capital(id)}Reply`, reply);
  const headers = {
    'x-gateway-request-id': { schema: { type: 'string' } },
    ...(method === 'GET' || method === 'PUT' ? { etag: { description: 'version of the row, where the operation is about one', schema: { type: 'string' } } } : {}),
    ...(takesIdempotencyKey(operation) ? { 'x-gateway-idempotent-replay': { description: '`true`: the reply of the same call before', schema: { type: 'string' } } } : {}),
  };
  return { description: action === null ? 'What was asked for.' : 'It is done.', headers, content: { 'application/json': { schema, example: exampleOf(reply, true) } } };
}

const isNamed = (operation: Operation): boolean => operation.path.includes('{') || operation.body !== null;

/** Errors that the operation can answer with. */
function refusalsOf(operation: Operation): Readonly<Record<string, JsonSchema>> {
  const { method, isPublic, status } = operation;
  const never = new Set([
    // Where nobody can sign in, the way to the issuer is not there.
    ...(isPublic ? ['403'] : []), ...(isNamed(operation) || !isPublic || status === 302 ? [] : ['404']), ...(method === 'GET' ? ['409', '413'] : []),
  ]);
  return Object.fromEntries(Object.entries(controlRefusals).filter(([status]) => !never.has(status)));
}

function describeOperation(resource: Resource, name: string, operation: Operation, components: Components): Readonly<Record<string, unknown>> {
  const { id, summary } = namesOf(resource, name, operation);
  const { scope, isPublic, aliases } = operation;
  const parameters = [
    ...pathParameters(operation), ...(isPublic ? [] : [shared('workspaceId')]), ...queryParameters(operation, components),
    ...(takesIfMatch(operation) ? [shared('ifMatch')] : []), ...(takesIdempotencyKey(operation) ? [shared('idempotencyKey')] : []),
  ];
  const rights = scope === null ? 'Which scope it needs depends on the row.' : scope.length === 1 ? `Needs the scope \`${scope.join('')}\`.` : `Needs one of the scopes ${scope.map((each) => `\`${each}\``).join(', ')}.`;
  return {
    operationId: id, summary, tags: [resource.name], description: isPublic ? 'Needs no key.' : rights,
    ...(isPublic ? { security: [] } : { 'x-scopes': scope ?? [] }), ...(aliases.length === 0 ? {} : { 'x-aliases': aliases.map((path) => `/v1${path}`) }),
    ...(parameters.length === 0 ? {} : { parameters }), ...requestBody(operation, id, components),
    responses: { [operation.status]: answerOf(operation, id, components), ...refusalsOf(operation) },
  };
}

export function controlPaths(resources: readonly Resource[], components: Components): Record<string, PathItem> {
  const paths: Record<string, PathItem> = {};
  for (const resource of resources) {
    for (const [name, operation] of Object.entries(resource.operations)) {
      const item: PathItem = paths[`/v1${operation.path}`] ??= {};
      item[operation.method.toLowerCase()] = describeOperation(resource, name, operation, components);
    }
  }
  return paths;
}
