// HashiCorp Vault for tests, written from its HTTP API documentation: key/value engines of both versions, logins by approle and kubernetes, namespaces.

import type { IncomingHttpHeaders } from 'node:http';

interface FakeVaultRequest {
  readonly method: string;
  /** With /v1/. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders | Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

interface FakeVaultAnswer {
  readonly status: number;
  readonly body: unknown;
}

export class FakeVault {
  /** Members by path: `secret/name` of version 1, `kv/name` of version 2. */
  readonly secrets = new Map<string, Readonly<Record<string, unknown>>>();
  readonly tokens = new Set(['root-token-of-vault']);
  readonly roles = new Map([['role-id-1', 'secret-id-of-the-role']]);
  readonly machineTokens = new Map([['gateway', 'machine-token-of-the-pod']]);
  namespace = '';
  leaseSeconds = 3600;
  isSealed = false;
  logins = 0;
  reads = 0;

  answer({ method, path, headers, body }: FakeVaultRequest): FakeVaultAnswer {
    const errors = (status: number, ...messages: string[]): FakeVaultAnswer => ({ status, body: { errors: messages } });
    if (this.isSealed) return errors(503, 'Vault is sealed');
    if ((headers['x-vault-namespace'] ?? '') !== this.namespace) return errors(404, 'no handler for route');
    const route = decodeURIComponent(path.replace(/^\/v1\//, ''));
    if (method === 'POST') return this.#login(route, JSON.parse(body) as Record<string, string>) ?? errors(route.endsWith('/login') ? 400 : 404, 'invalid role or secret ID');
    const token = headers['x-vault-token'];
    if (typeof token !== 'string' || !this.tokens.has(token)) return errors(403, 'permission denied');
    this.reads += 1;
    const inSecond = /^kv\/data\/(.+)$/.exec(route)?.[1];
    const data = this.secrets.get(inSecond === undefined ? route : `kv/${inSecond}`);
    if (data === undefined || (inSecond === undefined && route.startsWith('kv/'))) return { status: 404, body: { errors: [], ...(route.startsWith('kv/') ? { warnings: ['Invalid path for a versioned K/V secrets engine.'] } : {}) } };
    const lease = { request_id: '1', lease_id: '', renewable: false, wrap_info: null, warnings: null, auth: null };
    return inSecond === undefined
      ? { status: 200, body: { ...lease, lease_duration: 2_764_800, data } }
      : { status: 200, body: { ...lease, lease_duration: 0, data: { data, metadata: { created_time: '2026-01-01T00:00:00Z', custom_metadata: null, deletion_time: '', destroyed: false, version: 1 } } } };
  }

  #login(route: string, { role_id: id = '', secret_id: secret, role = '', jwt }: Readonly<Record<string, string>>): FakeVaultAnswer | undefined {
    const isKnown = (route === 'auth/approle/login' && this.roles.get(id) === secret && secret !== undefined) || (route === 'auth/kubernetes/login' && this.machineTokens.get(role) === jwt && jwt !== undefined);
    if (!isKnown) return undefined;
    this.logins += 1;
    const token = `hvs.login-token-${this.logins}`;
    this.tokens.add(token);
    return { status: 200, body: { auth: { client_token: token, accessor: 'a', policies: ['default'], token_policies: ['default'], metadata: { role_name: 'gateway' }, lease_duration: this.leaseSeconds, renewable: true, token_type: 'service' }, data: null } };
  }
}
