// Guardrails as rows: what defaults and configs may name, what may go, and how they stand in a file.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { guardrails } from '../../../core/storage/tables/guardrails.js';
import { absentSecret } from '../../../core/storage/sealer.js';
import { startControl, type TestControl, type TestReply } from '../../support/control.js';
import { everyByte } from '../../support/every-byte.js';
import { putRows } from '../../support/rows.js';

const words = { id: 'default.wordCount', parameters: { minWords: 1 } };
const errorOf = ({ status, body }: TestReply): unknown[] => [status, Object(body.data).errorCode, Object(body.error).param];

async function made(control: TestControl, body: object = {}): Promise<Record<string, any>> {
  const reply = await control.call('POST', '/v1/guardrails', { name: 'Words', checks: [words], actions: {}, ...body });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return reply.body;
}

describe('a stored guardrail', () => {
  it('keeps its version while it says the same, in whatever words', async () => {
    const control = await startControl();
    const { id, version_id: version } = await made(control, { checks: [{ id: words.id, parameters: { minWords: 1, maxWords: 9 } }], actions: { deny: true } });
    for (const same of [{ name: 'Words' }, { actions: { on_fail: 'deny', on_success: 'continue' } }, { checks: [{ parameters: { maxWords: 9, minWords: 1 }, id: words.id, is_enabled: true }] }]) {
      assert.equal((await control.call('PUT', `/v1/guardrails/${id}`, same)).body.version_id, version, JSON.stringify(same));
    }
    assert.notEqual((await control.call('PUT', `/v1/guardrails/${id}`, { actions: { deny: true, async: true } })).body.version_id, version);
    assert.deepEqual(control.faults, []);
  });

  it('is demanded with no more checks than a call may have', async () => {
    const control = await startControl();
    const slugs: string[] = [];
    for (const slug of ['one', 'two', 'three']) slugs.push((await made(control, { slug, checks: Array(100).fill(words) })).slug);
    for (const path of ['/v1/admin/organisation/defaults', '/v1/workspaces/first-workspace']) {
      const put = (names: readonly string[]): Promise<TestReply> => control.call('PUT', path, path.includes('defaults') ? { input_guardrails: names } : { defaults: { input_guardrails: names } });
      const refused = await put(slugs);
      assert.deepEqual(errorOf(refused), [400, 'AB01', path.includes('defaults') ? 'input_guardrails.2' : 'defaults.input_guardrails.2'], path);
      assert.equal((await put([...slugs.slice(0, 2)])).status, 200);
    }
    assert.equal((await control.call('PUT', '/v1/guardrails/three', { checks: [{ ...words }, ...Array(99).fill({ ...words, is_enabled: false })] })).status, 200);
    assert.equal((await control.call('PUT', '/v1/admin/organisation/defaults', { input_guardrails: slugs })).status, 200);
  });

  it('takes feedback and denial in either form', async () => {
    const control = await startControl();
    const actionsOf = async (actions: object): Promise<Record<string, any>> => (await control.call('GET', `/v1/guardrails/${(await made(control, { actions })).id}`)).body.actions as never;
    const long = await actionsOf({ deny: true, on_success: { feedback: { value: 1, weight: 0.5, metadata: { user: 'a' } } }, on_fail: { deny: true, feedback: { value: -1 } } });
    assert.deepEqual(long, {
      deny: true, async: false, sequential: false, soft_deny_200: false,
      on_success: { feedback: { value: 1, weight: 0.5, metadata: { user: 'a' } }, deny: false }, on_fail: { feedback: { value: -1, weight: 1, metadata: {} } },
    });
    assert.equal((await actionsOf({ on_success: 'deny' })).on_success.deny, true);
  });

  it('whose checks were lost can be stored again, and is named as what it is until then', async () => {
    const control = await startControl();
    const { id } = await made(control);
    const stored = await control.repository.get(guardrails, id);
    assert.ok(stored !== undefined);
    await putRows(control.repository, guardrails, { ...stored.row, sealedDefinition: absentSecret });
    assert.deepEqual(errorOf(await control.call('GET', `/v1/guardrails/${id}`)), [409, 'AB07', null]);
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/guardrails/${id}`, { name: 'Only' })), [409, 'AB07', null]);
    assert.equal((await control.call('PUT', `/v1/guardrails/${id}`, { checks: [words], actions: {} })).status, 200);
    assert.equal((await control.call('GET', `/v1/guardrails/${id}`)).status, 200);
    assert.deepEqual(control.faults, []);
  });

  it('of a workspace is nothing that the organisation or another workspace can demand', async () => {
    const control = await startControl();
    const { slug } = await made(control, { workspace_id: 'first-workspace' });
    assert.deepEqual(errorOf(await control.call('PUT', '/v1/admin/organisation/defaults', { output_guardrails: [slug] })), [404, 'AB02', 'output_guardrails.0']);
    await control.call('POST', '/v1/workspaces', { name: 'Other', slug: 'other' });
    assert.deepEqual(errorOf(await control.call('PUT', '/v1/workspaces/other', { defaults: { output_guardrails: [slug] } })), [404, 'AB02', 'defaults.output_guardrails.0']);
    assert.equal((await control.call('PUT', '/v1/workspaces/first-workspace', { defaults: { output_guardrails: [slug] } })).status, 200);
  });

  it('stands in a file, with its secrets as variables', async () => {
    const control = await startControl();
    const secret = 'judge-key-0123456789-marked';
    const file = {
      configs: [{ slug: 'main', config: { provider: 'mock', api_key: 'k', input_guardrails: [{ id: 'local', deny: true }], after_request_hooks: [{ id: 'shared' }] } }],
      organisation: { defaults: { input_guardrails: ['shared'] } },
      guardrails: [
        { slug: 'local', name: 'Local', checks: [{ id: 'default.webhook', parameters: { webhookURL: 'https://judge.example', headers: { 'x-any': secret } } }], actions: { on_fail: 'deny' } },
        { slug: 'shared', workspace_id: null, name: 'Shared', checks: [words], actions: {} },
      ],
    };
    const apply = async (document: object, more: object = {}): Promise<Record<string, any>> => {
      const { status, body } = await control.call('POST', '/v1/declarations/apply', { documents: [document], ...more });
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    };
    const namesOf = ({ changes }: Record<string, any>): string[] => changes.map((each: any) => `${each.action} ${each.section} ${each.name}`).sort();
    assert.deepEqual(namesOf(await apply(file)), ['create configs main', 'create guardrails local', 'create guardrails shared', 'update organisation '].map((each) => each));
    assert.deepEqual(namesOf(await apply(file)), []);
    assert.ok(!(await everyByte(control.repository)).includes(secret));
    const { body } = await control.call('GET', '/v1/declarations/export');
    const shown = (body.documents as any[]).flatMap((document) => document.guardrails ?? []);
    const [variable] = (body.variables as any[]).map(({ name }) => name).filter((name) => name.startsWith('LOCAL_'));
    assert.deepEqual(shown.map(({ slug }) => slug).sort(), ['local', 'shared']);
    assert.equal(shown.find(({ slug }) => slug === 'local').checks[0].parameters.headers['x-any'], `\${env:${variable}}`);
    assert.ok(!JSON.stringify(body).includes(secret));
    const edited = { ...file, guardrails: [{ ...file.guardrails[0], actions: { on_fail: 'continue' } }, file.guardrails[1]] };
    assert.deepEqual(namesOf(await apply(edited)), ['update guardrails local']);
    const pruned = await control.call('POST', '/v1/declarations/apply', { documents: [{ guardrails: edited.guardrails.slice(0, 1), configs: edited.configs, organisation: edited.organisation }], prune: true });
    assert.deepEqual([pruned.status >= 400, pruned.status < 500], [true, true], 'it is in use');
    assert.deepEqual(control.faults, []);
  });
});
