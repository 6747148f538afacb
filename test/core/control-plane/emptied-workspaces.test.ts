import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JobRunner } from '../../../core/control-plane/jobs.js';
import { jobs } from '../../../core/control-plane/resources/jobs.js';
import { CommitConflict } from '../../../core/storage/change.js';
import { tables } from '../../../core/storage/tables/index.js';
import { workspaces } from '../../../core/storage/tables/workspaces.js';
import { startControl, type TestControl } from '../../support/control.js';

const secret = 'sk-of-the-workspace-0123456789';

async function made(control: TestControl, method: string, path: string, body?: unknown): Promise<Record<string, any>> {
  const reply = await control.call(method, path, body);
  assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
  return reply.body;
}

/** One row of each kind that belongs to a workspace, or names it. */
async function fill(control: TestControl, workspace_id: string): Promise<void> {
  await made(control, 'POST', '/v1/integrations', { name: 'Own', slug: 'own', ai_provider_id: 'openai', key: secret, workspace_id });
  await made(control, 'POST', '/v1/virtual-keys', { name: 'Virtual', slug: 'virtual', provider: 'openai', key: secret, workspace_id });
  await made(control, 'POST', '/v1/guardrails', { name: 'Guardrail', slug: 'guard', checks: [{ id: 'default.regexMatch', parameters: { rule: 'x' } }], actions: {}, workspace_id });
  await made(control, 'POST', '/v1/configs', { name: 'Config', slug: 'pc-one', config: { provider: '@own', input_guardrails: ['guard', 'shared'] }, workspace_id });
  await made(control, 'PUT', '/v1/configs/pc-one', { config: { provider: '@own' }, workspace_id });
  for (let index = 0; index < 25; index += 1) await made(control, 'POST', '/v1/collections', { name: `Collection ${index}`, workspace_id });
  await made(control, 'POST', '/v1/prompts/partials', { name: 'Partial', slug: 'partial', string: 'text', workspace_id });
  await made(control, 'POST', '/v1/prompts', { name: 'Prompt', slug: 'pp-one', string: 'text', parameters: {}, model: 'm', virtual_key: 'virtual', workspace_id });
  await made(control, 'POST', '/v1/labels', { name: 'label', workspace_id });
  const policy = { conditions: [{ key: 'api_key', value: '*' }], group_by: [{ key: 'api_key' }], workspace_id };
  await made(control, 'POST', '/v1/policies/rate-limits', { ...policy, type: 'requests', unit: 'rpm', value: 1 });
  await made(control, 'POST', '/v1/policies/usage-limits', { ...policy, type: 'cost', credit_limit: 1 });
  await made(control, 'PUT', '/v1/integrations/shared/workspaces', { workspaces: [{ id: workspace_id, enabled: true }] });
  await made(control, 'PUT', '/v1/workspace-exclusions/input-guardrails', { workspaces: [workspace_id] });
}

const lists = ['configs', 'providers', 'virtual-keys', 'prompts', 'prompts/partials', 'labels', 'policies/rate-limits', 'policies/usage-limits', 'integrations?type=workspace'];

