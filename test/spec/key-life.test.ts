// Keys over time in a running gateway: a policy that was due while it was down, the new secret, the old one, and their end.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { bootstrap } from '../../core/auth/bootstrap.js';
import { hashKey, makeKey, maskedKey, prefixOf } from '../../core/auth/key.js';
import { scopesOfType } from '../../core/auth/scopes.js';
import { newId } from '../../core/storage/new-id.js';
import { prepareStore } from '../../core/storage/prepare-store.js';
import { Repository } from '../../core/storage/repository.js';
import { apiKeys } from '../../core/storage/tables/api-keys.js';
import { tables } from '../../core/storage/tables/index.js';
import { workspaces } from '../../core/storage/tables/workspaces.js';
import lmdb from '../../plugins/storage/lmdb/plugin.js';
import { adminKey, apiKey, startTestGateway } from '../support/gateway.js';
import { keyRow, putRows } from '../support/rows.js';

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-rotation-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));
const [key, id] = [makeKey(), newId()];
const storage = await lmdb.create({ path: dataDir }, fakeHost());
const repository = new Repository(await storage.open('control'));
await prepareStore(repository, tables);
await bootstrap(repository, { adminKey, apiKey });
const [first] = await repository.list(workspaces, { limit: 1 });
assert.ok(first);
await putRows(repository, apiKeys, keyRow('a', {
  id, organisationId: first.row.organisationId, workspaceId: first.row.id, keyHash: hashKey(key), keyPrefix: prefixOf(key), keyMasked: maskedKey(key), defaults: { metadata: {}, config_id: null, provider: 'mock', allow_config_override: true },
  rotationPolicy: { rotation_period: 'weekly', next_rotation_at: new Date(Date.now() - 60_000).toISOString() },
}));
const archived = { ...first.row, id: newId(), slug: 'old', name: 'Old', isDefault: false, status: 'archived' as const };
await putRows(repository, workspaces, archived);
const left = makeKey();
await putRows(repository, apiKeys, keyRow('b', {
  id: newId(), organisationId: first.row.organisationId, workspaceId: archived.id, keyHash: hashKey(left), keyPrefix: prefixOf(left), keyMasked: maskedKey(left), scopes: scopesOfType['workspace-service'],
}));
await storage.close?.();
const { url } = await startTestGateway({ GATEWAY_DATA_DIR: dataDir }, { hasControlThread: true });

const control = async (method: string, path: string, as = adminKey): Promise<{ readonly status: number; readonly body: any }> => {
  const response = await fetch(url + path, { method, headers: { 'x-gateway-api-key': as } });
  return { status: response.status, body: await response.json() };
};
/** The provider is the key's own. */
const statusOfCall = async (as: string): Promise<number> => {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST', headers: { 'x-gateway-api-key': as, 'content-type': 'application/json' }, body: '{"model":"mock","messages":[{"role":"user","content":"Hello"}]}',
  });
  await response.arrayBuffer();
  return response.status;
};
/** Answers are awaited in between, for a minute at most. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + 60_000;
  while (!await holds()) assert.ok(performance.now() < untilMs, 'it did not come');
}

describe('a key that is left of an archived workspace', () => {
  it('reaches nothing any more, neither models nor the control plane', async () => {
    assert.equal(await statusOfCall(left), 403);
    for (const path of ['/v1/workspaces/old', '/v1/workspaces', '/v1/api-keys', '/v1/configs']) assert.equal((await control('GET', path, left)).status, 403, path);
  });
});

describe('a key whose rotation is due', () => {
  it('is rotated by the gateway; both secrets work until the transition ends, and none when the key is removed', async () => {
    await until(async () => (await control('GET', `/v1/api-keys/${id}`)).body.rotation_policy.status === 'UNCLAIMED');
    const { key_transition_expires_at } = (await control('GET', `/v1/api-keys/${id}`)).body;
    assert.ok(Date.parse(key_transition_expires_at) > Date.now() + 25 * 60_000);
    await until(async () => await statusOfCall(key) === 200);
    const claimed = await control('POST', `/v1/api-keys/${id}/rotate`);
    assert.deepEqual([claimed.status, claimed.body.key_transition_expires_at], [200, key_transition_expires_at]);
    await until(async () => await statusOfCall(claimed.body.key) === 200);
    assert.equal(await statusOfCall(key), 200);
    assert.equal((await control('DELETE', `/v1/api-keys/${id}`)).status, 200);
    await until(async () => await statusOfCall(key) === 401);
    assert.equal(await statusOfCall(claimed.body.key), 401);
  });
});
