// What clients and configs write into a provider's path stays below it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ParameterError, pathSegment, pathSegments } from '@gateway/plugin-sdk';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { sendJson, startUpstream } from '../support/upstream.js';

const upstream = await startUpstream((_, response) => sendJson(response, 200, {}));
const gateway = await startTestGateway();
/** Trusts another port of the same machine. */
const strict = await startTestGateway({ GATEWAY_TRUSTED_HOSTS: '127.0.0.1:9' });

type Members = Readonly<Record<string, unknown>>;
const aws = { cloud1_access_key_id: 'AKIA', cloud1_secret_access_key: 's', cloud1_region: 'us-east-1' };
/** Providers with the model in their path, and the first part of it. */
const targets: readonly (readonly [name: string, target: Members, base: string])[] = [
  ['google', { provider: 'google', api_key: 'k' }, '/base/models/'],
  ['vertex-ai', { provider: 'vertex-ai', api_key: 'k', cloud2_project_id: 'p', cloud2_region: 'us-central1' }, '/base/projects/p/locations/us-central1/publishers/google/models/'],
  ['azure-openai', { provider: 'azure-openai', api_key: 'k', api_version: '2024-10-21' }, '/base/deployments/'],
  ['bedrock', { provider: 'bedrock', ...aws }, '/base/model/'],
];

async function call(target: Members, model: string): Promise<{ status: number; error: any; url: string }> {
  upstream.received.length = 0;
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ custom_host: `${upstream.url}/base`, ...target }) },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] }),
  });
  const text = await response.text();
  return { status: response.status, error: JSON.parse(text).error, url: upstream.received[0]?.url ?? '' };
}

describe('a model in a path', () => {
  for (const [name, target, base] of targets) {
    it(`of ${name} is refused when it is not a segment of one`, async () => {
      for (const model of ['.', '..', 'a\u0000b', 'a\nb', '\ud800', 'x\udc00y']) {
        const { status, error, url } = await call(target, model);
        assert.deepEqual([status, error?.param, url], [400, 'model', ''], JSON.stringify(model));
        assert.match(error.message, /path/);
      }
    });

    it(`of ${name} cannot lead out of it`, async () => {
      for (const model of ['../..', '../../secret', 'a/../../../b', '..%2f..', '%2e%2e', 'a b?c#d&e=f', 'ü/x']) {
        const { status, url } = await call(target, model);
        if (status === 400) continue;
        assert.ok(url.startsWith(base) || (name === 'vertex-ai' && url.includes('/endpoints/openapi/')), `${model}: ${url}`);
        assert.ok(new URL(url, 'http://x').pathname.startsWith('/base/'), url);
        assert.ok(!/\/\.\.?(?:\/|:|$|\?)/.test(new URL(url, 'http://x').pathname), url);
      }
      assert.equal((await call(target, 'plain-model')).status < 500, true);
      assert.ok(upstream.received[0]?.url.startsWith(`${base}plain-model`), upstream.received[0]?.url);
    });
  }

  it('that is made of segments is refused for one of them', async () => {
    for (const model of ['../..', 'tunedModels/../x', 'a//b']) assert.deepEqual((({ status, url }) => [status, url])(await call({ provider: 'google', api_key: 'k' }, model)), [400, ''], model);
  });
});

describe('a credential in a path', () => {
  it('is refused by its name when it is not a segment', async () => {
    for (const [target, param] of [
      [{ provider: 'vertex-ai', api_key: 'k', cloud2_project_id: '..', cloud2_region: 'us-central1' }, 'cloud2_project_id'],
      [{ provider: 'vertex-ai', api_key: 'k', cloud2_project_id: '\ud800', cloud2_region: 'us-central1' }, 'cloud2_project_id'],
      [{ provider: 'azure-openai', api_key: 'k', api_version: '\ud800' }, 'api_version'],
    ] as const) {
      const { status, error, url } = await call(target, 'm');
      assert.deepEqual([status, error?.param, url], [400, param, '']);
    }
  });
});

describe('pathSegment', () => {
  it('encodes what a segment may not hold as it is', () => {
    assert.equal(pathSegment('meta/llama 3.1?#%ü👋'), 'meta%2Fllama%203.1%3F%23%25%C3%BC%F0%9F%91%8B');
    assert.equal(pathSegments('publishers/meta models/llama:1'), 'publishers/meta%20models/llama%3A1');
    for (const dots of ['...', '.a', 'a.', '..a']) assert.equal(pathSegment(dots), dots);
  });

  it('refuses what no segment can be, and names the parameter', () => {
    for (const text of ['', '.', '..', '\u007f', '\ud800', 'a\udfff']) {
      assert.throws(() => pathSegment(text, 'deployment_id'), (thrown) => thrown instanceof ParameterError && thrown.path === 'deployment_id');
    }
    for (const text of ['/a', 'a/', 'a//b', 'a/../b', './a']) assert.throws(() => pathSegments(text), ParameterError);
  });
});

describe('a provider on the gateway\'s own machine', () => {
  it('is reached without host and key, but like an address of the request: only where the operator trusts it', async () => {
    for (const headers of [{ 'x-gateway-provider': 'ollama' }, { 'x-gateway-config': '{"provider":"ollama"}' }]) {
      const response = await fetch(`${strict.url}/v1/chat/completions`, {
        method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, ...headers }, body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] }),
      });
      const { error } = JSON.parse(await response.text());
      assert.deepEqual([response.status, error.code], [403, 'egress_refused'], error.message);
      assert.match(error.message, /127\.0\.0\.1:11434: it is a loopback address; the operator can allow it in GATEWAY_TRUSTED_HOSTS/);
    }
  });
});