describe('a workspace that was deleted', () => {
  it('leaves nothing behind, and another one of its name keeps what it has', async () => {
    const control = await startControl();
    const runner = new JobRunner({ repository: control.repository, now: () => control.clock.nowMs, notify: () => {}, onFault: (_, thrown) => control.faults.push(thrown) }, jobs);
    await made(control, 'POST', '/v1/integrations', { name: 'Shared', slug: 'shared', ai_provider_id: 'openai', key: 'sk-of-the-organisation-0123456789' });
    await made(control, 'POST', '/v1/guardrails', { name: 'Shared', slug: 'shared', checks: [{ id: 'default.regexMatch', parameters: { rule: 'x' } }], actions: {} });
    const gone = await made(control, 'POST', '/v1/workspaces', { name: 'Red', slug: 'red' });
    await fill(control, 'red');
    const refusal = await control.call('DELETE', '/v1/workspaces/red', { name: 'Red' });
    assert.match(String(refusal.body.message), /1 config, 3 providers, 1 guardrail, 1 integration of its own, 1 prompt, 1 partial, 2 policies;/);
    await made(control, 'DELETE', '/v1/workspaces/red', { name: 'Red', force_delete: true });
    const anew = await made(control, 'POST', '/v1/workspaces', { name: 'Red', slug: 'red' });
    await fill(control, 'red');
    const before = await control.repository.sequence();
    await runner.runDue();

    for (const table of tables) for await (const { row } of control.repository.all(table)) assert.equal(table.name !== 'workspace' && JSON.stringify(row).includes(String(gone.id)), false, `${table.name} ${JSON.stringify(row)}`);
    for (const list of lists) {
      const { data, total } = await made(control, 'GET', `/v1/${list}`);
      const ids: string[] = data.map((row: Record<string, unknown>) => row.workspace_id).filter((id: unknown) => id !== null);
      assert.ok(ids.length > 0 && ids.every((id) => id === anew.id) && total === data.length, `${list}: ${JSON.stringify(data)}`);
    }
    assert.equal((await made(control, 'GET', '/v1/configs/pc-one')).workspace_id, anew.id, 'no second one of the slug is in the way');
    assert.equal((await made(control, 'GET', `/v1/workspaces/${String(gone.id)}`)).status, 'archived');
    assert.deepEqual([(await made(control, 'GET', '/v1/integrations/shared')).workspace_count, (await made(control, 'GET', '/v1/integrations/shared/workspaces')).total], [1, 1]);

    const done: unknown[] = [];
    for await (const { record } of control.repository.audit({ from: before })) if (record.user_type === 'gateway') done.push([record.action, record.workspace_id]);
    assert.deepEqual(done, [['emptied', gone.id]]);
    const after = await control.repository.sequence();
    await runner.runDue();
    assert.deepEqual([await control.repository.sequence(), control.faults], [after, []], 'it is done');
    await made(control, 'DELETE', '/v1/configs/pc-one');
    await made(control, 'DELETE', '/v1/guardrails/shared');
  });

  for (const [kind, fault, told] of [['fails', new Error('the store refuses'), 1], ['is changed meanwhile', new CommitConflict('stale', 'provider', 'one'), 0]] as const) {
    it(`that ${kind} while it is emptied holds up no other one, and is emptied later`, async () => {
      const control = await startControl();
      const { repository } = control;
      const runner = new JobRunner({ repository, now: () => control.clock.nowMs, notify: () => {}, onFault: (_, thrown) => control.faults.push(thrown) }, jobs);
      const gone: string[] = [];
      for (const slug of ['first', 'second']) {
        gone.push(String((await made(control, 'POST', '/v1/workspaces', { name: slug, slug })).id));
        await made(control, 'POST', '/v1/integrations', { name: 'Own', slug: `own-${slug}`, ai_provider_id: 'openai', key: secret, workspace_id: slug });
        await made(control, 'POST', '/v1/virtual-keys', { name: 'Virtual', slug: `virtual-${slug}`, provider: 'openai', key: secret, workspace_id: slug });
        await made(control, 'DELETE', `/v1/workspaces/${slug}`, { name: slug, force_delete: true });
      }
      const left = async (id: string | undefined): Promise<readonly string[]> => {
        const names: string[] = [];
        for (const table of tables) for await (const { row } of repository.all(table)) if (table.name !== 'workspace' && JSON.stringify(row).includes(String(id))) names.push(table.name);
        return names;
      };
      const commit = repository.commit.bind(repository);
      repository.commit = (change) => (change.rows.some(({ table, before, after }) => table.name === 'provider' && after === null && JSON.stringify(before?.row).includes(String(gone[0]))) ? Promise.reject(fault) : commit(change));
      await runner.runDue();
      assert.deepEqual([await left(gone[1]), (await repository.get(workspaces, String(gone[1])))?.row.isEmptied, control.faults], [[], true, told === 0 ? [] : [fault]]);
      assert.ok((await left(gone[0])).includes('integration'), 'what providers name goes after them');
      repository.commit = commit;
      await runner.runDue();
      assert.deepEqual([await left(gone[0]), control.faults.length], [[], told]);
    });
  }
});
