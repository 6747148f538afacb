// Policies as rows: what they have used and how that is reset, how many there may be, and how they stand in a file.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SpendService } from '../../../core/control-plane/spend-service.js';
import { ratePolicies } from '../../../core/storage/tables/policies.js';
import { firstApiKey, startControl, type TestControl, type TestReply } from '../../support/control.js';
import { putRows, ratePolicyRow } from '../../support/rows.js';

const usage = { conditions: [{ key: 'model', value: '*' }], group_by: [{ key: 'metadata._user' }], type: 'cost', credit_limit: 10 };
const rate = { conditions: [{ key: 'provider', value: 'openai' }], group_by: [{ key: 'api_key' }], type: 'requests', unit: 'rpm', value: 5 };
const errorOf = ({ status, body }: TestReply): unknown[] => [status, Object(body.data).errorCode, Object(body.error).param];

/** What counters hold, by their keys. */
function fakeSpend(amounts: Map<string, number>): SpendService {
  return {
    used: (counterKey) => amounts.get(counterKey) ?? 0,
    reset: (counterKey) => { amounts.delete(counterKey); },
    entitiesOf: async function* entities(policyId) {
      for (const [key, used] of amounts) if (key.startsWith(`policy/${policyId}/`)) yield { valueKey: key.slice(`policy/${policyId}/`.length), used, isThresholdTold: key.endsWith(':bob'), isExhaustedTold: false };
    },
  };
}

async function made(control: TestControl, path: string, body: object): Promise<string> {
  const reply = await control.call('POST', path, body, { as: firstApiKey });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return String(reply.body.id);
}

async function data(control: TestControl, path: string): Promise<any> {
  const reply = await control.call('GET', path);
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return reply.body;
}

describe('a usage policy', () => {
  it('shows what each combination of values has used, and resets it', async () => {
    const amounts = new Map<string, number>();
    const control = await startControl({ spend: fakeSpend(amounts) });
    const { body } = await control.call('POST', '/v1/policies/usage-limits', { ...usage, alert_threshold: 5, workspace_id: 'first-workspace' });
    const path = `/v1/policies/usage-limits/${String(body.id)}`;
    for (const [user, dollars] of [['bob', 10], ['alice', 5.5], ['', 0.25], ['eve/x', 12]] as const) amounts.set(`policy/${String(body.id)}/metadata._user:${user}`, dollars * 100_000_000);
    amounts.set('policy/another/metadata._user:bob', 1);
    const { data: all, total } = await data(control, `${path}/entities`);
    assert.equal(total, 4);
    assert.deepEqual(all.map(({ value_key, current_usage, status }: any) => [value_key, current_usage, status]), [
      ['metadata._user:bob', 10, 'exhausted'], ['metadata._user:alice', 5.5, 'active'], ['metadata._user:', 0.25, 'active'], ['metadata._user:eve/x', 12, 'exhausted'],
    ]);
    assert.deepEqual([(await data(control, `${path}/entities?status=exhausted&page_size=1&current_page=1`)).data[0].value_key, (await data(control, `${path}/entities?search=ALI`)).total], ['metadata._user:eve/x', 1]);
    const { value_key_usage_map: map } = await data(control, `${path}?include_usage=true`);
    assert.deepEqual(map['metadata._user:alice'], { current_usage: 5.5, status: 'active', is_threshold_alerts_sent: false, is_exhausted_alerts_sent: false }, 'as the ledger says, not as the amounts do');
    assert.deepEqual(map['metadata._user:bob'], { current_usage: 10, status: 'exhausted', is_threshold_alerts_sent: true, is_exhausted_alerts_sent: false });

    assert.deepEqual(errorOf(await control.call('PUT', `${path}/entities/bm90aGluZw/reset`)).slice(0, 2), [404, 'AB08']);
    for (const refused of [await control.call('PUT', `${path}/entities/${all[3].id}/reset`, undefined, { ifMatch: '"9"' }), await control.call('PUT', path, { reset_usage_for_value: 'metadata._user:bob' }, { ifMatch: '"9"' })]) {
      assert.deepEqual([refused.status, amounts.size], [412, 5]);
    }
    assert.equal((await control.call('PUT', `${path}/entities/${all[3].id}/reset`)).status, 200);
    assert.equal((await control.call('PUT', path, { reset_usage_for_value: 'metadata._user:bob', credit_limit: 6 })).status, 200);
    assert.deepEqual((await data(control, `${path}/entities`)).data.map((each: any) => each.value_key), ['metadata._user:alice', 'metadata._user:']);
    assert.deepEqual(errorOf(await control.call('PUT', path, { reset_usage_for_value: 'metadata.user:bob' })), [404, 'AB02', 'reset_usage_for_value']);
    assert.deepEqual(control.faults, []);
  });

  it('gives other calls their turn while many entities are looked at', async () => {
    const amounts = new Map<string, number>();
    const control = await startControl({ spend: fakeSpend(amounts) });
    const id = await made(control, '/v1/policies/usage-limits', usage);
    for (let index = 0; index < 3_000; index += 1) amounts.set(`policy/${id}/metadata._user:${index}`, 1);
    let turns = 0;
    let isOver = false;
    const tick = (): void => { turns += 1; if (!isOver) setImmediate(tick); };
    setImmediate(tick);
    const { total, data: page } = await data(control, `/v1/policies/usage-limits/${id}/entities?search=_user:29&page_size=5`);
    isOver = true;
    assert.deepEqual([total, page.length], [111, 5]);
    assert.ok(turns >= 10, `${turns} turns`);
  });

  it('has no entities where nothing counts', async () => {
    const control = await startControl();
    const path = `/v1/policies/usage-limits/${await made(control, '/v1/policies/usage-limits', usage)}`;
    assert.deepEqual([(await data(control, `${path}/entities`)).data, (await data(control, `${path}?include_usage=true`)).value_key_usage_map], [[], {}]);
  });

  it('is reset at the times that it says', async () => {
    const control = await startControl();
    const resets = async (members: object): Promise<readonly unknown[]> => {
      const id = await made(control, '/v1/policies/usage-limits', { ...usage, ...members });
      control.clock.nowMs = Date.UTC(2030, 1, 13, 12);
      const { next_usage_reset_at: next, last_reset_at: last } = await data(control, `/v1/policies/usage-limits/${id}`);
      control.clock.nowMs = Date.UTC(2030, 0, 15, 12);
      return [next, last];
    };
    assert.deepEqual(await resets({}), [null, null]);
    assert.deepEqual(await resets({ periodic_reset: 'monthly' }), ['2030-03-01T00:00:00.000Z', '2030-02-01T00:00:00.000Z']);
    // Mondays.
    assert.deepEqual(await resets({ periodic_reset: 'weekly' }), ['2030-02-18T00:00:00.000Z', '2030-02-11T00:00:00.000Z']);
    assert.deepEqual(await resets({ periodic_reset_days: 10, next_usage_reset_at: '2030-01-20T17:30:00+02:00' }), ['2030-02-19T00:00:00.000Z', '2030-02-09T00:00:00.000Z']);
  });
});

