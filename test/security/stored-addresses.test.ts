// A stored secret goes where the stored rows say, whatever a call brings along.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestGateway } from '../support/gateway.js';
import { storedData } from '../support/stored.js';
import { chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const own = await startUpstream((_, response) => sendJson(response, 200, chatCompletion));
const foreign = await startUpstream((_, response) => sendJson(response, 200, chatCompletion));

/** Too long for a label of a host name: were it ever part of one, no name server would be asked. */
const other = 'x'.repeat(64);

const { rows, environment } = await storedData();
await rows.config('pc-key', { provider: 'openai', api_key: 'sk-of-the-config', custom_host: `${own.url}/v1` });
await rows.config('pc-below', { strategy: { mode: 'fallback' }, targets: [{ provider: 'anthropic', api_key: 'sk-of-the-config', custom_host: `${own.url}/v1` }] });
await rows.config('pc-secret', { provider: 'azure-openai', cloud3_ad_token: 'token-of-the-config', custom_host: `${own.url}/v1` });
await rows.config('pc-keyless', { provider: 'openai', custom_host: `${own.url}/v1` });
await rows.config('pc-azure', { provider: 'azure-openai', api_key: 'sk-of-the-config' });
await rows.config('pc-foundry', { provider: 'azure-ai', api_key: 'sk-of-the-config', cloud3_deployment_type: 'managed', cloud3_endpoint_name: 'llama', cloud3_region: 'westus' });
await rows.config('pc-anyone', { passthrough: true, api_key: 'sk-of-the-config' });
await rows.config('pc-anyone-below', { strategy: { mode: 'single' }, targets: [{ passthrough: true, api_key: 'sk-of-the-config', custom_host: '' }] });
await rows.integration('managed', { key: 'sk-of-the-integration' }, { aiProviderId: 'azure-ai', configurations: { cloud3_deployment_type: 'managed', cloud3_endpoint_name: 'llama', cloud3_region: 'westus' } });
await rows.provider('managed', 'managed');
await rows.integration('vertex', { key: 'token-of-the-integration' }, { aiProviderId: 'vertex-ai', configurations: { cloud2_project_id: 'p' } });
await rows.provider('vertex', 'vertex');
await rows.integration('keyless', {}, { aiProviderId: 'openai', customHost: `${foreign.url}/v1` });
await rows.provider('keyless', 'keyless');
await rows.key('key-of-addresses-0000');

const gateway = await startTestGateway({ ...environment, GATEWAY_TRUSTED_HOSTS: '127.0.0.1' });

async function call(headers: Readonly<Record<string, string>>): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST', headers: { 'x-gateway-api-key': 'key-of-addresses-0000', 'content-type': 'application/json', ...headers }, body: '{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":5}',
  });
  return { status: response.status, text: await response.text() };
}

describe('the secret of a stored config', () => {
  it('is not sent to the custom host of a call', async () => {
    for (const config of ['pc-key', 'pc-below', 'pc-secret']) {
      const { status, text } = await call({ 'x-gateway-config': config, 'x-gateway-custom-host': `${foreign.url}/v1` });
      assert.equal(status, 400, text);
      assert.match(text, /x-gateway-custom-host/, config);
    }
    assert.equal(foreign.received.length, 0);
    assert.equal((await call({ 'x-gateway-config': 'pc-keyless', 'x-gateway-custom-host': `${foreign.url}/v1`, authorization: 'Bearer sk-of-the-client' })).status, 200);
    assert.equal(foreign.received.at(-1)?.headers.authorization, 'Bearer sk-of-the-client');
    assert.equal((await call({ 'x-gateway-config': 'pc-key' })).status, 200);
    assert.equal(own.received.at(-1)?.headers.authorization, 'Bearer sk-of-the-config');
  });

  it('is not sent to an address that headers of a call make', async () => {
    for (const config of ['pc-azure', 'pc-foundry']) {
      const { status, text } = await call({ 'x-gateway-config': config, 'x-gateway-resource-name': other });
      assert.equal(status, 400, `${config}: ${text}`);
    }
  });

  it('is not sent to a provider that only the call names', async () => {
    const before = foreign.received.length;
    for (const config of ['pc-anyone', 'pc-anyone-below']) {
      for (const provider of ['@keyless', 'mock']) {
        const { status, text } = await call({ 'x-gateway-config': config, 'x-gateway-provider': provider });
        assert.equal(status, 400, `${config} ${provider}: ${text}`);
        assert.match(text, /leaves the provider to the call/);
      }
    }
    assert.equal(foreign.received.length, before);
  });
});

describe('the secret of an integration', () => {
  it('is not sent to an address that headers or the config of a call make', async () => {
    for (const headers of [
      { 'x-gateway-provider': '@managed', 'x-gateway-resource-name': other },
      { 'x-gateway-config': JSON.stringify({ provider: '@managed', resource_name: other }) },
      { 'x-gateway-provider': '@vertex', 'x-gateway-cloud2-region': other },
      { 'x-gateway-config': JSON.stringify({ provider: '@vertex', cloud2_region: other }) },
    ]) {
      const { status, text } = await call(headers);
      assert.equal(status, 400, `${JSON.stringify(headers)}: ${text}`);
      assert.match(text, /address/);
    }
  });
});
