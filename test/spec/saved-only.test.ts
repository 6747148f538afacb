// Settings of the organisation that let calls name what is stored and bring nothing of their own along.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adminKey, apiKey, startTestGateway } from '../support/gateway.js';
import { storedData } from '../support/stored.js';
import { chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const upstream = await startUpstream((_, response) => sendJson(response, 200, chatCompletion));
const host = `${upstream.url}/v1`;
const { rows, environment } = await storedData();
await rows.integration('main', { key: 'sk-stored' }, { customHost: host });
await rows.provider('main', 'main');
await rows.config('pc-main', { provider: '@main' });
const gateway = await startTestGateway(environment);

const inline = JSON.stringify({ provider: 'openai', api_key: 'sk-inline', custom_host: host });
const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] });

async function enforce(settings: Readonly<Record<string, boolean>>): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/admin/organisation`, {
    method: 'PUT', headers: { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' }, body: JSON.stringify({ settings }),
  });
  assert.equal(response.status, 200, await response.text());
}

async function call(headers: Readonly<Record<string, string>>): Promise<readonly [status: number, code: unknown, param: unknown]> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: { 'x-gateway-api-key': apiKey, 'content-type': 'application/json', ...headers }, body });
  const { error }: { error?: { code?: unknown; param?: unknown } } = Object(await response.json());
  return [response.status, error?.code, error?.param];
}

const stored = { 'x-gateway-config': 'pc-main' };
const cases: readonly [setting: string, headers: Readonly<Record<string, string>>, code: string, param: string][] = [
  ['enforce_saved_configs', { 'x-gateway-config': inline }, 'inline_config_blocked', 'x-gateway-config'],
  ['enforce_saved_providers', { 'x-gateway-provider': 'openai', 'x-gateway-custom-host': host, authorization: 'Bearer sk' }, 'inline_provider_blocked', 'x-gateway-provider'],
  ['enforce_saved_providers', { 'x-gateway-config': JSON.stringify({ strategy: { mode: 'fallback' }, targets: [{ provider: '@main' }, { provider: 'openai', api_key: 'k' }] }) }, 'inline_provider_blocked', 'config.targets[1].provider'],
  ['enforce_saved_custom_hosts', { 'x-gateway-provider': 'openai', 'x-gateway-custom-host': host, authorization: 'Bearer sk' }, 'inline_custom_host_blocked', 'x-gateway-custom-host'],
  ['enforce_saved_custom_hosts', { 'x-gateway-config': inline }, 'inline_custom_host_blocked', 'config.custom_host'],
  ['enforce_saved_forward_headers', { ...stored, 'x-gateway-forward-headers': 'x-mine' }, 'inline_forward_headers_blocked', 'x-gateway-forward-headers'],
  ['enforce_saved_forward_headers', { 'x-gateway-config': JSON.stringify({ provider: '@main', forward_headers: ['x-mine'] }) }, 'inline_forward_headers_blocked', 'config.forward_headers'],
];

describe('saved-only settings', () => {
  for (const [setting, headers, code, param] of cases) {
    it(`${setting}: ${param} is refused, what is stored goes on`, async () => {
      await enforce({ [setting]: false });
      const before = await call(headers);
      assert.notEqual(before[1], code);
      await enforce({ [setting]: true });
      assert.deepEqual(await call(headers), [400, code, param]);
      assert.deepEqual((await call(stored))[0], 200);
      assert.deepEqual((await call({ 'x-gateway-provider': '@main' }))[0], 200);
      await enforce({ [setting]: false });
      assert.deepEqual(await call(headers), before);
    });
  }

  it('enforce_saved_provider_urls: an address in the place of a provider is refused by its own name', async () => {
    await enforce({ enforce_saved_provider_urls: true });
    assert.deepEqual(await call({ 'x-gateway-provider': 'https://models.example/v1' }), [400, 'inline_provider_url_blocked', 'x-gateway-provider']);
    await enforce({ enforce_saved_provider_urls: false });
  });
});
