import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { components, paths } from '@gateway/plugin-sdk/api';
import createClient from 'openapi-fetch';
import { clientTypesFile, makeClientTypes } from '../../support/client-types.js';
import { adminKey, startTestGateway } from '../../support/gateway.js';
import { readText } from '../../tidy/sources.js';

const gateway = await startTestGateway({});
const client = createClient<paths>({ baseUrl: gateway.url, headers: { 'x-gateway-api-key': adminKey } });

describe('the types of the API for clients', () => {
  it('are those of the definitions', async () => {
    assert.ok(await makeClientTypes() === readText(clientTypesFile), 'stale; run: node dist/test/support/print-client-types.js --write, and commit the file');
  });

  it('let a client make, read, change, list and remove a row', async () => {
    const body: components['schemas']['CreateConfigBody'] = { name: 'Typed', config: { provider: 'mock' }, workspace_id: 'first-workspace' };
    const made = await client.POST('/v1/configs', { body });
    assert.ok(made.data, JSON.stringify(made.error));
    const path = { slug: made.data.slug };
    const read = await client.GET('/v1/configs/{slug}', { params: { path } });
    assert.equal(read.data?.name satisfies string | undefined, 'Typed');
    const version: number | undefined = read.data?.version;
    assert.equal(version, 1);
    const changed = await client.PUT('/v1/configs/{slug}', { params: { path, header: { 'if-match': read.response.headers.get('etag') ?? '' } }, body: { name: 'Named anew' } });
    assert.equal(changed.response.status, 200);
    const listed = await client.GET('/v1/configs', { params: { query: { search: 'anew', page_size: 5 } } });
    assert.deepEqual(listed.data?.data.map(({ name }) => name), ['Named anew']);
    assert.deepEqual((await client.DELETE('/v1/configs/{slug}', { params: { path } })).data, {});
  });

  it('tell refusals from answers', async () => {
    const { data, error } = await client.GET('/v1/configs/{slug}', { params: { path: { slug: 'no-such' } } });
    assert.deepEqual([data, error?.error.code, error?.success], [undefined, 'AB08', false]);
  });

  it('refuse what the gateway would refuse', () => {
    // @ts-expect-error there is no such path
    const path: keyof paths = '/v1/cofnigs';
    // @ts-expect-error config is required
    const body: components['schemas']['CreateConfigBody'] = { name: 'Without' };
    // @ts-expect-error there is no such member
    const other: components['schemas']['CreateConfigBody'] = { config: {}, nmae: 'x' };
    assert.ok(path && body && other);
  });
});
