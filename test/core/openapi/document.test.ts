import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { dialects } from '../../../core/dialect/dialects.js';
import { takesIfMatch } from '../../../core/control-plane/define-resource.js';
import { resources } from '../../../core/control-plane/resources/index.js';
import { errorCodes } from '../../../core/errors/codes.js';
import { Components } from '../../../core/openapi/components.js';
import { namesOf } from '../../../core/openapi/control-paths.js';
import { describeApi } from '../../../core/openapi/document.js';
import { errorSchemaOf } from '../../../core/openapi/errors.js';
import { inferenceRoutes } from '../../../core/openapi/inference-paths.js';
import { routeDescriptions } from '../../../core/openapi/inference.js';
import * as routes from '../../../core/router/routes.js';

// A CommonJS module: its default export is the function in one view of it and a member in the other.
const addFormats = 'default' in addFormatsModule ? addFormatsModule.default : addFormatsModule;

const { edgeRoutes, exactRoutes, familyRoutes, promptRoutes, proxyMethods } = routes;
const description = describeApi(resources, '1.2.3');
const operations = Object.entries(description.paths).flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, method, operation })));
const served = new Set(operations.flatMap(({ method, path, operation }) => [path, ...(operation['x-aliases'] as string[] | undefined ?? [])].map((each) => `${method.toUpperCase()} ${each}`)));

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema(description as object, 'api');
const pointer = (...steps: readonly (string | number)[]): string => `api#/${steps.map((step) => encodeURIComponent(String(step).replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
const at = (...steps: readonly (string | number)[]): ValidateFunction => ajv.compile({ $ref: pointer(...steps) });

/** Every example that stands beside its schema, with the way to that. */
function* examplesIn(value: unknown, way: readonly string[]): Generator<readonly [way: readonly string[], example: unknown]> {
  if (typeof value !== 'object' || value === null) return;
  if ('schema' in value && 'example' in value) yield [[...way, 'schema'], value.example];
  if ('schema' in value && 'examples' in value && typeof value.examples === 'object') {
    for (const each of Object.values(value.examples ?? {})) yield [[...way, 'schema'], Object(each).value];
  }
  for (const [name, each] of Object.entries(value)) yield* examplesIn(each, [...way, name]);
}

describe('the description of the API', () => {
  it('is valid OpenAPI 3.1 to a public validator', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(description)));
    assert.deepEqual([valid, errors], [true, undefined]);
  });

  it('has every route that is served, and no other', () => {
    const control = resources.flatMap((resource) => Object.values(resource.operations)).flatMap(({ method, path, aliases }) => [path, ...aliases].map((each) => `${method} /v1${each}`));
    const inference = [
      ...exactRoutes.map(({ method, path }) => `${method} ${path}`), ...familyRoutes.map(({ method, path, action }) => `${method} ${path}/{id}${action === '' ? '' : `/${action}`}`), 'GET /v1/models/{id}',
      ...[...promptRoutes.keys()].map((action) => `POST /v1/prompts/{id}/${action}`),
    ];
    const edge = edgeRoutes.map(({ path }) => `GET ${path}`);
    const proxy = proxyMethods.map((method) => `${method} /v1/proxy/{path}`);
    assert.deepEqual([...served].sort(), [...control, ...inference, ...edge, ...proxy].sort());
    assert.deepEqual(inferenceRoutes().map(({ method, path }) => `${method} ${path}`).sort(), Object.keys(routeDescriptions).sort(), 'routes and what is said of them in core/openapi/inference.ts');
  });

  it('knows all tables of routes that there are', () => {
    const tables = ['controlSegments', 'edgeRoutes', 'exactRoutes', 'familyRoutes', 'modelsPath', 'promptReserved', 'promptRoutes', 'promptSegment', 'proxyMethods', 'proxyPath', 'reservedGets'];
    assert.deepEqual(Object.entries(routes).flatMap(([name, each]) => (typeof each === 'function' ? [] : [name])).sort(), tables, 'a new table of routes belongs into core/openapi and here');
  });

  it('names each operation once, and says whom it lets in', () => {
    const ids = operations.map(({ operation }) => String(operation.operationId));
    assert.deepEqual(ids.filter((id, index) => ids.indexOf(id) !== index), []);
    assert.deepEqual(ids.filter((id) => !/^[a-z][A-Za-z0-9]*$/.test(id)), []);
    for (const { name, operation } of operations) assert.ok(Array.isArray(operation['x-scopes']) !== Array.isArray(operation.security), name);
    const plain = Object.keys(description.paths).map((path) => path.replace(/\{[\w-]+\}/g, '{}'));
    assert.equal(new Set(plain).size, plain.length, 'two paths differ in the names of their parameters alone');
  });

  it('leads every reference somewhere', () => {
    const text = JSON.stringify(description);
    const places = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, place = '']) => place));
    assert.ok(places.size > 40);
    for (const place of places) {
      let value: unknown = description;
      for (const step of place.split('/')) value = Object(value)[step];
      assert.ok(value !== undefined, place);
    }
  });

  it('has examples that its own schemas let through', () => {
    let count = 0;
    for (const [way, example] of examplesIn(description, [])) {
      const isRight = at(...way);
      assert.ok(isRight(example), `${way.join(' > ')}: ${JSON.stringify(isRight.errors)}\n${JSON.stringify(example)}`);
      count += 1;
    }
    assert.ok(count > operations.length, `only ${count} examples`);
    for (const { method, path, endpoint } of inferenceRoutes()) {
      const { example } = routeDescriptions[`${method} ${path}`] ?? {};
      if (endpoint.validate === null) continue;
      assert.equal(endpoint.validate(example as Record<string, unknown>), undefined, path);
    }
  });

  it('tells of errors as they are answered', () => {
    for (const dialect of Object.values(dialects)) {
      const isError = ajv.compile(errorSchemaOf(dialect));
      for (const [code, { status, type, message }] of Object.entries(errorCodes)) {
        assert.ok(isError(JSON.parse(dialect.errorBody({ status, type, message, param: null, code: code.toLowerCase() }))), JSON.stringify(isError.errors));
      }
    }
    const { responses = {} } = description.components;
    const told = JSON.stringify([responses.ChatRefusal, responses.ChatFailure]);
    for (const code of ['KEY_MISSING', 'PROVIDER_UNKNOWN', 'HOOKS_FAILED', 'UPSTREAM_UNREACHABLE', 'BODY_NOT_JSON', 'OVERLOADED']) assert.ok(told.includes(`"${code.toLowerCase()}"`), code);
  });

  it('says that there is no way to sign in where no issuer is set', () => {
    for (const name of ['GET /v1/auth/login', 'GET /v1/auth/callback']) assert.ok(Object.hasOwn(Object(operations.find((each) => each.name === name)?.operation.responses), '404'), name);
  });

  it('offers if-match where a row is changed that there is', () => {
    const parameters = ({ operation }: (typeof operations)[number]): string => JSON.stringify(operation.parameters ?? []);
    const offering = operations.filter((each) => parameters(each).includes('ifMatch')).map(({ operation }) => operation.operationId);
    for (const id of ['updateConfig', 'deleteApiKey', 'rotateApiKey', 'updateOrganisation']) assert.ok(offering.includes(id), id);
    for (const id of ['createConfig', 'createApiKey', 'listConfigs']) assert.ok(!offering.includes(id), id);
    assert.equal(takesIfMatch({ method: 'GET', path: '/x/{id}', action: null, isPublic: false }), false);
  });
});

describe('names of operations', () => {
  const cases: readonly (readonly [name: string, kind: string, operation: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE', id: string, summary: string])[] = [
    ['configs', 'config', 'create', 'POST', 'createConfig', 'Create a config'],
    ['api-keys', 'api-key', 'list', 'GET', 'listApiKeys', 'List API keys'],
    ['api-keys', 'api-key', 'read', 'GET', 'getApiKey', 'Get an API key'],
    ['api-keys', 'api-key', 'rotate', 'POST', 'rotateApiKey', 'Rotate an API key'],
    ['virtual-keys', 'virtual key', 'remove', 'DELETE', 'deleteVirtualKey', 'Delete a virtual key'],
    ['integrations', 'integration', 'updateModels', 'PUT', 'updateIntegrationModels', 'Update integration models'],
    ['integrations', 'integration', 'models', 'GET', 'listIntegrationModels', 'List integration models'],
    ['organisation', 'organisation', 'readDefaults', 'GET', 'getOrganisationDefaults', 'Get organisation defaults'],
    ['prompts', 'prompt', 'version', 'GET', 'getPromptVersion', 'Get prompt version'],
    ['declarations', 'declaration', 'export', 'GET', 'exportDeclaration', 'Export a declaration'],
    ['scim', 'scim-mapping', 'list', 'GET', 'listScimMappings', 'List scim mappings'],
    ['sessions', 'session', 'session', 'GET', 'getSession', 'Get a session'],
    ['invites', 'invite', 'cancel', 'DELETE', 'cancelInvite', 'Cancel an invite'],
    ['workspace-members', 'member', 'read', 'GET', 'getWorkspaceMember', 'Get a workspace member'],
    ['prompts', 'prompt', 'makeDefault', 'PUT', 'makePromptDefault', 'Make prompt default'],
  ];
  for (const [name, kind, operation, method, id, summary] of cases) {
    it(`${operation} of ${name} is ${id}`, () => assert.deepEqual(namesOf({ name, kind }, operation, { method }), { id, summary }));
  }
});

describe('schemas with a name', () => {
  it('are one component, also where they may be null', () => {
    const components = new Components();
    const limits = { title: 'Limits', type: 'object', properties: { value: { type: 'integer' } } };
    const reference = { $ref: '#/components/schemas/Limits' };
    assert.deepEqual(components.refer({ type: 'array', items: limits }), { type: 'array', items: reference });
    assert.deepEqual(components.refer({ ...limits, type: ['object', 'null'] }), { anyOf: [reference, { type: 'null' }] });
    assert.deepEqual(components.schemas, { Limits: { type: 'object', properties: { value: { type: 'integer' } } } });
  });

  it('are refused when two are called the same', () => {
    const components = new Components();
    components.refer({ title: 'Limits', type: 'object' });
    assert.throws(() => components.refer({ title: 'Limits', type: 'array' }), /two schemas are called Limits/);
  });

  it('are told from members that are called title', () => {
    assert.deepEqual(new Components().refer({ type: 'object', properties: { title: { type: 'string' } } }), { type: 'object', properties: { title: { type: 'string' } } });
  });
});
