import type { EndpointSpec, JsonObject } from '@gateway/plugin-sdk';
import { fakeCall } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { azureFault } from '../common/azure-fault.js';
import { endpoints } from './endpoints.js';
import provider from './provider.js';

type Name = keyof typeof endpoints;

function specOf(name: Name, body: JsonObject, credentials: Record<string, unknown> = {}): EndpointSpec {
  return endpoints[name](fakeCall(body, { endpoint: name, credentials }));
}
const pathOf = (name: Name, body: JsonObject, credentials: Record<string, unknown> = {}): string => specOf(name, body, credentials).path;

const deployments = [
  { deployment_id: 'prod-a', alias: 'gpt-4.1', api_version: '2025-01-01-preview' },
  { deployment_id: 'prod-b', alias: 'gpt-5', api_version: 'v1' },
];
const withDefault = [...deployments, { deployment_id: 'rest', alias: 'any', api_version: '2024-10-21', is_default: true }];

test('a deployment is found by alias, then id, then deployment_id, then the default', () => {
  const dated = (id: string, version: string): string => `/deployments/${id}/chat/completions?api-version=${version}`;
  assert.equal(pathOf('chatCompletions', { model: 'gpt-4.1' }, { deployments }), dated('prod-a', '2025-01-01-preview'));
  assert.equal(pathOf('chatCompletions', { model: 'prod-a' }, { deployments }), dated('prod-a', '2025-01-01-preview'));
  assert.equal(pathOf('chatCompletions', { model: 'other' }, { deployments, deployment_id: 'one', api_version: '2024-10-21' }), dated('one', '2024-10-21'));
  assert.equal(pathOf('chatCompletions', { model: 'other' }, { deployments: withDefault }), dated('rest', '2024-10-21'));
  assert.equal(pathOf('chatCompletions', {}, { deployments: withDefault }), dated('rest', '2024-10-21'));
});

test('without a match or a default the call is refused, and without a model too', () => {
  assert.throws(() => specOf('chatCompletions', { model: 'other' }, { deployments }), /no deployment has the alias other and deployments has no default; use gpt-4\.1, gpt-5/);
  assert.throws(() => specOf('chatCompletions', {}), /must name the deployment/);
});

test('versions without a date have no deployment in the path; an alias is replaced in the body', () => {
  const aliased = specOf('chatCompletions', { model: 'gpt-5' }, { deployments });
  assert.equal(aliased.path, '/v1/chat/completions');
  const call = fakeCall({ model: 'gpt-5' });
  assert.deepEqual(aliased.request?.({ model: 'gpt-5', messages: [] }, call), { model: 'prod-b', messages: [] });
  const plain = specOf('chatCompletions', { model: 'gpt-5' });
  assert.deepEqual(plain, { path: '/v1/chat/completions', streamUsage: 'stream_options' });
  assert.equal(pathOf('embeddings', { model: 'e' }, { api_version: 'preview' }), '/v1/embeddings?api-version=preview');
  assert.equal(pathOf('embeddings', { model: 'e' }, { api_version: 'latest' }), '/v1/embeddings');
});

test('streams are asked for their usage in versions that know stream_options, and not where they search data', () => {
  const asks = (version: string | undefined, body: JsonObject = {}): boolean => specOf('chatCompletions', { model: 'm', ...body }, version === undefined ? {} : { api_version: version }).streamUsage === 'stream_options';
  for (const version of [undefined, 'v1', 'latest', 'preview', '2024-09-01-preview', '2024-10-21', '2025-01-01-preview']) assert.equal(asks(version), true, version);
  for (const version of ['2023-05-15', '2024-02-01', '2024-06-01', '2024-08-01-preview']) assert.equal(asks(version), false, version);
  assert.equal(asks('v1', { data_sources: [] }), false);
});

test('names are percent-encoded', () => {
  assert.equal(pathOf('completions', { model: '../a b?{x}' }), '/deployments/..%2Fa%20b%3F%7Bx%7D/completions?api-version=2024-10-21');
});

test('forms: dated versions take any alias, others only the deployment itself', () => {
  const form = (model: string, credentials: Record<string, unknown>): EndpointSpec =>
    endpoints.transcriptions({ ...fakeCall({}, { endpoint: 'transcriptions', credentials }), model });
  assert.equal(form('gpt-4.1', { deployments }).path, '/deployments/prod-a/audio/transcriptions?api-version=2025-01-01-preview');
  assert.equal(form('prod-b', { deployments }).path, '/v1/audio/transcriptions');
  assert.throws(() => form('gpt-5', { deployments }), /must be prod-b/);
});

test('calls to the resource need no deployment', () => {
  assert.equal(pathOf('responses', {}), '/v1/responses');
  assert.equal(pathOf('responses', {}, { api_version: '2025-04-01-preview' }), '/responses?api-version=2025-04-01-preview');
  assert.equal(pathOf('responses', { model: 'gpt-4.1' }, { deployments }), '/responses?api-version=2025-01-01-preview');
  assert.equal(pathOf('files', {}, { api_version: '2024-10-21' }), '/files?api-version=2024-10-21');
  assert.equal(pathOf('models', {}, { deployments: withDefault }), '/models?api-version=2024-10-21');
  assert.equal(pathOf('fineTuning', {}, { deployments }), '/v1/fine_tuning/jobs');
});

test('the address comes from the name of the resource or its host name', () => {
  const baseUrl = provider.baseUrl;
  assert.ok(typeof baseUrl === 'function');
  assert.equal(baseUrl({ resource_name: 'contoso' }), 'https://contoso.openai.azure.com/openai');
  assert.equal(baseUrl({ resource_name: 'https://Contoso.cognitiveservices.azure.com/' }), 'https://contoso.cognitiveservices.azure.com/openai');
  assert.throws(() => baseUrl({}), { path: 'resource_name' });
  for (const name of ['a/b', 'user@host', 'a b', 'evil.com#', '']) assert.throws(() => baseUrl({ resource_name: name }), { path: 'resource_name' });
});

test('errors of the gateway before the models', () => {
  assert.deepEqual(azureFault({ statusCode: 401, message: 'Access denied due to invalid subscription key.' }), { message: 'Access denied due to invalid subscription key.', code: '401' });
  assert.deepEqual(azureFault({ detail: [{ loc: ['body', 'messages', 0], msg: 'field required' }] }), { message: 'field required', param: 'messages.0' });
  assert.deepEqual(azureFault({ error: { code: 'content_filter', message: 'filtered', param: 'prompt', type: null } }), { message: 'filtered', code: 'content_filter', param: 'prompt' });
  assert.equal(azureFault({ other: 1 }), undefined);
});
