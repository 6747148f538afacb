import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startControl, type TestControl } from '../../support/control.js';
import { everyByte } from '../../support/every-byte.js';

const token = 'hvs.token-0123456789-marked';
const reference = { slug: 'acme-key', name: 'Acme', manager_type: 'hashicorp_vault', auth_config: { vault_auth_type: 'token', vault_addr: 'https://vault.example', vault_token: token }, secret_path: 'secret/data/acme', secret_key: 'api_key', tags: { team: 'red' } };
const file = {
  virtual_keys: [{ slug: 'virtual', provider: 'openai', secret_mappings: [{ target_field: 'key', secret_reference_id: 'acme-key', secret_key: 'other' }] }],
  integrations: [{ slug: 'acme', ai_provider_id: 'openai', secret_mappings: [{ target_field: 'key', secret_reference_id: 'acme-key' }] }],
  secret_references: [reference],
};

async function apply(control: TestControl, document: object, more: object = {}): Promise<Record<string, any>> {
  const { status, body } = await control.call('POST', '/v1/declarations/apply', { documents: [document], ...more });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(control.faults, []);
  return body;
}
const changesOf = ({ changes }: Record<string, any>): string[] => changes.map((each: any) => `${each.action} ${each.section} ${each.name} ${each.members.map(({ member }: any) => member).join()}`.trim());

describe('declared secret references', () => {
  it('are made before what maps them, in one commit, and nothing the second time', async () => {
    const control = await startControl();
    const sequence = await control.repository.sequence();
    const first = changesOf(await apply(control, file)).map((each) => each.split(' ').slice(0, 3).join(' '));
    assert.deepEqual([...first].sort(), ['create integrations acme', 'create providers acme', 'create secret_references acme-key', 'create virtual_keys virtual']);
    assert.ok(first.indexOf('create secret_references acme-key') < Math.min(first.indexOf('create integrations acme'), first.indexOf('create virtual_keys virtual')));
    assert.equal(await control.repository.sequence(), sequence + 1);
    assert.deepEqual(changesOf(await apply(control, file)), []);
    const { body: integration } = await control.call('GET', '/v1/integrations/acme');
    const { body: read } = await control.call('GET', '/v1/secret-references/acme-key');
    assert.deepEqual(integration.secret_mappings, [{ target_field: 'key', secret_reference_id: read.id, secret_key: null, value_format: null }]);
    assert.equal((await control.call('DELETE', '/v1/secret-references/acme-key')).status, 400);
    assert.equal((await everyByte(control.repository)).includes(token), false);
  });

  it('are changed member by member, and mappings give way to keys', async () => {
    const control = await startControl();
    await apply(control, file);
    const edited = { ...file, secret_references: [{ ...reference, secret_path: 'secret/data/other', auth_config: { ...reference.auth_config, vault_token: 'hvs.another-0123456789' } }] };
    assert.deepEqual(changesOf(await apply(control, edited)), ['update secret_references acme-key auth_config,secret_path']);
    assert.deepEqual(changesOf(await apply(control, edited)), []);
    const plain = { ...edited, integrations: [{ slug: 'acme', ai_provider_id: 'openai', key: 'sk-plain-0123456789' }], virtual_keys: [{ slug: 'virtual', provider: 'openai', key: 'sk-plain-0123456789' }] };
    assert.deepEqual([...changesOf(await apply(control, plain))].sort(), ['update integrations acme key,secret_mappings', 'update virtual_keys virtual key,secret_mappings']);
    assert.deepEqual(changesOf(await apply(control, plain)), []);
    assert.deepEqual([...changesOf(await apply(control, file))].sort(), ['update integrations acme key,secret_mappings', 'update secret_references acme-key auth_config,secret_path', 'update virtual_keys virtual key,secret_mappings']);
    assert.deepEqual(changesOf(await apply(control, file)), []);
  });

  it('are exported with variables in the places of secrets, and pruned after what maps them', async () => {
    const control = await startControl();
    await apply(control, file);
    const { body } = await control.call('GET', '/v1/declarations/export');
    assert.equal(JSON.stringify(body).includes(token), false);
    const shown: any = (body.documents as any[]).find((document) => document.secret_references !== undefined);
    assert.deepEqual(shown.secret_references[0].auth_config, { vault_auth_type: 'token', vault_addr: 'https://vault.example', vault_token: '${env:ACME_KEY_VAULT_TOKEN}' });
    const removed = changesOf(await apply(control, { secret_references: [] }, { prune: true }));
    assert.match(removed.at(-1) ?? '', /^remove secret_references acme-key /);
    assert.equal((await control.call('GET', '/v1/secret-references/acme-key')).status, 404);
  });
});
