// Tokens (JWT) in the place of keys, on real sockets: who is let in, with what, what leaves the gateway, and what becomes of calls when the server of the
// keys is down, slow, or lies.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { makeSigner } from '../support/signer.js';
import { adminKey, routed, startTestGateway } from '../support/gateway.js';
import { sendJson, startUpstream, type Received } from '../support/upstream.js';

const [first, stranger, small] = await Promise.all([makeSigner('first'), makeSigner('first'), makeSigner('elliptic', 'ES256')]);
const upstream = await startUpstream();
const issuer = await startUpstream((_, response) => sendJson(response, 200, { keys: [first.publicJwk, small.publicJwk, { ...first.publicJwk, kty: 'oct', k: 'c2VjcmV0', kid: 'shared' }] }));
const folder = mkdtempSync(join(tmpdir(), 'gateway-tokens-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const gateway = await startTestGateway({ GATEWAY_DATA_DIR: folder, GATEWAY_JWT_JWKS_URL: `${issuer.url}/keys`, GATEWAY_JWT_ISSUER: 'https://login.example', GATEWAY_JWT_AUDIENCE: 'gateway', GATEWAY_CORS_ORIGINS: '' });

const { 'x-gateway-config': config = '' } = routed(upstream.url);
const byProvider = { 'x-gateway-provider': 'openai', 'x-gateway-custom-host': `${upstream.url}/v1` };
const admin = async (method: string, path: string, body?: unknown, key = adminKey): Promise<{ status: number; body: Record<string, unknown> }> => {
  const response = await fetch(gateway.url + path, { method, headers: { 'x-gateway-api-key': key, 'content-type': 'application/json' }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return { status: response.status, body: await response.json() as Record<string, unknown> };
};
const [workspace] = (await admin('GET', '/v1/workspaces')).body.data as { id: string; slug: string }[];
const [key] = (await admin('GET', '/v1/api-keys')).body.data as { organisation_id: string }[];
assert.ok(workspace && key);
const oid = key.organisation_id;
const good = { iss: 'https://login.example', aud: 'gateway', sub: 'alice@example.com', oid, workspace: workspace.slug, scope: 'openid completions.write' };

const call = (headers: Record<string, string>, path = '/v1/chat/completions'): Promise<Response> =>
  fetch(gateway.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(10_000) }] }) });
async function refused(token: string, headers: Record<string, string> = {}): Promise<{ status: number; code: string; message: string }> {
  const before = upstream.received.length;
  const response = await call({ 'x-gateway-api-key': token, 'x-gateway-config': config, ...headers });
  const text = await response.text();
  assert.equal(upstream.received.length, before, 'a refused call must not reach the provider');
  assert.ok(!text.includes(token.split('.')[2] || '-'), 'the answer must not repeat the token');
  const { error } = JSON.parse(text) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, message: error.message };
}
const everything = (received: Received | undefined): string => `${received?.url}\n${received?.rawHeaders.join('\n')}\n${received?.body.toString('latin1')}`;

