// Limits of how many rows there may be: they hold for calls that come at once, too.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { ratePolicies } from '../../../core/storage/tables/policies.js';
import { promptLabels } from '../../../core/storage/tables/prompts.js';
import { scimGroups } from '../../../core/storage/tables/scim-groups.js';
import { secretReferences } from '../../../core/storage/tables/secret-references.js';
import { firstApiKey, startControl, type TestReply } from '../../support/control.js';
import { heldTrace } from '../../support/memory-logs.js';
import { putRows, ratePolicyRow } from '../../support/rows.js';

const folder = mkdtempSync(join(tmpdir(), 'gateway-counted-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const control = await startControl({ exportsFolder: join(folder, 'exports') });
const { organisationId, workspaceId } = await control.callerOf(firstApiKey);

const atOnce = 8;
const every = { createdAtMs: 1, updatedAtMs: 1 };
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Statuses of calls that come at once, sorted. */
async function statusesOf(call: (index: number) => Promise<TestReply>): Promise<readonly number[]> {
  const statuses = (await Promise.all(numbers(atOnce).map(call))).map(({ status }) => status);
  return statuses.toSorted((left, right) => left - right);
}

const oneOf = (refused: number): readonly number[] => [200, ...numbers(atOnce - 1).map(() => refused)];

describe('calls at once', () => {
  it('make no more labels than a workspace may have', async () => {
    await putRows(control.repository, promptLabels, ...numbers(99).map((index) => ({ id: `label-${index}`, organisationId, workspaceId, slug: `label-${index}`, description: '', colorCode: '', createdBy: 'k', ...every })));
    assert.deepEqual(await statusesOf((index) => control.call('POST', '/v1/labels', { name: `more-${index}` }, { as: firstApiKey })), oneOf(400));
  });

  it('make, or bring back, no more policies than a workspace may have active', async () => {
    const policies = numbers(999 + atOnce).map((index) => ratePolicyRow(`01890000-0000-7000-8000-00000000${String(index).padStart(4, '0')}`, { organisationId, workspaceId, status: index < 999 ? 'active' : 'archived' }));
    await putRows(control.repository, ratePolicies, ...policies);
    const [conditions, groupBy] = [[{ key: 'metadata._user', value: '*' }], [{ key: 'metadata._user' }]];
    const rate = { conditions, group_by: groupBy, type: 'requests', unit: 'rpm', value: 60 };
    const usage = { conditions, group_by: groupBy, type: 'cost', credit_limit: 10 };
    const made = await statusesOf((index) => control.call('POST', `/v1/policies/${index % 2 === 0 ? 'rate' : 'usage'}-limits`, index % 2 === 0 ? rate : usage, { as: firstApiKey }));
    assert.deepEqual(made, oneOf(400));
    assert.equal((await control.call('DELETE', `/v1/policies/rate-limits/${policies[0]?.id ?? ''}`)).status, 200);
    assert.deepEqual(await statusesOf((index) => control.call('PUT', `/v1/policies/rate-limits/${policies[999 + index]?.id ?? ''}`, { status: 'active' })), oneOf(400));
  });

  it('start no more exports than a workspace may have under way', async () => {
    const ids: string[] = [];
    for (const index of numbers(9 + atOnce)) {
      const { body } = await control.call('POST', '/v1/logs/exports', { filters: index === 0 ? { trace_id: heldTrace } : {}, requested_data: ['id'] }, { as: firstApiKey });
      ids.push(String(body.id));
    }
    const start = (id: string | undefined): Promise<TestReply> => control.call('POST', `/v1/logs/exports/${id ?? ''}/start`, undefined, { as: firstApiKey });
    for (const id of ids.slice(0, 9)) assert.equal((await start(id)).status, 200);
    assert.deepEqual(await statusesOf((index) => start(ids[9 + index])), oneOf(409));
    assert.equal((await control.call('POST', `/v1/logs/exports/${ids[0] ?? ''}/cancel`, undefined, { as: firstApiKey })).status, 200);
    await control.exports?.idle();
  });

  it('make no more groups and secret references than the organisation may have', async () => {
    await putRows(control.repository, scimGroups, ...numbers(9_999).map((index) => ({ id: `group-${index}`, organisationId, name: `group-${index}`, ...every })));
    assert.deepEqual(await statusesOf((index) => control.call('POST', '/v1/scim/workspaces', { workspace_id: workspaceId, role: 'member', scim_group_name: `more-${index}` })), oneOf(409));
    const reference = { name: 'Key', manager_type: 'hashicorp_vault', secret_path: 'secret/data/key', secret_key: 'key', auth_config: { vault_auth_type: 'token', vault_addr: 'https://vault.example.com:8200', vault_token: 'token' } };
    const first = await control.call('POST', '/v1/secret-references', reference);
    assert.equal(first.status, 200, JSON.stringify(first.body));
    const row = (await control.repository.get(secretReferences, String(first.body.id)))?.row;
    assert.ok(row);
    await putRows(control.repository, secretReferences, ...numbers(1_998).map((index) => ({ ...row, id: `reference-${index}`, slug: `reference-${index}` })));
    assert.deepEqual(await statusesOf(() => control.call('POST', '/v1/secret-references', reference)), oneOf(400));
  });
});
