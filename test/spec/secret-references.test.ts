// Secret references at work, on real sockets: values of Vault, the environment and files in the keys of integrations and virtual keys; managers that are
// down, slow and wrong; and that nothing of a value or a credential stands anywhere but where it belongs.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { FakeVault } from '../../plugins/secrets/hashicorp-vault/test-vault.js';
import { adminKey } from '../support/gateway.js';
import { temporaryFolder, writePackage } from '../core/registry/plugin-package.js';
import { startChildGateway } from '../support/child-gateway.js';
import { chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const mark = 'MARKEDvalue';
const folder = mkdtempSync(join(tmpdir(), 'gateway-references-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const fake = new FakeVault();
fake.secrets.set('kv/acme', { api_key: `${mark}-of-vault`, organization: `${mark}-organization` });
fake.secrets.set('secret/crooked', { api_key: `${mark} "}\n{` });
fake.tokens.add(`${mark}-token-of-vault`);
const vault = await startUpstream(({ method, url, headers, body }, response) => {
  const answer = fake.answer({ method, path: url, headers, body: body.toString() });
  sendJson(response, answer.status, answer.body);
});
const upstream = await startUpstream((_, response) => sendJson(response, 200, chatCompletion));
writeFileSync(join(folder, 'key'), `${mark}-of-a-file\n`);
const packageFolder = writePackage(temporaryFolder(), {
  gateway: { namespace: 'acme', contract: { secrets: 1 }, plugins: { secrets: ['safe'] } },
  files: {
    'secrets/safe.js': `import { defineSecrets } from '@gateway/plugin-sdk';
export default defineSecrets({ title: 'Safe', describe: 'Acts as another cloud.', managerTypes: ['aws_sm'], params: { type: 'object', required: ['aws_region', 'aws_secret_access_key'], properties: { aws_region: { type: 'string' }, aws_secret_access_key: { type: 'string', secret: true } } },
  create: ({ aws_region: region }) => ({ read: async (path) => ({ [path]: 'MARKEDvalue-of-' + region }) }) });`,
  },
});
const workspaceKey = 'workspace-key-of-references';
const gateway = await startChildGateway({
  GATEWAY_SECRET_SOURCES: `env=ACME_*,file=${folder}`, ACME_KEY: `${mark}-of-the-environment`, GATEWAY_TRUSTED_HOSTS: '127.0.0.1', GATEWAY_ADMIN_KEY: adminKey, GATEWAY_API_KEY: workspaceKey, GATEWAY_LOG_LEVEL: 'debug', GATEWAY_THREADS: '2', GATEWAY_PLUGINS: packageFolder,
});

const answers: string[] = [];
async function control(method: string, path: string, body?: unknown, key = adminKey): Promise<{ status: number; body: Record<string, any> }> {
  const response = await fetch(gateway.url + path, { method, headers: { 'x-gateway-api-key': key, 'content-type': 'application/json' }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await response.text();
  answers.push(text);
  return { status: response.status, body: JSON.parse(text) };
}
async function made(path: string, body: unknown, key = adminKey): Promise<Record<string, any>> {
  const reply = await control('POST', path, body, key);
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return reply.body;
}
const vaultAuth = { vault_auth_type: 'token', vault_addr: vault.url, vault_token: `${mark}-token-of-vault` };
const reference = (slug: string, more: object): Promise<Record<string, any>> => made('/v1/secret-references', { name: slug, slug, ...more });
const inVault = (slug: string, path: string, more: object = {}): Promise<Record<string, any>> => reference(slug, { manager_type: 'hashicorp_vault', auth_config: vaultAuth, secret_path: path, ...more });
const host = { custom_host: `${upstream.url}/v1` };

async function call(headers: Readonly<Record<string, string>>): Promise<{ status: number; code: string; message: string; sent: string }> {
  const before = upstream.received.length;
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST', headers: { 'x-gateway-api-key': workspaceKey, 'content-type': 'application/json', connection: 'close', ...headers }, body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] }),
  });
  const text = await response.text();
  answers.push(text, JSON.stringify([...response.headers]));
  const { error } = JSON.parse(text) as { error?: { code: string; message: string } };
  return { status: response.status, code: error?.code ?? '', message: error?.message ?? '', sent: upstream.received.length === before ? '' : String(upstream.received.at(-1)?.headers.authorization) };
}

describe('a secret reference', () => {
  it('gives its value to the keys of integrations and virtual keys', async () => {
    await inVault('acme-vault', 'kv/data/acme', { secret_key: 'api_key' });
    await reference('acme-env', { manager_type: 'env', secret_path: 'ACME_KEY' });
    await reference('acme-file', { manager_type: 'file', secret_path: join(folder, 'key') });
    for (const [slug, value] of [['acme-vault', 'vault'], ['acme-env', 'the-environment'], ['acme-file', 'a-file']] as const) {
      await made('/v1/integrations', { name: slug, slug, ai_provider_id: 'openai', workspace_id: 'first-workspace', default_provider_slug: slug, configurations: host, secret_mappings: [{ target_field: 'key', secret_reference_id: slug }] });
      assert.deepEqual(await call({ 'x-gateway-provider': `@${slug}` }), { status: 200, code: '', message: '', sent: `Bearer ${mark}-of-${value}` });
    }
    const { data } = await made('/v1/virtual-keys', {
      name: 'virtual', slug: 'virtual', provider: 'openai', workspace_id: 'first-workspace', model_config: host,
      secret_mappings: [{ target_field: 'key', secret_reference_id: 'acme-vault' }, { target_field: 'model_config.openai_organization', secret_reference_id: 'acme-vault', secret_key: 'organization' }],
    });
    assert.equal((await call({ 'x-gateway-virtual-key': String(data.slug) })).sent, `Bearer ${mark}-of-vault`);
    assert.equal(upstream.received.at(-1)?.headers['openai-organization'], `${mark}-organization`);
    const { body } = await control('GET', '/v1/virtual-keys/virtual');
    assert.deepEqual(body.secret_mappings.map((mapping: { target_field: string }) => mapping.target_field), ['key', 'configurations.vendor_organization']);
  });

  it('is read by the plugin that answers to its manager_type', async () => {
    for (const [slug, type] of [['cloud', 'aws_sm'], ['by-id', 'acme.safe']] as const) {
      await reference(slug, { manager_type: type, auth_config: { aws_region: 'north', aws_secret_access_key: `${mark}-access-key` }, secret_path: 'key' });
      await made('/v1/integrations', { name: slug, slug, ai_provider_id: 'openai', workspace_id: 'first-workspace', default_provider_slug: slug, configurations: host, secret_mappings: [{ target_field: 'key', secret_reference_id: slug }] });
      assert.equal((await call({ 'x-gateway-provider': `@${slug}` })).sent, `Bearer ${mark}-of-north`);
    }
    const refused = await control('POST', '/v1/secret-references', { name: 'x', manager_type: 'azure_kv', auth_config: { azure_auth_mode: 'default' }, secret_path: 'x' });
    assert.equal(refused.body.message, 'manager_type is not an installed manager; there are acme.safe, env, file, hashicorp_vault, and others come with a plugin of the kind secrets');
  });

  it('that is mapped stays until nobody maps it', async () => {
    const refused = await control('DELETE', '/v1/secret-references/acme-vault');
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, /^the secret reference acme-vault is mapped by (?:the integration acme-vault, the virtual key virtual|the virtual key virtual, the integration acme-vault); take it out there first$/);
    assert.equal((await control('PUT', '/v1/virtual-keys/virtual', { key: 'sk-plain-key', secret_mappings: null })).status, 200);
    assert.equal((await call({ 'x-gateway-virtual-key': 'virtual' })).sent, 'Bearer sk-plain-key');
  });

  it('that gives no value refuses the call by name, and leaves it to the next target', async () => {
    await inVault('absent', 'secret/absent');
    await inVault('crooked', 'secret/crooked');
    await reference('down', { manager_type: 'hashicorp_vault', auth_config: { ...vaultAuth, vault_addr: 'http://127.0.0.1:1' }, secret_path: 'secret/x' });
    await reference('private', { manager_type: 'hashicorp_vault', auth_config: { ...vaultAuth, vault_addr: 'http://127.0.0.2:1' }, secret_path: 'secret/x' });
    for (const [slug, reason] of [['absent', /Vault has nothing at its path/], ['crooked', /its value cannot be key: /], ['down', /its manager could not be asked/], ['private', /its manager could not be asked/]] as const) {
      await made('/v1/integrations', { name: slug, slug, ai_provider_id: 'openai', workspace_id: 'first-workspace', default_provider_slug: slug, configurations: host, secret_mappings: [{ target_field: 'key', secret_reference_id: slug }] });
      const refused = await call({ 'x-gateway-provider': `@${slug}` });
      assert.deepEqual([refused.status, refused.code, refused.sent], [503, 'secret_unavailable', '']);
      assert.match(refused.message, new RegExp(`^the secret reference ${slug} of the stored provider gave no value: `));
      assert.match(refused.message, reason);
      const config = { strategy: { mode: 'fallback' }, targets: [{ provider: `@${slug}` }, { provider: '@acme-env' }] };
      assert.equal((await call({ 'x-gateway-config': JSON.stringify(config) })).sent, `Bearer ${mark}-of-the-environment`);
    }
  });

  it('is of no use to workspaces that it is not open to, nor at addresses of their own', async () => {
    await made('/v1/workspaces', { name: 'Other', slug: 'other' });
    const mapped = (slug: string, more: object = {}): object => ({ name: slug, slug, ai_provider_id: 'openai', secret_mappings: [{ target_field: 'key', secret_reference_id: slug }], ...more });
    await reference('for-other', { manager_type: 'env', secret_path: 'ACME_KEY', allowed_workspaces: ['other'] });
    assert.equal((await control('POST', '/v1/integrations', mapped('for-other', { workspace_id: 'first-workspace' }))).status, 403);
    // One of the organisation may map it: then the workspace of the provider decides.
    await made('/v1/integrations', mapped('for-other', { configurations: host }));
    assert.equal((await control('PUT', '/v1/integrations/for-other/workspaces', { workspaces: [{ id: 'first-workspace', enabled: true, default_provider_slug: 'for-other' }] })).status, 200);
    const closed = await call({ 'x-gateway-provider': '@for-other' });
    assert.deepEqual([closed.status, closed.sent], [503, '']);
    assert.match(closed.message, /it is not open to this workspace$/);
    const chosen = await control('POST', '/v1/integrations', mapped('acme-env', { slug: 'mine', configurations: { custom_host: 'https://evil.example/v1' } }), workspaceKey);
    assert.deepEqual([chosen.status, chosen.body.error.param], [403, 'secret_mappings']);
    await made('/v1/integrations', mapped('acme-env', { slug: 'mine' }), workspaceKey);
    assert.equal((await control('PUT', '/v1/integrations/mine', { configurations: { custom_host: 'https://evil.example/v1' } }, workspaceKey)).status, 403);
    assert.equal((await control('PUT', '/v1/integrations/mine/models', { models: [{ slug: 'm', enabled: true, configurations: { custom_host: 'https://evil.example/v1' } }] }, workspaceKey)).status, 403);
    assert.equal((await control('PUT', '/v1/integrations/mine', { secret_mappings: [] })).body.error.param, 'key');
    // Providers repeat the name of an organization that they do not know, or a version.
    const open = [{ target_field: 'key', secret_reference_id: 'acme-env' }, { target_field: 'configurations.openai_organization', secret_reference_id: 'acme-env' }];
    const shown = await control('PUT', '/v1/integrations/mine', { secret_mappings: open }, workspaceKey);
    assert.deepEqual([shown.status, shown.body.error.param], [403, 'secret_mappings.1.target_field']);
    assert.equal((await control('PUT', '/v1/integrations/mine', { secret_mappings: open })).status, 200);
    assert.equal((await control('PUT', '/v1/integrations/mine', { secret_mappings: open }, workspaceKey)).status, 200, 'as it was');
    for (const [mapping, param] of [
      [{ target_field: 'custom_host', secret_reference_id: 'acme-env' }, 'secret_mappings.0.target_field'], [{ target_field: 'configurations.custom_host', secret_reference_id: 'acme-env' }, 'secret_mappings.0.target_field'],
      [{ target_field: 'configurations.nothing', secret_reference_id: 'acme-env' }, 'secret_mappings.0.target_field'],
    ] as const) assert.equal((await control('PUT', '/v1/integrations/mine', { secret_mappings: [mapping] })).body.error.param, param);
    assert.equal((await control('PUT', '/v1/integrations/mine', { secret_mappings: [{ target_field: 'key', secret_reference_id: 'never-there' }] })).status, 404);
  });

  it('with other credentials or another path gives the other value at once', async () => {
    writeFileSync(join(folder, 'next'), `${mark}-of-the-next-file`);
    assert.equal((await control('PUT', '/v1/secret-references/acme-file', { secret_path: join(folder, 'next') })).status, 200);
    assert.equal((await call({ 'x-gateway-provider': '@acme-file' })).sent, `Bearer ${mark}-of-the-next-file`);
  });

  it('leaves nothing of a value or a credential in an answer, a log, a row or an audit entry', async () => {
    await control('GET', '/v1/secret-references/acme-vault');
    await control('GET', `/v1/audit-logs?start_time=${new Date(Date.now() - 600_000).toISOString()}&end_time=${new Date(Date.now() + 60_000).toISOString()}&page_size=100`);
    assert.match(answers.at(-1) ?? '', /secret-references/);
    assert.deepEqual(answers.filter((answer) => answer.includes(mark)).map((answer) => answer.slice(Math.max(0, answer.indexOf(mark) - 200), answer.indexOf(mark) + 50)), []);
    gateway.kill('SIGTERM');
    await gateway.ended;
    const printed = `${gateway.stdout()}\n${gateway.stderr()}`;
    assert.equal(printed.includes(mark), false, printed.split('\n').find((line) => line.includes(mark))?.slice(0, 300));
    assert.match(printed, /secrets could not be read/);
    const files = readdirSync(gateway.dataDir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    assert.ok(files.length > 0);
    assert.deepEqual(files.filter((file) => readFileSync(file).includes(mark)), []);
  });
});