describe('a token in the place of a key', () => {
  it('lets a call in, the first time and again, wherever keys may stand, and goes no further', async () => {
    const token = await first.token(good);
    for (const headers of [
      { 'x-gateway-api-key': token, 'x-gateway-config': config }, { authorization: `Bearer ${token}`, 'x-gateway-config': config }, { 'x-api-key': token, 'x-gateway-config': config },
      { 'x-gateway-api-key': token, authorization: `Bearer ${token}`, 'x-other': `a ${token}`, 'x-gateway-config': config, 'x-gateway-forward-headers': 'x-other' },
    ] as Record<string, string>[]) {
      const response = await call(headers);
      assert.equal(response.status, 200, await response.text());
      assert.ok(!everything(upstream.received.at(-1)).includes(token.slice(0, 40)));
    }
    const proxied = await call({ 'x-gateway-api-key': token, 'x-gateway-config': config, 'x-other': token }, `/v1/proxy/anything?a=1&t=${token}`);
    assert.equal(proxied.status, 200);
    assert.ok(!everything(upstream.received.at(-1)).includes(token.slice(0, 40)));
  });

  it('leaves a token of the provider, beside it or beside a key, where it is', async () => {
    const ofProvider = await stranger.token({ iss: 'https://other.example' });
    for (const mine of [await first.token(good), await first.token({ ...good, jti: '2' })]) {
      const response = await call({ 'x-gateway-api-key': mine, authorization: `Bearer ${ofProvider}`, ...byProvider });
      assert.equal(response.status, 200, await response.text());
      assert.equal(upstream.received.at(-1)?.headers.authorization, `Bearer ${ofProvider}`);
    }
  });

  it('is refused with what is wrong with it', async () => {
    const now = Math.floor(Date.now() / 1000);
    const [head = '', body = ''] = (await first.token(good)).split('.');
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const publicPem = JSON.stringify(first.publicJwk);
    const confused = `${encode({ alg: 'HS256', kid: 'first' })}.${body}`;
    for (const [token, reason] of [
      [await stranger.token(good), /its signature does not hold/],
      [`${head}.${encode({ ...good, exp: now + 60, sub: 'root' })}.${'A'.repeat(342)}`, /its signature does not hold/],
      [`${encode({ alg: 'none', kid: 'first' })}.${body}.AA`, /it is not signed by RS256/],
      [`${confused}.${createHmac('sha256', publicPem).update(confused).digest('base64url')}`, /it is not signed by RS256/],
      [await small.token(good), /it is not signed by RS256/],
      [await first.token({ ...good, exp: now - 31 }), /it has expired/],
      [await first.token({ ...good, nbf: now + 60 }), /it is not valid yet/],
      [await first.token({ ...good, iss: 'https://evil.example' }), /its claim iss/],
      [await first.token({ ...good, aud: 'other' }), /its claim aud/],
      [await first.token({ ...good, oid: undefined }), /it names no organisation; the claim oid/],
      [await first.token({ ...good, oid: 'someone-else' }), /its organisation is not one of this gateway/],
      [await first.token({ ...good, scope: 5 }), /its claim scope is neither/],
      [await first.token({ ...good, defaults: { metadata: { a: 5 } } }), /its claim defaults\.metadata/],
      [await first.token({ ...good, rate_limits: [{ type: 'requests', unit: 'rpm' }] }), /its claim rate_limits/],
      [await first.token({ ...good, pad: 'x'.repeat(8_000) }), /it is longer than 8192/],
      [`${encode({ alg: 'RS256', kid: 'first', crit: ['b64'], b64: false })}.${body}.AA`, /is not valid/],
      [`eyJ.${body}.AA`, /is not valid/],
    ] as const) {
      const { status, code, message } = await refused(token);
      assert.deepEqual([status, code === 'token_invalid' || code === 'key_invalid'], [401, true], message);
      assert.match(message, reason);
      // A second time, from what is remembered.
      assert.match((await refused(token)).message, reason);
    }
  });

  it('has the scopes it names, of those that there are for it', async () => {
    const unscoped = await refused(await first.token({ ...good, scope: 'openid' }));
    assert.deepEqual([unscoped.status, unscoped.code], [403, 'scope_missing']);
    const listed = await call({ 'x-gateway-api-key': await first.token({ ...good, scope: undefined, scopes: ['completions.write'] }), 'x-gateway-config': config });
    assert.equal(listed.status, 200);
    const models = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-gateway-api-key': await first.token({ ...good, scope: 'models.list' }) } });
    assert.equal(models.status, 200);
    const { sub: _subject, ...withoutSubject } = good;
    // A user's token manages no keys, whatever it says; one of a service may.
    const scope = 'workspace_service_api_keys.list configs.list';
    assert.equal((await admin('GET', '/v1/api-keys', undefined, await first.token({ ...good, scope }))).status, 403);
    assert.equal((await admin('GET', '/v1/api-keys', undefined, await first.token({ ...withoutSubject, scope }))).status, 200);
  });

  it('without a workspace manages the organisation, and calls no model', async () => {
    const token = await first.token({ ...good, workspace: undefined, scope: 'workspaces.list workspaces.create workspaces.delete completions.write' });
    assert.equal((await admin('GET', '/v1/workspaces', undefined, token)).status, 200);
    assert.equal((await admin('GET', '/v1/configs', undefined, token)).status, 403);
    const { status, code } = await refused(token);
    assert.deepEqual([status, code], [403, 'key_without_workspace']);
    const created = await admin('POST', '/v1/workspaces', { name: 'By token' }, await first.token({ ...good, workspace: undefined, jti: 'new', scope: 'workspaces.create' }));
    assert.equal(created.status, 200, JSON.stringify(created.body));
    const { records: [entry] } = (await admin('GET', `/v1/audit-logs?start_time=${new Date(Date.now() - 60_000).toISOString()}&end_time=${new Date(Date.now() + 60_000).toISOString()}`)).body as { records: unknown[] };
    assert.match(JSON.stringify(entry), /jwt:[0-9a-f]{16}:alice@example\.com/);
  });

  it('obeys what becomes of its workspace, and brings its defaults', async () => {
    const { body: made } = await admin('POST', '/v1/workspaces', { name: 'Passing', slug: 'passing' });
    const stored = await admin('POST', '/v1/configs', { name: 'of the token', workspace_id: 'passing', config: JSON.parse(config) });
    assert.equal(stored.status, 200, JSON.stringify(stored.body));
    const token = await first.token({ ...good, workspace: made.id, defaults: { config_id: (stored.body.data as { slug: string }).slug, metadata: { team: 'blue' } } });
    const bare = (): Promise<Response> => call({ 'x-gateway-api-key': token });
    assert.equal((await bare()).status, 200);
    assert.equal((await admin('PUT', '/v1/workspaces/passing', { defaults: { metadata: { region: 'north' } } })).status, 200);
    assert.equal((await bare()).status, 200);
    assert.equal((await admin('DELETE', '/v1/workspaces/passing', { force_delete: true, name: 'Passing' })).status, 200);
    const gone = await bare();
    assert.equal(gone.status, 403, await gone.text());
    const unknown = await refused(await first.token({ ...good, workspace: 'never-there' }));
    assert.deepEqual([unknown.status, unknown.code], [403, 'token_workspace_unknown']);
  });

  it('cannot make the gateway fetch keys again and again', async () => {
    const before = issuer.received.length;
    for (let index = 0; index < 20; index += 1) assert.match((await refused(await first.token(good, { kid: `made-up-${index}` }))).message, /its kid names no key/);
    assert.ok(issuer.received.length - before <= 1, `${issuer.received.length - before} fetches`);
  });
});

