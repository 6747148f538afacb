// Sign-in by OpenID Connect, from /auth/login to a control call with the cookie, and every way in which it must be refused.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Browser, type Answer } from '../support/browser.js';
import { adminKey, apiKey, startTestGateway } from '../support/gateway.js';
import { issuerClient, startIssuer } from '../support/issuer.js';

const issuer = await startIssuer();
const gateway = await startTestGateway({ GATEWAY_OIDC_ISSUER: issuer.url, ...issuerClient, GATEWAY_OWNER_EMAIL: 'ada@example.com', GATEWAY_OIDC_EMAIL_DOMAINS: 'example.com' });
const { url } = gateway;

async function admin(method: string, path: string, body?: unknown): Promise<Record<string, any>> {
  const response = await fetch(url + path, { method, headers: { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const reply: Record<string, any> = Object(await response.json());
  assert.equal(response.status, 200, JSON.stringify(reply));
  return reply;
}

const begin = (browser: Browser, returnTo = '/console'): Promise<Answer> => browser.go(`${url}/auth/login?return_to=${encodeURIComponent(returnTo)}`);

/** Resolves with the answer of the way back. */
async function signIn(browser: Browser, claims: Record<string, unknown> = {}): Promise<Answer> {
  issuer.behaviour.claims = claims;
  const { location } = await begin(browser);
  return browser.go(await issuer.authorize(location));
}

const person = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({ sub: name, email: `${name}@example.com`, ...more });
const sessionOf = (browser: Browser): Promise<Answer> => browser.go(`${url}/auth/session`);
const outcome = ({ status, body }: Answer): unknown[] => [status, body.error?.code, body.error?.type];
const makeConfig = (browser: Browser, headers: Record<string, string>, more: Record<string, unknown> = {}): Promise<Answer> =>
  browser.go(`${url}/v1/configs`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ name: 'of a person', config: { retry: { attempts: 1 } }, ...more }) });

