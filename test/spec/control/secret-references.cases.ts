import assert from 'node:assert/strict';
import { resourceCases, type BadInput, type Stage, type StageReply, type Target } from './cases.js';

const token = 'hvs.token-of-a-case-0123456789';
const auth_config = { vault_auth_type: 'token', vault_addr: 'https://vault.example', vault_token: token };
const whole = { name: 'Acme key', manager_type: 'hashicorp_vault', auth_config, secret_path: 'secret/data/acme', secret_key: 'api_key' };

const make = (stage: Stage, more: object = {}): Promise<StageReply> => stage.made('POST', '/v1/secret-references', { ...whole, ...more });
const target = async (stage: Stage, more: object = {}): Promise<Target & { readonly params: { readonly secretReferenceId: string } }> => ({ params: { secretReferenceId: String((await make(stage, more)).body.id) } });
const changesNothing = { none: 'it changes nothing' } as const;

const bad: readonly BadInput[] = [
  { body: { ...whole, manager_type: 'aws_sm' }, param: 'manager_type' },
  { body: { ...whole, manager_type: 'azure_kv', auth_config: { azure_auth_mode: 'default', azure_vault_url: 'https://x' } }, param: 'manager_type' },
  { body: { ...whole, auth_config: { ...auth_config, vault_auth_type: 'ldap' } }, param: 'auth_config.vault_auth_type' },
  { body: { ...whole, auth_config: { ...auth_config, vault_token: undefined } }, param: 'auth_config.vault_token' },
  { body: { ...whole, auth_config: { ...auth_config, vault_tokn: 'x' } }, param: 'auth_config' },
  { body: { ...whole, auth_config: { vault_auth_type: 'kubernetes', vault_addr: 'https://vault.example', vault_role: 'gateway' } }, param: 'auth_config.vault_addr' },
  { body: { ...whole, secret_path: '../sys/seal' }, param: 'secret_path' },
  { body: { ...whole, manager_type: 'env', auth_config: {}, secret_path: 'HOME' }, param: 'secret_path' },
  { body: { ...whole, manager_type: 'file', auth_config: {}, secret_path: '/etc/passwd' }, param: 'secret_path' },
  { body: { ...whole, allow_all_workspaces: true, allowed_workspaces: ['first-workspace'] }, param: 'allowed_workspaces' },
  { body: { ...whole, allow_all_workspaces: false }, param: 'allowed_workspaces' },
  { body: { ...whole, slug: 'no slug' }, param: 'slug' },
  { body: { ...whole, secret_path: undefined }, param: 'secret_path' },
];

export default resourceCases({
  resource: 'secret-references',
  operations: {
    list: {
      target: async (stage) => {
        const name = stage.unique('Listed');
        await make(stage, { name, tags: { team: 'red' } });
        await make(stage, { name, tags: { team: 'blue' } });
        return { query: `manager_type=hashicorp_vault&tags=team=red&search=${name.toUpperCase()}` };
      },
      check: ({ body }) => {
        assert.deepEqual([body.object, body.total, body.data.length, body.data[0].status, body.data[0].manager_type], ['list', 1, 1, 'ACTIVE', 'hashicorp_vault']);
        assert.equal('auth_config' in body.data[0], false);
      },
      bad: [{ query: 'page_size=101', param: 'page_size' }, { query: 'search=', param: 'search' }],
      conflict: changesNothing,
    },
    create: {
      target: (stage) => ({ body: { ...whole, slug: stage.unique('acme'), allowed_workspaces: [stage.workspace.slug], tags: { team: 'red' }, description: null } }),
      check: async ({ body }, stage, { body: given }) => {
        assert.deepEqual([body.slug, body.object], [given?.slug, 'secret-reference']);
        const { body: read } = await stage.made('GET', `/v1/secret-references/${String(body.slug)}`);
        assert.deepEqual([read.allow_all_workspaces, read.allowed_workspaces, read.secret_key], [false, [stage.workspace.id], 'api_key']);
      },
      bad,
      conflict: async (stage, { body }) => ({ body: { ...body, slug: (await make(stage)).body.slug } }),
    },
    read: {
      target: (stage) => target(stage),
      check: ({ body }) => {
        assert.deepEqual(body.auth_config, { vault_auth_type: 'token', vault_addr: 'https://vault.example', masked_vault_token: 'hvs****6789' });
        assert.deepEqual([body.secret_path, body.allow_all_workspaces, body.tags], ['secret/data/acme', true, null]);
        assert.equal(JSON.stringify(body).includes(token), false);
      },
      bad: [],
      conflict: changesNothing,
    },
    update: {
      target: async (stage) => ({ ...await target(stage), body: { name: 'Renamed', description: 'of acme', secret_key: null, tags: { team: 'red' } } }),
      check: async (_, stage, { params }) => {
        const path = `/v1/secret-references/${String(params?.secretReferenceId)}`;
        assert.deepEqual((({ name, description, secret_key, tags }) => ({ name, description, secret_key, tags }))((await stage.made('GET', path)).body), { name: 'Renamed', description: 'of acme', secret_key: null, tags: { team: 'red' } });
        // What is masked stands for what is stored, as long as it goes where it went.
        const { auth_config: shown } = (await stage.made('GET', path)).body;
        await stage.made('PUT', path, { auth_config: shown });
        const elsewhere = await stage.call('PUT', path, { auth_config: { ...shown, vault_addr: 'https://evil.example' } });
        assert.deepEqual([elsewhere.status, elsewhere.body.error.param], [400, 'auth_config.vault_token']);
        await stage.made('PUT', path, { auth_config: { vault_auth_type: 'approle', vault_addr: 'https://other.example', vault_role_id: 'r', vault_secret_id: 'secret-of-the-role-0123456789' } });
        assert.deepEqual((await stage.made('GET', path)).body.auth_config, { vault_auth_type: 'approle', vault_addr: 'https://other.example', vault_role_id: 'r', masked_vault_secret_id: 'sec****6789' });
      },
      bad: [
        { body: { manager_type: 'env' }, param: 'manager_type' }, { body: { slug: 'another' }, param: 'slug' }, { body: { secret_path: '/x' }, param: 'secret_path' }, { body: { name: '' }, param: 'name' },
        { body: { auth_config: { ...auth_config, vault_token: 'hvs****9999' } }, param: 'auth_config.vault_token' }, { body: { allowed_workspaces: [] }, param: 'allowed_workspaces' },
      ],
      conflict: { none: 'its slug stays' },
    },
    delete: {
      target: (stage) => target(stage),
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        assert.equal((await stage.call('GET', `/v1/secret-references/${String(params?.secretReferenceId)}`)).status, 404);
      },
      bad: [],
      conflict: { none: 'one in use is refused with 400, as the reference has it' },
    },
  },
});
