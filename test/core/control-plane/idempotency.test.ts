import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startControl } from '../../support/control.js';
import { idempotency } from '../../../core/storage/tables/idempotency.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';

const path = '/v1/api-keys/workspace/service';
const body = { name: 'Again', scopes: ['completions.write'], workspace_id: 'first-workspace' };
const dayMs = 86_400_000;

describe('an idempotency key', () => {
  it('gives the same reply to the same call, with the secret that is shown once, and makes nothing more', async () => {
    const control = await startControl();
    const keys = await control.repository.count(apiKeys);
    const first = await control.call('POST', path, body, { idempotencyKey: 'one' });
    assert.equal(first.status, 200, JSON.stringify(first.body));
    assert.equal(first.headers.includes('x-gateway-idempotent-replay'), false);
    for (const form of [path, '/v2/api-keys/workspace/service', '/api-keys/workspace/service/']) {
      const again = await control.call('POST', form, body, { idempotencyKey: 'one' });
      assert.deepEqual([again.status, again.body, again.headers.slice(-2)], [200, first.body, ['x-gateway-idempotent-replay', 'true']]);
    }
    assert.equal(await control.repository.count(apiKeys), keys + 1);
    assert.notEqual((await control.call('POST', path, body, { idempotencyKey: 'two' })).body.id, first.body.id);
    assert.notEqual((await control.call('POST', path, body)).body.id, first.body.id);
    assert.deepEqual(control.faults, []);
  });

  it('gives no reply to a caller who may not make the call any more', async () => {
    const control = await startControl();
    const maker = await control.call('POST', path, { ...body, scopes: ['workspace_service_api_keys.create', 'workspace_user_api_keys.create', 'completions.write'] });
    const as = String(maker.body.key);
    const call = { name: 'made', scopes: ['completions.write'] };
    const first = await control.call('POST', path, call, { as, idempotencyKey: 'one' });
    assert.deepEqual((await control.call('POST', path, call, { as, idempotencyKey: 'one' })).body, first.body);
    for (const scopes of [['workspace_user_api_keys.create', 'completions.write'], ['workspace_service_api_keys.create']]) {
      assert.equal((await control.call('PUT', `/v1/api-keys/${String(maker.body.id)}`, { scopes })).status, 200);
      const refused = await control.call('POST', path, call, { as, idempotencyKey: 'one' });
      assert.deepEqual([refused.status, Object(refused.body.error).code, JSON.stringify(refused.body).includes(String(first.body.key))], [403, 'AB03', false], String(scopes));
    }
    const keys = await control.repository.count(apiKeys);
    await control.call('PUT', `/v1/api-keys/${String(maker.body.id)}`, { scopes: ['workspace_service_api_keys.create', 'completions.write'] });
    assert.deepEqual((await control.call('POST', path, call, { as, idempotencyKey: 'one' })).body, first.body);
    // What came of the call itself is no reason: the slug is taken, by the one that was made.
    const provider = { name: 'x', slug: 'again', ai_provider_id: 'openai', key: 'sk-1', workspace_id: 'first-workspace' };
    const made = await control.call('POST', '/v1/integrations', provider, { idempotencyKey: 'one' });
    assert.deepEqual((await control.call('POST', '/v1/integrations', provider, { idempotencyKey: 'one' })).body, made.body);
    assert.equal(await control.repository.count(apiKeys), keys);
    assert.deepEqual(control.faults, []);
  });

  it('of another call is refused, and one that is not a key', async () => {
    const control = await startControl();
    await control.call('POST', path, body, { idempotencyKey: 'one' });
    const other = await control.call('POST', path, { ...body, name: 'Other' }, { idempotencyKey: 'one' });
    assert.deepEqual([other.status, Object(other.body.error).param], [409, 'idempotency-key']);
    for (const idempotencyKey of ['', 'x'.repeat(256), 'ü']) assert.equal((await control.call('POST', path, body, { idempotencyKey })).status, 400);
    assert.equal((await control.call('POST', path, body, { idempotencyKey: 'x'.repeat(255) })).status, 200);
  });

  it('runs one of many calls at once, and does not keep a refusal', async () => {
    const control = await startControl();
    const refused = await control.call('POST', path, { ...body, workspace_id: 'nowhere' }, { idempotencyKey: 'many' });
    assert.equal(refused.status, 404);
    const replies = await Promise.all(Array.from({ length: 20 }, () => control.call('POST', path, body, { idempotencyKey: 'many' })));
    assert.equal(new Set(replies.map((reply) => reply.body.key)).size, 1);
    assert.equal(replies.filter(({ headers }) => headers.includes('x-gateway-idempotent-replay')).length, 19);
  });

  it('is kept for a day, sealed, and swept', async () => {
    const control = await startControl();
    const { body: made } = await control.call('POST', path, body, { idempotencyKey: 'one' });
    const [kept] = await control.repository.list(idempotency, { limit: 10 });
    assert.ok(kept);
    assert.equal(JSON.stringify(kept.row).includes(String(made.key)), false);
    control.clock.nowMs += dayMs - 1;
    assert.equal((await control.call('POST', path, body, { idempotencyKey: 'one' })).body.id, made.id);
    control.clock.nowMs += 60_000;
    await control.call('POST', path, body, { idempotencyKey: 'two' });
    for (let turn = 0; turn < 100 && await control.repository.count(idempotency) > 1; turn += 1) await new Promise((resolve) => { setImmediate(resolve); });
    assert.equal(await control.repository.count(idempotency), 1);
    assert.notEqual((await control.call('POST', path, body, { idempotencyKey: 'one' })).body.id, made.id);
  });
});