describe('sign-in', () => {
  it('goes to the issuer with PKCE, state and nonce, and comes back to where it began, with a cookie that control calls take', async () => {
    const browser = new Browser();
    issuer.behaviour.claims = {};
    const begun = await begin(browser, '/console/keys?page=2');
    assert.equal(begun.status, 302);
    const { searchParams } = new URL(begun.location);
    assert.deepEqual([searchParams.get('response_type'), searchParams.get('code_challenge_method'), searchParams.get('scope'), searchParams.get('redirect_uri')], ['code', 'S256', 'openid email profile', `${url}/auth/callback`]);
    for (const name of ['state', 'nonce', 'code_challenge']) assert.ok((searchParams.get(name) ?? '').length >= 32, name);
    const back = await browser.go(await issuer.authorize(begun.location));
    assert.deepEqual([back.status, back.location], [302, '/console/keys?page=2']);
    const [cookie = ''] = back.headers.getSetCookie();
    assert.match(cookie, /^gateway_session=[\w-]{43}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Lax$/);
    assert.deepEqual([...browser.cookies.keys()], ['gateway_session']);
    const { status, body } = await sessionOf(browser);
    assert.deepEqual([status, body.type, body.user.email, body.user.role, body.user.first_name, body.workspaces.length], [200, 'user', 'ada@example.com', 'owner', 'Ada', 1]);
    assert.equal((await browser.go(`${url}/v1/configs?workspace_id=first-workspace`)).status, 200);
    const { records } = await admin('GET', `/v1/audit-logs?start_time=${new Date(Date.now() - 60_000).toISOString()}&end_time=${new Date(Date.now() + 60_000).toISOString()}`);
    assert.ok(records.some((record: Record<string, unknown>) => record.action === 'signed-in' && record.user_type === 'user'));
  });

  it('takes cookies for nothing but the control plane', async () => {
    const browser = new Browser();
    await signIn(browser);
    const call = await browser.go(`${url}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-provider': 'mock' }, body: JSON.stringify({ model: 'm', messages: [] }) });
    assert.equal(call.status, 401);
    // A key counts before a cookie.
    assert.equal((await browser.go(`${url}/v1/configs`, { headers: { 'x-gateway-api-key': 'no-such-key-0123456789' } })).status, 401);
    assert.equal((await browser.go(`${url}/auth/session`, { headers: { 'x-gateway-api-key': apiKey } })).body.type, 'api_key');
  });

  it('lets no page of another origin change anything', async () => {
    const browser = new Browser();
    await signIn(browser);
    const place = { workspace_id: 'first-workspace' };
    for (const headers of [{}, { origin: 'https://evil.example' }, { origin: 'null' }, { origin: 'https://evil.example', 'x-gateway-csrf': '1' }, { origin: `${url}.evil.example` }]) {
      const refused = await makeConfig(browser, headers, place);
      assert.deepEqual(outcome(refused), [403, 'AB03', 'permission_error'], JSON.stringify(headers));
      assert.match(String(refused.body.message), /x-gateway-csrf/);
    }
    assert.equal((await makeConfig(browser, { 'x-gateway-csrf': '1' }, place)).status, 200);
    assert.equal((await makeConfig(browser, { origin: url }, place)).status, 200);
    assert.equal((await browser.go(`${url}/auth/logout`, { method: 'POST' })).status, 403);
  });

  it('sends nobody elsewhere', async () => {
    for (const path of ['https://evil.example', '//evil.example', '/\\evil.example', '/a\\b', '/\t/evil.example', 'console', '/a b', '/%0d%0aset-cookie:a=b\r\nx']) {
      const { status, body } = await begin(new Browser(), path);
      assert.deepEqual([status, body.error?.param], [400, 'return_to'], JSON.stringify(path));
    }
  });

  it('is refused for a way back that nobody began, that was finished, or that took another browser', async () => {
    const [browser, thief] = [new Browser(), new Browser()];
    issuer.behaviour.claims = {};
    const back = await issuer.authorize((await begin(browser)).location);
    const kept = browser.header;
    assert.deepEqual(outcome(await thief.go(back)), [401, 'AB05', 'authentication_error']);
    const other = new URL(back);
    other.searchParams.set('state', 'x'.repeat(43));
    assert.equal((await browser.go(other.href)).status, 401);
    assert.equal((await browser.go(back)).status, 302);
    // Again with the same cookie, by an issuer that takes codes twice: the state counts once, also after the sign-out.
    issuer.behaviour.isForgetful = true;
    try {
      for (const isOut of [false, true]) {
        if (isOut) await browser.go(`${url}/auth/logout`, { method: 'POST', headers: { 'x-gateway-csrf': '1' } });
        const again = new Browser();
        const answer = await again.go(back, { headers: { cookie: kept } });
        assert.deepEqual([answer.status, again.cookies.size, /finished before/.test(answer.body.message)], [401, 0, true]);
      }
    } finally {
      issuer.behaviour.isForgetful = false;
    }
    assert.match((await (async () => {
      const denied = new Browser();
      const { location } = await begin(denied);
      return denied.go(`${url}/auth/callback?error=access_denied&error_description=no&state=${new URL(location).searchParams.get('state') ?? ''}`);
    })()).body.message, /the issuer says access_denied/);
  });

  it('believes no issuer that lies', async () => {
    const lies: readonly (readonly [name: string, lie: () => void, reason: RegExp])[] = [
      ['issuer', () => { issuer.behaviour.claims = { iss: 'https://other.example' }; }, /"iss"/],
      ['audience', () => { issuer.behaviour.claims = { aud: 'another-client' }; }, /"aud"/],
      ['nonce', () => { issuer.behaviour.claims = { nonce: 'of-another-sign-in' }; }, /nonce/],
      ['signature', () => { issuer.behaviour.isForged = true; }, /signature/],
      ['no signature', () => { issuer.behaviour.isUnsigned = true; }, /alg|algorithm/],
    ];
    for (const [name, lie, reason] of lies) {
      const browser = new Browser();
      issuer.behaviour.claims = {};
      const back = await issuer.authorize((await begin(browser)).location);
      lie();
      const answer = await browser.go(back);
      Object.assign(issuer.behaviour, { claims: {}, isForged: false, isUnsigned: false });
      assert.deepEqual([...outcome(answer), browser.cookies.has('gateway_session')], [401, 'AB05', 'authentication_error', false], `${name}: ${JSON.stringify(answer.body)}`);
      assert.match(answer.body.message, reason, name);
    }
  });

  it('takes the keys that the issuer has now', async () => {
    assert.equal((await signIn(new Browser())).status, 302);
    await issuer.rotate();
    assert.equal((await signIn(new Browser())).status, 302);
  });

  it('says so when the issuer gives no answer, while people who are signed in go on', async () => {
    const signedIn = new Browser();
    await signIn(signedIn);
    for (const path of ['/token', '/jwks']) {
      const browser = new Browser();
      const back = await issuer.authorize((await begin(browser)).location);
      issuer.behaviour.failing.set(path, 502);
      const answer = await browser.go(back);
      issuer.behaviour.failing.clear();
      assert.deepEqual([answer.status, /could not be asked: it answered with status 502/.test(answer.body.message)], [503, true], `${path}: ${JSON.stringify(answer.body)}`);
      assert.equal((await sessionOf(signedIn)).status, 200);
    }
  });
});

describe('people who sign in', () => {
  it('are refused unless they are users or invited, with a verified address of a domain that may', async () => {
    const refusals: readonly (readonly [Record<string, unknown>, RegExp])[] = [
      [person('nobody'), /no user nobody@example\.com, and no invite/],
      [person('ada', { sub: 'x', email: 'ada@example.com', email_verified: false }), /verified/],
      [person('ada', { sub: 'x', email: 'ada@example.com' }), /another person/],
      [person('x', { email: 'ada@sub.example.com' }), /domain/],
      [person('x', { email: 'ada@example.com.evil.test' }), /domain/],
      [person('x', { email: undefined }), /domain/],
    ];
    await signIn(new Browser());
    for (const [claims, reason] of refusals) {
      const browser = new Browser();
      const answer = await signIn(browser, claims);
      assert.deepEqual([...outcome(answer), browser.cookies.has('gateway_session')], [403, 'AB03', 'permission_error', false], JSON.stringify(answer.body));
      assert.match(answer.body.message, reason);
    }
    await admin('POST', '/v1/admin/users/invites', { email: 'grace@example.com', role: 'member', workspaces: [{ id: 'first-workspace', role: 'member' }] });
    const browser = new Browser();
    assert.equal((await signIn(browser, person('grace'))).status, 302);
    assert.deepEqual((await sessionOf(browser)).body.workspaces.map((each: Record<string, unknown>) => each.role), ['member']);
    assert.equal((await admin('GET', '/v1/admin/users/invites?status=accepted')).total, 1);
  });

  it('may what their role says, which counts from the next call on, until they are removed', async () => {
    await admin('POST', '/v1/admin/users/invites', { email: 'may@example.com', role: 'member', workspaces: [{ id: 'first-workspace', role: 'member' }] });
    const browser = new Browser();
    await signIn(browser, person('may'));
    const { id } = (await sessionOf(browser)).body.user;
    const make = (): Promise<Answer> => makeConfig(browser, { 'x-gateway-csrf': '1' });
    const refused = await make();
    assert.match(String(refused.body.message), /is member here/);
    assert.equal((await browser.go(`${url}/v1/configs`)).status, 200);
    // Keys of their own, and no others.
    const own = await admin('POST', '/v1/api-keys/workspace/user', { name: 'own', workspace_id: 'first-workspace', user_id: id, scopes: ['completions.write', 'configs.create'] });
    const others = await admin('POST', '/v1/api-keys/workspace/service', { name: 'others', workspace_id: 'first-workspace', scopes: ['completions.write'] });
    const grace = (await admin('GET', '/v1/users?email=grace@example.com')).data[0].id;
    const of = await admin('POST', '/v1/api-keys/workspace/user', { name: 'of grace', workspace_id: 'first-workspace', user_id: grace, scopes: ['completions.write'] });
    assert.deepEqual((await browser.go(`${url}/v1/api-keys`)).body.data.map((each: Record<string, unknown>) => each.id), [own.id]);
    assert.equal((await browser.go(`${url}/v1/api-keys?ids=${String(of.id)},${String(own.id)}`)).body.total, 1);
    const rotate = (key: unknown): Promise<Answer> => browser.go(`${url}/v1/api-keys/${String(key)}/rotate`, { method: 'POST', headers: { 'x-gateway-csrf': '1' } });
    assert.match(String((await rotate(own.id)).body.key), /^gw_/);
    assert.deepEqual([(await rotate(others.id)).status, (await rotate(of.id)).status, (await browser.go(`${url}/v1/api-keys/${String(of.id)}`)).status], [403, 403, 403]);
    await admin('PUT', `/v1/workspaces/first-workspace/users/${id}`, { role: 'manager' });
    assert.equal((await make()).status, 200);
    // A manager makes no admin, nor keys of one, nor what is of the organisation.
    assert.equal((await browser.go(`${url}/v1/workspaces/first-workspace/users/${id}`, { method: 'PUT', headers: { 'x-gateway-csrf': '1', 'content-type': 'application/json' }, body: '{"role":"admin"}' })).status, 403);
    assert.equal((await browser.go(`${url}/v1/users`)).status, 403);
    const send = (method: string, path: string, body?: unknown): Promise<Answer> =>
      browser.go(url + path, { method, headers: { 'x-gateway-csrf': '1', 'content-type': 'application/json' }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    // Nor by a key of a service, which has no role: one that decides about members makes an admin of its maker.
    const ofPeople = await admin('POST', '/v1/api-keys/workspace/service', { name: 'of people', workspace_id: 'first-workspace', scopes: ['workspace_users.list', 'workspace_users.update'] });
    assert.equal((await send('POST', '/v1/api-keys/workspace/service', { name: 'k', scopes: ['workspace_users.update'] })).status, 403);
    assert.equal((await send('POST', '/v1/api-keys/workspace/service', { name: 'k', scopes: ['workspace_users.create'] })).status, 403);
    assert.equal((await send('PUT', `/v1/api-keys/${String(others.id)}`, { scopes: ['workspace_users.delete'] })).status, 403);
    assert.equal((await send('POST', `/v1/api-keys/${String(ofPeople.id)}/rotate`)).status, 403);
    const owner = (await admin('GET', '/v1/users?email=ada@example.com')).data[0].id;
    const ofOwner = await admin('POST', '/v1/api-keys/workspace/user', { name: 'of the owner', workspace_id: 'first-workspace', user_id: owner, scopes: ['completions.write'] });
    assert.equal((await send('POST', `/v1/api-keys/${String(ofOwner.id)}/rotate`)).status, 403);
    assert.equal((await send('POST', '/v1/api-keys/workspace/user', { name: 'k', user_id: owner, scopes: ['completions.write'] })).status, 403);
    // Nor one that makes keys which act for admins, or reads their secrets.
    for (const verb of ['create', 'rotate']) assert.equal((await send('POST', '/v1/api-keys/workspace/service', { name: 'k', scopes: [`workspace_user_api_keys.${verb}`] })).status, 403, verb);
    assert.equal((await send('POST', '/v1/api-keys/workspace/service', { name: 'k', scopes: ['workspace_users.list', 'workspace_user_api_keys.list', 'configs.create'] })).status, 200);
    assert.equal((await send('PUT', `/v1/workspaces/first-workspace/users/${String(grace)}`, { role: 'manager' })).status, 200);
    const other = await admin('POST', '/v1/workspaces', { name: 'Of others' });
    assert.equal((await browser.go(`${url}/v1/configs?workspace_id=${other.id}`)).status, 403);
    assert.equal((await browser.go(`${url}/v1/workspaces/${other.id}`)).status, 403);
    await admin('POST', `/v1/workspaces/${other.id}/users`, { users: [{ id, role: 'member' }] });
    assert.deepEqual(outcome(await browser.go(`${url}/v1/configs`)), [400, 'AB01', 'invalid_request_error'], 'one of two');
    assert.equal((await browser.go(`${url}/v1/configs?workspace_id=${other.slug}`)).status, 200);
    assert.equal((await makeConfig(browser, { 'x-gateway-csrf': '1' }, { workspace_id: other.id })).status, 403);
    assert.equal((await sessionOf(browser)).body.workspaces.length, 2);
    await admin('DELETE', `/v1/users/${id}`);
    assert.equal((await browser.go(`${url}/v1/configs`)).status, 401);
    assert.equal((await sessionOf(browser)).status, 401);
    assert.equal((await signIn(new Browser(), person('may'))).status, 403);
  });

  it('come into workspaces by their groups, and leave with them', async () => {
    const made = await admin('POST', '/v1/workspaces', { name: 'Of groups' });
    const byName = await admin('POST', '/v1/scim/workspaces', { workspace_id: made.id, role: 'Manager', scim_group_name: 'builders' });
    await admin('POST', '/v1/scim/workspaces', { workspace_id: 'first-workspace', role: 'member', scim_group_name: 'readers' });
    await admin('PUT', '/v1/admin/organisation', { settings: { user_api_key_auto_create: true } });
    await admin('POST', '/v1/admin/users/invites', { email: 'group@example.com', role: 'member', workspaces: [] });
    const rolesAfter = async (groups: unknown): Promise<string[]> => {
      const browser = new Browser();
      assert.equal((await signIn(browser, person('group', { groups }))).status, 302);
      return (await sessionOf(browser)).body.workspaces.map((each: Record<string, unknown>) => `${String(each.name)} ${String(each.role)}`).sort();
    };
    assert.deepEqual(await rolesAfter(['readers', 'builders', 'unknown', 5]), ['First workspace member', 'Of groups manager']);
    const { data: [user] } = await admin('GET', '/v1/users?email=group@example.com');
    const keys = async (): Promise<number> => (await admin('GET', '/v1/api-keys?page_size=100')).data.filter((key: Record<string, unknown>) => key.user_id === user.id).length;
    assert.equal(await keys(), 2);
    assert.deepEqual(await rolesAfter([byName.scim_group_id]), ['Of groups manager']);
    assert.equal(await keys(), 1);
    // What somebody decided stays.
    await admin('PUT', `/v1/workspaces/${made.id}/users/${user.id}`, { role: 'member' });
    assert.deepEqual(await rolesAfter([]), ['Of groups member']);
    await admin('PUT', '/v1/admin/organisation', { settings: { user_api_key_auto_create: null } });
  });

  it('are signed out by themselves, and by age: a setting that gets shorter ends older sessions', async () => {
    const [first, second] = [new Browser(), new Browser()];
    await signIn(first);
    await signIn(second);
    const kept = first.header;
    const out = await first.go(`${url}/auth/logout`, { method: 'POST', headers: { origin: url } });
    assert.deepEqual([out.status, first.cookies.size], [200, 0]);
    const ended = new Browser();
    assert.deepEqual(outcome(await ended.go(`${url}/v1/configs`, { headers: { cookie: kept } })), [401, 'AB05', 'authentication_error']);
    assert.equal((await sessionOf(second)).status, 200);
    await admin('PUT', '/v1/admin/organisation', { settings: { session_settings: { max_session_ttl: 900 } } });
    const { body } = await sessionOf(second);
    assert.equal(Date.parse(body.expires_at) - Date.parse(body.created_at), 900_000);
    const third = new Browser();
    assert.match((await signIn(third)).headers.getSetCookie().join(), /Max-Age=900;/);
    await admin('PUT', '/v1/admin/organisation', { settings: { session_settings: null } });
  });
});
