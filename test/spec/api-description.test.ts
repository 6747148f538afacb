import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { startTestGateway } from '../support/gateway.js';

const gateway = await startTestGateway({});

describe('the description of the API', () => {
  it('is there for anybody, below every version', async () => {
    const texts = await Promise.all(['/openapi.json', '/v1/openapi.json', '/v2/openapi.json'].map(async (path) => {
      const response = await fetch(gateway.url + path);
      assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/json']);
      return response.text();
    }));
    assert.equal(new Set(texts).size, 1);
    const { openapi, info, paths } = JSON.parse(texts[0] ?? '');
    const { version } = await (await fetch(`${gateway.url}/health`)).json() as { version: string };
    assert.deepEqual([openapi, info.version], ['3.1.0', version]);
    assert.ok(paths['/v1/chat/completions'].post && paths['/v1/configs'].post);
  });

  it('is read, and nothing else', async () => {
    const response = await fetch(`${gateway.url}/openapi.json`, { method: 'PUT', body: '{}' });
    assert.ok([401, 405].includes(response.status), String(response.status));
    assert.equal((await fetch(`${gateway.url}/openapi.json`, { headers: { 'x-gateway-api-key': 'no-such-key-of-this-gateway' } })).status, 401);
  });

  it('costs the threads that serve calls nothing until somebody asks', async () => {
    for (const file of ['control-thread.js', 'control-plane/dispatch.js', 'control-plane/resources/openapi/resource.js', 'thread.js', 'server/control-edge.js']) {
      const text = readFileSync(new URL(`../../core/${file}`, import.meta.url), 'utf8');
      assert.doesNotMatch(text, /^import .*openapi\/document/m, file);
    }
  });
});