describe('policies', () => {
  it('are at most 1,000 of a workspace, of both kinds together, archived ones left out', async () => {
    const control = await startControl();
    const { organisationId, workspaceId } = await control.callerOf(firstApiKey);
    const archived = await made(control, '/v1/policies/rate-limits', rate);
    assert.equal((await control.call('DELETE', `/v1/policies/rate-limits/${archived}`)).status, 200);
    const usagePath = `/v1/policies/usage-limits/${await made(control, '/v1/policies/usage-limits', usage)}`;
    await putRows(control.repository, ratePolicies, ...Array.from({ length: 999 }, (_, index) => ratePolicyRow(`row-${index}`, { organisationId, workspaceId })));
    const refused = await control.call('POST', '/v1/policies/rate-limits', rate, { as: firstApiKey });
    assert.deepEqual([...errorOf(refused), refused.body.message], [400, 'AB01', 'conditions', 'conditions is one too many: a workspace has at most 1000 active policies; archive some, or group by what they tell apart']);
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/policies/rate-limits/${archived}`, { status: 'active' })), [400, 'AB01', 'status']);
    assert.equal((await control.call('POST', '/v1/policies/rate-limits', rate)).status, 200, 'the organisation has room of its own');
    assert.equal((await control.call('DELETE', usagePath)).status, 200);
    assert.equal((await control.call('PUT', `/v1/policies/rate-limits/${archived}`, { status: 'active' })).status, 200);
  });

  it('stand in files by their names, and in an export as they can be applied again', async () => {
    const control = await startControl();
    const document = {
      usage_limits: [{ name: 'users', ...usage, periodic_reset: 'weekly' }],
      rate_limits: [{ name: 'calls', ...rate }, { name: 'tools', target: 'mcp_tools', conditions: [{ key: 'mcp_server', value: ['a', 'b'], excludes: 'b' }], type: 'requests', unit: 'rph', value: 9 }],
    };
    const shared = { workspace_id: null, rate_limits: [{ name: 'calls', ...rate, conditions: [{ key: 'workspace_id', value: '*' }] }] };
    const apply = async (documents: readonly object[], more: object = {}): Promise<readonly string[]> => {
      const { status, body } = await control.call('POST', '/v1/declarations/apply', { documents, ...more });
      assert.equal(status, 200, JSON.stringify(body));
      return (body.changes as any[]).map((each) => `${each.action} ${each.section} ${each.name}`);
    };
    assert.deepEqual(await apply([document, shared]), ['create usage_limits users', 'create rate_limits calls', 'create rate_limits tools', 'create rate_limits calls']);
    assert.deepEqual(await apply([document, shared]), []);
    const unnamed = await made(control, '/v1/policies/rate-limits', { ...rate, value: 7 });
    const { body } = await control.call('GET', '/v1/declarations/export');
    const exported: any[] = (body.documents as any[]).filter((each) => each.rate_limits !== undefined);
    assert.deepEqual(exported.map((each) => [each.workspace_id, each.usage_limits, each.rate_limits]), [
      [null, undefined, shared.rate_limits], ['first-workspace', document.usage_limits, [{ name: unnamed, ...rate, value: 7 }, ...document.rate_limits]],
    ]);
    assert.deepEqual(await apply([document, { rate_limits: [{ name: unnamed, ...rate, value: 8 }] }, shared], { prune: true }), [`update rate_limits ${unnamed}`]);
    assert.deepEqual(await apply([{ ...document, rate_limits: [{ ...document.rate_limits[0], unit: 'rpd' }] }, shared], { prune: true }), ['update rate_limits calls', 'remove rate_limits tools']);
    const other = await control.call('POST', '/v1/declarations/apply', { documents: [{ usage_limits: [{ ...document.usage_limits[0], type: 'tokens', credit_limit: 100 }] }] });
    assert.deepEqual(errorOf(other).slice(0, 2), [400, 'AB01']);
    assert.match(String(other.body.message), /usage-limits-policy users: type cannot be changed/);
    assert.deepEqual(control.faults, []);
  });
});
