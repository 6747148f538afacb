import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { conformSecrets, fakeHost, type FakeHost, type FakeHostOptions } from '@gateway/plugin-sdk/testing';
import { SecretError } from '@gateway/plugin-sdk';
import vault from './plugin.js';
import { FakeVault } from './test-vault.js';
import { VaultSource, type VaultParams } from './vault-source.js';

const address = 'http://vault.test:8200';
const values = { 'kv/data/providers/acme': { api_key: 'sk-of-version-two', region: 'north' }, 'secret/providers/acme': { api_key: 'sk-of-version-one' } };

function server(): FakeVault {
  const fake = new FakeVault();
  fake.secrets.set('kv/providers/acme', values['kv/data/providers/acme']);
  fake.secrets.set('secret/providers/acme', values['secret/providers/acme']);
  return fake;
}
const hostOf = (fake: FakeVault): FakeHostOptions => ({
  fetch: ({ url, method = 'GET', headers = {}, body = '' }) => {
    assert.ok(url.startsWith(`${address}/v1/`), url);
    assert.equal(headers['x-vault-request'], 'true');
    const answer = fake.answer({ method, path: url.slice(address.length), headers, body: typeof body === 'string' ? body : Buffer.from(body).toString() });
    return { status: answer.status, body: JSON.stringify(answer.body) };
  },
});
const byToken: VaultParams = { vault_auth_type: 'token', vault_addr: `${address}/`, vault_token: 'root-token-of-vault' };
const byRole: VaultParams = { vault_auth_type: 'approle', vault_addr: address, vault_role_id: 'role-id-1', vault_secret_id: 'secret-id-of-the-role' };
const read = (source: VaultSource, path = 'secret/providers/acme'): Promise<unknown> => source.read(path, new AbortController().signal);
const open = (params: VaultParams, fake: FakeVault, allowed: readonly string[] = [], machineToken = () => Promise.resolve('machine-token-of-the-pod\n')): { source: VaultSource; host: FakeHost } => {
  const host = fakeHost(hostOf(fake));
  return { host, source: new VaultSource(params, host, allowed, machineToken) };
};

for (const params of [byToken, byRole]) {
  conformSecrets(vault, { ...params }, {
    host: () => hostOf(server()), values, absent: 'secret/absent',
    refused: ['', 'secret', '/secret/x', 'secret/../sys/x', 'secret/./x', 'secret//x', 'secret/x?list=true', 'secret/x#y', 'secret/%2e%2e/x', 'secret/x.', 'secret/x\n'],
  });
}

describe('a login', () => {
  test('is made once, again before its token ends, and when Vault refuses the token', async () => {
    const fake = server();
    const { source, host } = open(byRole, fake);
    for (let times = 0; times < 3; times += 1) await read(source);
    assert.equal(fake.logins, 1);
    host.advance(3_595_000);
    await read(source);
    assert.equal(fake.logins, 2);
    fake.tokens.clear();
    await read(source);
    assert.equal(fake.logins, 3);
  });

  test('that is refused says so', async () => {
    const fake = server();
    const { source } = open({ ...byRole, vault_secret_id: 'another-secret-id' }, fake);
    await assert.rejects(read(source), new SecretError('Vault lets the gateway not in: the login by approle was answered with status 400'));
  });

  test('by kubernetes shows the machine\'s token to no address but those of the operator', async () => {
    const fake = server();
    const params: VaultParams = { vault_auth_type: 'kubernetes', vault_addr: address, vault_role: 'gateway' };
    for (const allowed of [[], ['http://vault.test:8201'], ['https://vault.test:8200'], [`${address}.evil.example`], ['*']]) assert.throws(() => open(params, fake, allowed), /would be shown this machine's own token/);
    const { source, host } = open(params, fake, [`${address}/`]);
    assert.deepEqual(await read(source), values['secret/providers/acme']);
    assert.deepEqual(JSON.parse(String(host.requests[0]?.body)), { role: 'gateway', jwt: 'machine-token-of-the-pod' });
    await assert.rejects(read(open(params, fake, [address], () => Promise.reject(new Error('ENOENT'))).source), /no token of a Kubernetes service account/);
  });
});

describe('what Vault answers', () => {
  test('is told in a few words', async () => {
    const fake = server();
    await assert.rejects(read(open({ ...byToken, vault_token: 'another-token' }, fake).source), /Vault refuses the credentials of the reference/);
    await assert.rejects(read(open(byToken, fake).source, 'kv/providers/acme'), /where the engine is of version 2, data\/ stands behind the mount/);
    fake.isSealed = true;
    await assert.rejects(read(open(byToken, fake).source), /sealed or down/);
  });

  test('may be anything, and is then no secret', async () => {
    for (const [status, body, reason] of [[200, '<html>', /something else/], [200, '{"data":[]}', /something else/], [200, '{}', /something else/], [302, '', /status 302/], [500, '{"errors":["x"]}', /status 500/]] as const) {
      const source = new VaultSource(byToken, fakeHost({ fetch: () => ({ status, body }) }), [], () => Promise.resolve(''));
      await assert.rejects(read(source), reason);
    }
  });

  test('is of the namespace that the reference names', async () => {
    const fake = server();
    fake.namespace = 'team/north';
    await assert.rejects(read(open(byToken, fake).source), /nothing at its path/);
    assert.deepEqual(await read(open({ ...byRole, vault_namespace: 'team/north' }, fake).source), values['secret/providers/acme']);
  });
});

test('credentials that belong to another way of logging in are refused, and addresses with more than a host and a path', () => {
  for (const [params, path] of [
    [{ ...byToken, vault_role_id: 'x' }, 'vault_role_id'], [{ vault_auth_type: 'token', vault_addr: address }, 'vault_token'], [{ ...byRole, vault_token: 'x' }, 'vault_token'],
    [{ ...byToken, vault_addr: 'vault.test' }, 'vault_addr'], [{ ...byToken, vault_addr: 'http://a:b@vault.test' }, 'vault_addr'], [{ ...byToken, vault_addr: `${address}?x` }, 'vault_addr'], [{ ...byToken, vault_addr: 'file:///etc' }, 'vault_addr'],
  ] as const) assert.throws(() => open(params as VaultParams, server()), { name: 'ParameterError', path });
});