describe('a token that was sent', () => {
  it('is in no file', async () => {
    await gateway.stop(1_000);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    assert.ok(files.some((file) => readFileSync(file).includes('/v1/chat/completions')), 'the log has the calls');
    assert.deepEqual(files.filter((file) => /eyJ[\w-]+\.eyJ[\w-]{8,}|alice@example\.com\./.test(readFileSync(file, 'latin1'))), []);
  });
});

describe('keys that come late', () => {
  it('hold the call and its body, and let go of those that have left', async () => {
    const open: ServerResponse[] = [];
    const late = await startUpstream((_, response) => { open.push(response); });
    const waits = await startTestGateway({ GATEWAY_JWT_JWKS_URL: `${late.url}/keys` });
    const token = await first.token(good);
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(3_000_000) }] });
    const send = (path: string, more: RequestInit = {}): Promise<Response> =>
      fetch(waits.url + path, { method: 'POST', headers: { 'x-gateway-api-key': token, 'x-gateway-config': config, 'content-type': 'application/json' }, body, ...more });
    const leaves = new AbortController();
    const left = send('/v1/chat/completions', { signal: leaves.signal });
    const waiting = [send('/v1/chat/completions'), send('/v1/configs', { body: '{}' })];
    while (open.length === 0) await new Promise((resolve) => { setImmediate(resolve); });
    leaves.abort();
    await assert.rejects(left);
    // Others are served meanwhile.
    assert.equal((await fetch(`${waits.url}/v1/models`, { headers: routed(upstream.url) })).status, 200);
    // The organisation of the other gateway: that it is told shows that the signature was looked at.
    for (const response of open) sendJson(response, 200, { keys: [first.publicJwk] });
    for (const answer of await Promise.all(waiting)) {
      assert.equal(answer.status, 401);
      assert.match(await answer.text(), /its organisation is not one of this gateway/);
    }
    assert.equal(late.received.length, 1);
    const [own] = ((await (await fetch(`${waits.url}/v1/api-keys`, { headers: { 'x-gateway-api-key': adminKey } })).json()) as { data: { organisation_id: string }[] }).data;
    const fitting = await first.token({ ...good, oid: own?.organisation_id });
    const before = upstream.received.length;
    const whole = await fetch(`${waits.url}/v1/chat/completions`, { method: 'POST', headers: { 'x-gateway-api-key': fitting, 'x-gateway-config': config, 'content-type': 'application/json' }, body });
    assert.equal(whole.status, 200, await whole.text());
    assert.equal(upstream.received[before]?.body.length, body.length, 'all of the body goes on');
  });
});

describe('without settings for tokens', () => {
  it('a token is no more than a wrong key', async () => {
    const plain = await startTestGateway();
    const token = await first.token(good);
    const response = await fetch(`${plain.url}/v1/chat/completions`, { method: 'POST', headers: { 'x-gateway-api-key': token, 'content-type': 'application/json' }, body: '{}' });
    assert.equal(response.status, 401);
    assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'key_invalid');
  });
});

describe('keys that cannot be had', () => {
  it('refuse new tokens with 503, and calls with keys go on', async () => {
    const liar = await startUpstream((_, response: ServerResponse) => { response.writeHead(302, { location: `${issuer.url}/keys` }).end(); });
    const other = await startTestGateway({ GATEWAY_JWT_JWKS_URL: `${liar.url}/keys` });
    for (const path of ['/v1/models', '/v1/workspaces']) {
      const response = await fetch(other.url + path, { headers: { 'x-gateway-api-key': await first.token(good) } });
      const { error } = await response.json() as { error: { code: string; message: string } };
      assert.equal(response.status, 503);
      assert.match(error.message, /^tokens cannot be verified now: the keys that sign them could not be fetched \(the answer has status 302\); try again$/);
    }
    assert.equal((await fetch(`${other.url}/v1/models`, { headers: routed(upstream.url) })).status, 200);
  });
});
