import type { EndpointSpec, JsonObject } from '@gateway/plugin-sdk';
import { fakeCall, fakeHost } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from './endpoints.js';
import provider from './provider.js';

type Name = keyof typeof endpoints;

function specOf(name: Name, body: JsonObject, credentials: Record<string, unknown> = {}): EndpointSpec | undefined {
  return endpoints[name](fakeCall(body, { endpoint: name, credentials }));
}
const resource = { resource_name: 'contoso' };
const serverless = { cloud3_deployment_type: 'serverless', cloud3_deployment_name: 'Mistral-ab', cloud3_region: 'eastus2' };
const managed = { cloud3_deployment_type: 'managed', cloud3_endpoint_name: 'llama', cloud3_region: 'westus', cloud3_deployment_name: 'blue' };

test('addresses', () => {
  const baseUrl = provider.baseUrl;
  assert.ok(typeof baseUrl === 'function');
  assert.equal(baseUrl(resource), 'https://contoso.services.ai.azure.com');
  assert.equal(baseUrl({ ...serverless, cloud3_deployment_type: 'serverless' }), 'https://mistral-ab.eastus2.models.ai.azure.com');
  assert.equal(baseUrl({ ...managed, cloud3_deployment_type: 'managed' }), 'https://llama.westus.inference.ml.azure.com');
  assert.equal(baseUrl({ cloud3_deployment_type: 'managed', cloud3_endpoint_name: 'llama.westus.inference.ml.azure.com' }), 'https://llama.westus.inference.ml.azure.com');
  assert.throws(() => baseUrl({ cloud3_deployment_type: 'managed', cloud3_endpoint_name: 'llama' }), { path: 'cloud3_region' });
  assert.throws(() => baseUrl({ cloud3_deployment_type: 'serverless' }), { path: 'cloud3_deployment_name' });
  assert.throws(() => baseUrl({ ...serverless, cloud3_deployment_type: 'serverless', cloud3_region: 'evil.com/' }), { path: 'cloud3_region' });
  assert.throws(() => baseUrl({}), { path: 'resource_name' });
});

test('claude has the messages api, other models have not', () => {
  assert.equal(specOf('messages', { model: 'claude-opus-4-5' }, resource)?.path, '/anthropic/v1/messages');
  assert.equal(specOf('countTokens', { model: 'claude-opus-4-5' }, resource)?.path, '/anthropic/v1/messages/count_tokens');
  assert.equal(specOf('messages', { model: 'grok-4' }, resource), undefined);
  assert.equal(specOf('messages', { model: 'claude-opus-4-5' }, serverless), undefined);
  // A custom host ends in /anthropic.
  assert.equal(specOf('chatCompletions', { model: 'claude-opus-4-5' })?.path, '/v1/messages');
});

test('the deployment of the config takes the place of the model', () => {
  const spec = specOf('chatCompletions', { model: 'gpt-4o', messages: [] }, { ...resource, cloud3_deployment_name: 'team-a' });
  assert.deepEqual(spec?.request?.({ model: 'gpt-4o', messages: [] }, fakeCall({})), { model: 'team-a', messages: [] });
  assert.equal(specOf('chatCompletions', { model: 'grok-4' }, resource)?.request, undefined);
});

test('what the model inference api does not have is not offered', () => {
  for (const name of ['responses', 'imageGenerations', 'files', 'speech'] as const) {
    assert.equal(specOf(name, { model: 'm' }, serverless), undefined);
    assert.equal(specOf(name, { model: 'm' }, { ...resource, cloud3_api_version: '2024-05-01-preview' }), undefined);
    assert.notEqual(specOf(name, { model: 'm' }, resource), undefined);
  }
  assert.equal(specOf('rerank', { model: 'm' }, serverless)?.path, '/v1/rerank');
});

test('each place has its own key header and scope', async () => {
  const signed = async (url: string, credentials: Record<string, unknown>, apiKey: string | undefined = 'key'): Promise<readonly string[]> => {
    const host = fakeHost({ fetch: (request) => ({ body: JSON.stringify({ access_token: new URLSearchParams(String(request.body)).get('scope'), expires_in: 3600 }) }) });
    const outgoing = { method: 'POST', url: new URL(url), headers: [], body: undefined };
    await provider.sign?.(outgoing, { apiKey, credentials }, host);
    return outgoing.headers;
  };
  assert.deepEqual(await signed('https://contoso.services.ai.azure.com/openai/v1/models', resource), ['api-key', 'key']);
  assert.deepEqual(await signed('https://contoso.services.ai.azure.com/anthropic/v1/messages', resource), ['x-api-key', 'key']);
  assert.deepEqual(await signed('https://a.eastus2.models.ai.azure.com/chat/completions', serverless), ['authorization', 'Bearer key']);
  assert.deepEqual(await signed('https://contoso.services.ai.azure.com/models/chat/completions', {}), ['api-key', 'key']);
  const application = { cloud3_entra_tenant_id: 't', cloud3_entra_client_id: 'azure-ai', cloud3_entra_client_secret: 's' };
  assert.deepEqual(await signed('https://llama.westus.inference.ml.azure.com/score', { ...managed, ...application }), ['authorization', 'Bearer https://ml.azure.com/.default']);
  assert.deepEqual(await signed('https://contoso.services.ai.azure.com/anthropic/v1/messages', { ...resource, ...application }), ['authorization', 'Bearer https://cognitiveservices.azure.com/.default']);
});

test('errors of claude and of azure', () => {
  assert.deepEqual(provider.error?.({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 529, () => undefined), { message: 'Overloaded', type: 'overloaded_error' });
  assert.deepEqual(provider.error?.({ error: { code: 'unauthorized', message: 'No' } }, 401, () => undefined), { message: 'No', code: 'unauthorized' });
});
