// What is not a JSON object in x-gateway-metadata is refused as such, whoever asks for metadata: policies, defaults of a key, or nobody.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { usagePolicies } from '../../core/storage/tables/policies.js';
import { startTestGateway } from '../support/gateway.js';
import { putRows, usagePolicyRow } from '../support/rows.js';
import { noDefaults, storedData } from '../support/stored.js';
import { answerChat, startUpstream } from '../support/upstream.js';

const plain = 'metadata-key-without-defaults-1';
const governed = 'metadata-key-with-defaults-0001';
const upstream = await startUpstream(answerChat);
const { rows, environment } = await storedData();
await rows.integration('main', { key: 'sk-1' }, { customHost: `${upstream.url}/v1` });
await rows.provider('main', 'main');
await rows.key(plain, { id: '00000000-0000-4000-8000-0000000000a1', scopes: ['completions.write'] });
await rows.key(governed, { id: '00000000-0000-4000-8000-0000000000a2', scopes: ['completions.write'], usageLimits: { type: 'tokens', credit_limit: 1_000_000 }, defaults: { ...noDefaults, metadata: { team: 'red' } } });
for (const [index, groupBy] of [['metadata._user'], ['metadata.team', 'model']].entries()) {
  await putRows(rows.repository, usagePolicies, usagePolicyRow(`policy-${index}`, {
    organisationId: rows.organisationId, workspaceId: rows.workspaceId, conditions: [{ key: 'metadata.team', value: '*' }], groupBy: groupBy.map((key) => ({ key })), type: 'requests', creditLimit: 1_000,
  }));
}
const gateway = await startTestGateway({ ...environment, GATEWAY_EXPORTERS: 'store', GATEWAY_HEADERS_TO_METADATA: 'x-team:team,baggage' });

const malformed = ['{', '{"team":', 'red', '[]', '["red"]', '5', '"red"', 'null', 'true', '{"team":"red"', '{"team":"red"}}', "{'team':'red'}", ','];

describe('x-gateway-metadata that is not a JSON object', () => {
  for (const [of, key] of [['a key', plain], ['a key with metadata and a budget of its own', governed]] as const) {
    for (const [where, more] of [['alone', {}], ['beside other headers of metadata', { 'x-team': 'blue', baggage: 'team=green' }]] as const) {
      for (const [body, members] of [['a body', {}], ['a body that names its user', { user: 'bob' }]] as const) {
        it(`is a bad request, with ${of}, ${where}, with ${body}`, async () => {
          for (const metadata of malformed) {
            const response = await fetch(`${gateway.url}/v1/chat/completions`, {
              method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, 'x-gateway-provider': '@main', 'x-gateway-metadata': metadata, ...more },
              body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...members }),
            });
            const said = await response.text();
            assert.equal(response.status, 400, `${metadata}: ${said}`);
            assert.match(said, /"param":"x-gateway-metadata"/, metadata);
          }
        });
      }
    }
  }

  it('is refused before anything is sent, and passed over when there is nothing in it', async () => {
    assert.equal(upstream.received.length, 0);
    for (const metadata of ['', '{}', '{"team":5}', '{"team":{"deep":[]}}', '{"__proto__":{"team":"x"}}']) {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': governed, 'x-gateway-provider': '@main', 'x-gateway-metadata': metadata }, body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
      });
      const said = await response.text();
      assert.equal(response.status, 200, `${metadata}: ${said}`);
    }
  });

  it('is a bad request whatever is asked for, and whatever is wrong beside it', async () => {
    const calls = [['GET', '/v1/models', undefined], ['POST', '/v1/chat/completions', '{"model":'], ['POST', '/v1/embeddings', '{"model":"m","input":"hi"}'], ['POST', '/v1/proxy/some/path', 'hi'], ['GET', '/v1/files', undefined]] as const;
    for (const [method, path, body] of calls) {
      const response = await fetch(gateway.url + path, {
        method, headers: { 'content-type': 'application/json', 'x-gateway-api-key': governed, 'x-gateway-provider': '@main', 'x-gateway-metadata': '{"team"' }, ...(body === undefined ? {} : { body }),
      });
      assert.deepEqual([response.status, /"param":"x-gateway-metadata"/.test(await response.text())], [400, true], path);
    }
  });
});
