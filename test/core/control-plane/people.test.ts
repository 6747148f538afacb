// People: invites, roles, members, the keys that they get and lose, and that nobody gives what they have not.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scopesOfType } from '../../../core/auth/scopes.js';
import { unknownEmail } from '../../../core/auth/bootstrap.js';
import { Change } from '../../../core/storage/change.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { invites } from '../../../core/storage/tables/invites.js';
import { hashKey } from '../../../core/auth/key.js';
import { ControlContext, nobody, type Caller } from '../../../core/control-plane/context.js';
import { addSession, sessionsOfUserMax } from '../../../core/control-plane/resources/sign-in/add-session.js';
import { sessionJob } from '../../../core/control-plane/resources/sign-in/session-job.js';
import { RevisionSignal, Snapshot } from '../../../core/snapshot/snapshot.js';
import { sessions } from '../../../core/storage/tables/sessions.js';
import { users } from '../../../core/storage/tables/users.js';
import { firstApiKey, firstPerson, startControl, type TestControl, type TestReply } from '../../support/control.js';
import { everyByte } from '../../support/every-byte.js';
import { putRows, userRow } from '../../support/rows.js';

const dayMs = 86_400_000;
const errorOf = ({ status, body }: TestReply): unknown[] => [status, Object(body.error).code, Object(body.error).param];

async function made(control: TestControl, method: string, path: string, body?: unknown, as?: string): Promise<Record<string, unknown>> {
  const reply = await control.call(method, path, body, as === undefined ? {} : { as });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return reply.body;
}

const tokenOf = (link: unknown): string => new URL(String(link)).hash.replace('#token=', '');

/** Invited and come. */
async function join(control: TestControl, email: string, more: Record<string, unknown> = {}): Promise<{ readonly id: string; readonly keys: readonly { readonly id: string; readonly key: string }[] }> {
  const { id, invite_link } = await made(control, 'POST', '/admin/users/invites', { email, role: 'member', workspaces: [], ...more });
  const reply = await made(control, 'POST', `/admin/users/invites/${String(id)}/accept`, { token: tokenOf(invite_link), first_name: 'Ada', last_name: 'Person' });
  return { id: String(reply.id), keys: Object(reply).api_keys };
}

const userKey = async (control: TestControl, userId: string, scopes: readonly string[] = scopesOfType['workspace-user']): Promise<string> =>
  String((await made(control, 'POST', '/api-keys/workspace/user', { name: 'k', workspace_id: 'first-workspace', user_id: userId, scopes })).key);
const setRole = (control: TestControl, userId: string, role: string): Promise<unknown> => made(control, 'PUT', `/admin/workspaces/first-workspace/users/${userId}`, { role });
const ownerId = async (control: TestControl): Promise<string> => String((await control.repository.list(users, { index: 'email', parts: [], limit: 9 })).find(({ row }) => row.email === unknownEmail)?.row.id);

describe('invites', () => {
  it('live for seven days, are sent again, cancelled and accepted once', async () => {
    const control = await startControl();
    const body = { email: 'Grace@Example.com', role: 'member', workspaces: [] };
    const first = await made(control, 'POST', '/users/invites', body);
    assert.deepEqual(errorOf(await control.call('POST', '/users/invites', { ...body, email: 'grace@example.com' })), [409, 'AB07', 'email']);
    control.clock.nowMs += 7 * dayMs;
    assert.equal((await made(control, 'GET', `/users/invites/${String(first.id)}`)).status, 'expired');
    assert.equal((await made(control, 'GET', '/users/invites?status=expired')).total, 1);
    assert.deepEqual(errorOf(await control.call('POST', `/users/invites/${String(first.id)}/accept`, { token: tokenOf(first.invite_link) })), [409, 'AB07', null]);
    const second = await made(control, 'POST', '/users/invites', body);
    assert.notEqual(second.id, first.id);
    const resent = tokenOf((await made(control, 'POST', `/users/invites/${String(second.id)}/resend`)).inviteLink);
    const accept = (token: string): Promise<TestReply> => control.call('POST', `/users/invites/${String(second.id)}/accept`, { token });
    assert.deepEqual(errorOf(await accept(tokenOf(second.invite_link))), [404, 'AB08', null], 'the token before the last');
    assert.deepEqual(errorOf(await accept(tokenOf(first.invite_link))), [404, 'AB08', null], 'the token of another invite');
    assert.equal((await accept(resent)).status, 200);
    assert.deepEqual(errorOf(await accept(resent)), [409, 'AB07', null]);
    assert.deepEqual(errorOf(await control.call('POST', '/users/invites', body)), [409, 'AB07', 'email'], 'a user');
    const third = await made(control, 'POST', '/users/invites', { ...body, email: 'c@example.com' });
    await made(control, 'DELETE', `/users/invites/${String(third.id)}`);
    assert.deepEqual(errorOf(await control.call('POST', `/users/invites/${String(third.id)}/accept`, { token: tokenOf(third.invite_link) })), [409, 'AB07', null]);
    assert.equal((await made(control, 'POST', '/users/invites', { ...body, email: 'c@example.com' })).invite_link !== undefined, true);
  });

  it('keep no token, and accepting stands in the audit log of the organisation', async () => {
    const control = await startControl();
    const { id, invite_link } = await made(control, 'POST', '/users/invites', { email: 'a@example.com', role: 'member', workspaces: [{ id: 'first-workspace', role: 'manager' }], workspace_api_key_details: { scopes: ['completions.write'] } });
    const token = tokenOf(invite_link);
    const accepted = await made(control, 'POST', `/users/invites/${String(id)}/accept`, { token });
    const [key] = Object(accepted).api_keys;
    assert.equal(typeof key.key, 'string');
    for (const secret of [token, String(key.key)]) assert.equal((await everyByte(control.repository)).includes(secret), false);
    const log = await made(control, 'GET', '/audit-logs?start_time=2029-01-01T00:00:00Z&end_time=2031-01-01T00:00:00Z');
    const records: Record<string, unknown>[] = Object(log).records;
    assert.ok(records.some(({ uri }) => String(uri).endsWith('/accept')));
    assert.deepEqual((await control.repository.get(invites, String(id)))?.row.userId, accepted.id);
  });

  it('give no more than whoever invites has', async () => {
    const control = await startControl();
    const { key } = await made(control, 'POST', '/api-keys/organisation/service', { name: 'people', scopes: scopesOfType['organisation-service'].filter((scope) => scope.startsWith('organisation_users.')) });
    const as = { as: String(key) };
    const body = { email: 'x@example.com', role: 'member', workspaces: [] };
    assert.deepEqual(errorOf(await control.call('POST', '/users/invites', { ...body, role: 'admin' }, as)).slice(0, 2), [403, 'AB03']);
    assert.deepEqual(errorOf(await control.call('POST', '/users/invites', { ...body, workspaces: [{ id: 'first-workspace', role: 'member' }] }, as)).slice(0, 2), [403, 'AB03']);
    assert.deepEqual(errorOf(await control.call('POST', '/users/invites', { ...body, workspace_api_key_details: { scopes: ['configs.create'] } }, as)).slice(0, 2), [403, 'AB03']);
    assert.equal((await control.call('POST', '/users/invites', body, as)).status, 200);
    const user = await join(control, 'y@example.com');
    assert.deepEqual(errorOf(await control.call('PUT', `/users/${user.id}`, { role: 'admin' }, as)).slice(0, 2), [403, 'AB03']);
  });

  it('make keys in workspaces by their own scopes, or by the settings', async () => {
    const control = await startControl();
    const place = [{ id: 'first-workspace', role: 'member' }];
    assert.equal((await join(control, 'none@example.com', { workspaces: place })).keys.length, 0);
    await made(control, 'PUT', '/admin/organisation', { settings: { user_api_key_auto_create: true, user_api_key_ttl: '90d', user_api_key_rotation_period: 'weekly' } });
    const [key] = (await join(control, 'auto@example.com', { workspaces: place })).keys;
    const view = await made(control, 'GET', `/api-keys/${key?.id ?? ''}`);
    assert.deepEqual(
      [view.type, view.creation_mode, view.name, view.expires_at, Object(view.rotation_policy).rotation_period, Object(view.rotation_policy).status, view.scopes],
      ['workspace-user', 'auto', 'auto@example.com', new Date(control.clock.nowMs + 90 * dayMs).toISOString(), 'weekly', 'ACTIVE', scopesOfType['workspace-user']],
    );
    const [own] = (await join(control, 'own@example.com', { workspaces: place, workspace_api_key_details: { scopes: ['completions.write'] } })).keys;
    assert.deepEqual((await made(control, 'GET', `/api-keys/${own?.id ?? ''}`)).scopes, ['completions.write']);
    // Added later is not joining the organisation.
    const late = await join(control, 'late@example.com');
    await made(control, 'POST', '/workspaces/first-workspace/users', { users: [{ id: late.id, role: 'member' }] });
    assert.equal(await control.repository.count(apiKeys, 'user', [late.id]), 0);
    await made(control, 'DELETE', `/workspaces/first-workspace/users/${late.id}`);
    await made(control, 'PUT', '/admin/organisation', { settings: { default_workspace_user_api_key_auto_create: true, user_api_key_ttl: 3600 } });
    await made(control, 'POST', '/workspaces/first-workspace/users', { users: [{ id: late.id, role: 'member' }] });
    const [made1] = await control.repository.list(apiKeys, { index: 'user', parts: [late.id], limit: 2 });
    assert.deepEqual([made1?.row.expiresAtMs, made1?.row.isUnclaimed], [control.clock.nowMs + 3_600_000, true]);
    // Nobody has seen its secret: who rotates it gets one, and nothing of before stays valid.
    assert.equal((await made(control, 'POST', `/api-keys/${made1?.row.id ?? ''}/rotate`)).key_transition_expires_at, null);
  });
});

describe('roles', () => {
  it('limit the keys of people, whatever their scopes say, and change with the next call', async () => {
    const control = await startControl();
    const key = await userKey(control, firstPerson);
    const make = (): Promise<TestReply> => control.call('POST', '/configs', { name: 'c', config: { retry: { attempts: 1 } } }, { as: key });
    assert.equal((await make()).status, 200);
    await setRole(control, firstPerson, 'member');
    const refused = await make();
    assert.deepEqual(errorOf(refused), [403, 'AB03', null]);
    assert.match(String(refused.body.message), /is member here, and that role does not include the scope configs\.create/);
    assert.equal((await control.call('GET', '/configs', undefined, { as: key })).status, 200);
    await setRole(control, firstPerson, 'manager');
    assert.equal((await make()).status, 200);
    // The scopes count as well.
    assert.match(String((await control.call('POST', '/configs', { name: 'c', config: { retry: { attempts: 1 } } }, { as: await userKey(control, firstPerson, ['configs.list']) })).body.message), /lacks the scope configs\.create/);
  });

  it('are widened and narrowed by the organisation', async () => {
    const control = await startControl();
    const key = await userKey(control, firstPerson);
    const make = async (): Promise<number> => (await control.call('POST', '/configs', { name: 'c', config: { retry: { attempts: 1 } } }, { as: key })).status;
    await made(control, 'PUT', '/admin/organisation', { settings: { role_settings: { managers_view: ['configs'] } } });
    assert.equal(await make(), 403);
    await setRole(control, firstPerson, 'member');
    await made(control, 'PUT', '/admin/organisation', { settings: { role_settings: { members_manage: ['configs'] } } });
    assert.equal(await make(), 200);
    assert.deepEqual(errorOf(await control.call('PUT', '/admin/organisation', { settings: { role_settings: { members_manage: ['workspace_users'] } } }))[0], 400);
    const scopes = async (): Promise<readonly string[]> => Object(await made(control, 'GET', `/workspaces/first-workspace/users/${firstPerson}`)).scopes;
    assert.ok((await scopes()).includes('logs.view'));
    await made(control, 'PUT', '/admin/organisation', { settings: { membersViewLogs: false } });
    assert.deepEqual((await scopes()).filter((scope) => scope.startsWith('logs.')), ['logs.write']);
  });

  it('of the organisation act as admin in every workspace', async () => {
    const control = await startControl();
    await setRole(control, firstPerson, 'member');
    const key = await userKey(control, firstPerson);
    assert.equal((await control.call('POST', '/configs', { name: 'c', config: { retry: { attempts: 1 } } }, { as: key })).status, 403);
    await made(control, 'PUT', `/users/${firstPerson}`, { role: 'admin' });
    assert.equal((await control.call('POST', '/configs', { name: 'c', config: { retry: { attempts: 1 } } }, { as: key })).status, 200);
    assert.deepEqual(errorOf(await control.call('PUT', `/users/${firstPerson}`, { role: 'admin' })), [400, 'AB01', 'role']);
    await made(control, 'PUT', `/users/${firstPerson}`, { role: 'member' });
    assert.equal((await control.call('POST', '/configs', { name: 'c', config: { retry: { attempts: 1 } } }, { as: key })).status, 403);
  });

  it('leave nothing to the key of somebody who is no member', async () => {
    const control = await startControl();
    const admin = await join(control, 'admin@example.com', { role: 'admin' });
    const key = await userKey(control, admin.id);
    assert.equal((await control.call('GET', '/configs', undefined, { as: key })).status, 200);
    // No member of the workspace once he is no admin: the key goes with the role.
    await made(control, 'PUT', `/users/${admin.id}`, { role: 'member' });
    await assert.rejects(control.callerOf(key), /no such key/);
    // As from a version that took any id for a user.
    const caller = await control.callerOf(await userKey(control, firstPerson));
    const stored = await control.repository.get(apiKeys, caller.keyId);
    assert.ok(stored);
    await putRows(control.repository, apiKeys, { ...stored.row, userId: '01890000-0000-7000-8000-0000000000ff' });
    const reply = await control.plane.handle({ id: 'c', method: 'GET', path: '/configs', query: '', body: new Uint8Array(0), ifMatch: undefined, idempotencyKey: undefined, headers: [], address: '', caller });
    assert.deepEqual([reply.status, JSON.parse(reply.body).message], [403, 'the person behind this call is no member here, and that role does not include the scope configs.list']);
  });
});

describe('users', () => {
  it('lose memberships and keys when they are removed, and their invites end', async () => {
    const control = await startControl();
    const key = await userKey(control, firstPerson);
    const caller = await control.callerOf(key);
    await made(control, 'DELETE', `/users/${firstPerson}`);
    await assert.rejects(control.callerOf(key), /no such key/);
    assert.equal((await made(control, 'GET', '/workspaces/first-workspace/users')).total, 0);
    assert.deepEqual(errorOf(await control.call('GET', `/users/${firstPerson}`)), [404, 'AB08', null]);
    // Of a thread that has not heard of it yet.
    const late = await control.plane.handle({ id: 'c', method: 'GET', path: '/configs', query: '', body: new Uint8Array(0), ifMatch: undefined, idempotencyKey: undefined, headers: [], address: '', caller });
    assert.equal(late.status, 403);
  });

  it('keep their keys of other workspaces when they leave one', async () => {
    const control = await startControl();
    const other = await made(control, 'POST', '/workspaces', { name: 'Other', users: [firstPerson] });
    assert.equal((await made(control, 'GET', `/workspaces/${String(other.id)}/users/${firstPerson}`)).role, 'member');
    const first = await userKey(control, firstPerson);
    const second = String((await made(control, 'POST', '/api-keys/workspace/user', { name: 'k', workspace_id: other.id, user_id: firstPerson, scopes: ['completions.write'] })).key);
    assert.deepEqual(Object(await made(control, 'GET', `/users/${firstPerson}`)).workspace_ids.length, 2);
    await made(control, 'DELETE', `/workspaces/first-workspace/users/${firstPerson}`);
    await assert.rejects(control.callerOf(first), /no such key/);
    await control.callerOf(second);
    await made(control, 'DELETE', `/workspaces/${String(other.id)}`, { name: 'Other', force_delete: true });
    assert.deepEqual((await made(control, 'GET', `/users/${firstPerson}`)).workspace_ids, []);
  });

  it('cannot change or remove the owner with a key', async () => {
    const control = await startControl();
    const id = await ownerId(control);
    assert.deepEqual(errorOf(await control.call('PUT', `/users/${id}`, { role: 'admin' })).slice(0, 2), [403, 'AB03']);
    assert.deepEqual(errorOf(await control.call('DELETE', `/users/${id}`)).slice(0, 2), [403, 'AB03']);
    assert.equal((await made(control, 'GET', `/users/${id}`)).role, 'owner');
  });

  it('are listed by role and address, in both forms of pages', async () => {
    const control = await startControl();
    for (const name of ['a', 'b', 'c']) await join(control, `${name}@example.com`);
    const emails = async (query: string): Promise<unknown[]> => Object(await made(control, 'GET', `/users?${query}`)).data.map((user: Record<string, unknown>) => user.email);
    assert.deepEqual(await emails('role=member&currentPage=0&pageSize=2'), ['c@example.com', 'b@example.com']);
    assert.deepEqual((await emails('role=member&current_page=1&page_size=2'))[0], 'a@example.com');
    assert.deepEqual(await emails('email=B@example.com'), ['b@example.com']);
    assert.deepEqual(await emails('email=b@example.com&role=owner'), []);
    assert.deepEqual(await emails('role=owner'), [unknownEmail]);
  });
});

describe('members', () => {
  it('have keys of the workspace as long as they are in it, and nobody else has', async () => {
    const control = await startControl();
    const { id } = await join(control, 'a@example.com');
    const body = { name: 'k', workspace_id: 'first-workspace', scopes: ['completions.write'] };
    assert.deepEqual(errorOf(await control.call('POST', '/api-keys/workspace/user', { ...body, user_id: id })), [400, 'AB01', 'user_id']);
    assert.deepEqual(errorOf(await control.call('POST', '/api-keys/workspace/user', { ...body, user_id: '01890000-0000-7000-8000-0000000000ff' })), [404, 'AB02', 'user_id']);
    assert.deepEqual(errorOf(await control.call('POST', '/workspaces/first-workspace/users', { users: [{ id: '01890000-0000-7000-8000-0000000000ff', role: 'member' }] })), [404, 'AB02', 'users.0.id']);
    await made(control, 'POST', '/workspaces/first-workspace/users', { users: [{ id, role: 'member' }] }, firstApiKey);
    assert.deepEqual(errorOf(await control.call('POST', '/workspaces/first-workspace/users', { users: [{ id, role: 'member' }] })), [409, 'AB07', 'users.0.id']);
    assert.deepEqual(errorOf(await control.call('POST', '/workspaces/first-workspace/users', { users: [{ id: firstPerson, role: 'member' }, { id: firstPerson, role: 'member' }] }))[0], 409);
    assert.equal((await control.call('POST', '/api-keys/workspace/user', { ...body, user_id: id })).status, 200);
    assert.equal((await made(control, 'GET', '/workspaces/first-workspace/users?role=member')).total, 1);
  });

  it('are given no role by a key that could not hand out its scopes', async () => {
    const control = await startControl();
    const { key } = await made(control, 'POST', '/api-keys/workspace/service', { name: 'people', workspace_id: 'first-workspace', scopes: scopesOfType['workspace-service'].filter((scope) => scope.startsWith('workspace_users.')) });
    const as = { as: String(key) };
    const { id } = await join(control, 'a@example.com');
    assert.deepEqual(errorOf(await control.call('POST', '/workspaces/first-workspace/users', { users: [{ id, role: 'member' }] }, as)).slice(0, 2), [403, 'AB03']);
    assert.deepEqual(errorOf(await control.call('PUT', `/workspaces/first-workspace/users/${firstPerson}`, { role: 'admin' }, as)).slice(0, 2), [403, 'AB03']);
    assert.equal((await control.call('DELETE', `/workspaces/first-workspace/users/${firstPerson}`, undefined, as)).status, 200);
  });
});

describe('groups of the identity provider', () => {
  it('have one role, by id or name, and none of the names that are made automatically', async () => {
    const control = await startControl();
    const other = await made(control, 'POST', '/workspaces', { name: 'Other' });
    const map = (body: Record<string, unknown>): Promise<TestReply> => control.call('POST', '/scim/workspaces', { workspace_id: 'first-workspace', ...body });
    const first = await map({ role: 'ADMIN', scim_group_name: 'Engineers' });
    assert.deepEqual([first.status, first.body.role, first.body.scim_group], [200, 'admin', 'Engineers']);
    const id = first.body.scim_group_id;
    assert.deepEqual(errorOf(await map({ workspace_id: other.id, role: 'member', scim_group_id: id })), [400, 'AB01', 'role']);
    assert.deepEqual(errorOf(await map({ workspace_id: other.id, role: 'member', scim_group_name: 'Engineers' })), [400, 'AB01', 'role']);
    assert.deepEqual(errorOf(await map({ role: 'admin', scim_group_name: 'Engineers' })), [409, 'AB07', 'workspace_id']);
    assert.deepEqual(errorOf(await map({ role: 'admin', scim_group_id: '01890000-0000-7000-8000-0000000000ff' })), [404, 'AB02', 'scim_group_id']);
    assert.deepEqual(errorOf(await map({ role: 'admin', scim_group_name: 'WS-first-ROLE-x' })), [400, 'AB01', 'scim_group_name']);
    assert.equal((await map({ workspace_id: other.id, role: 'Admin', scim_group_id: id })).status, 200);
    assert.equal((await made(control, 'GET', '/scim/workspaces')).total_count, 2);
    assert.deepEqual(Object(await made(control, 'GET', '/scim/workspaces?page=1&page_size=1')).mappings.map((each: Record<string, unknown>) => each.workspace_id), [(await control.callerOf(firstApiKey)).workspaceId]);
    await made(control, 'DELETE', `/workspaces/${String(other.id)}`, { name: 'Other' });
    assert.equal((await made(control, 'GET', '/scim/workspaces')).total_count, 1);
    assert.equal((await control.call('DELETE', `/scim/Groups/${String(id)}`)).status, 204);
    assert.equal((await made(control, 'GET', '/scim/workspaces')).total_count, 0);
    assert.equal((await made(control, 'GET', '/scim/Groups')).totalResults, 0);
  });
});

describe('tokens', () => {
  it('of people who were removed give nothing, until they are users again', async () => {
    const control = await startControl();
    const { organisationId, workspaceId } = await control.callerOf(firstApiKey);
    const { id } = await join(control, 'Ada@example.com', { workspaces: [{ id: 'first-workspace', role: 'member' }] });
    const as = async (userId: string): Promise<number> => (await control.plane.handle({
      id: 'c', method: 'POST', path: '/configs', query: '', body: Buffer.from(JSON.stringify({ name: 'c', config: { retry: { attempts: 1 } } })), ifMatch: undefined, idempotencyKey: undefined, headers: [], address: '',
      caller: { keyId: 'jwt:x', keyType: 'workspace-user', organisationId, workspaceId, scopes: scopesOfType['workspace-user'], token: { userId } },
    })).status;
    const names = [id, 'ada@example.com', 'ADA@example.com'];
    for (const name of names) assert.equal(await as(name), 403, 'a member');
    assert.equal(await as('eve@example.com'), 200, 'whom the gateway does not know');
    await made(control, 'DELETE', `/users/${id}`);
    for (const name of names) assert.equal(await as(name), 403, `removed: ${name}`);
    await join(control, 'ada@example.com', { role: 'admin' });
    assert.deepEqual([await as(id), await as('ada@example.com')], [403, 200]);
  });
});

describe('sessions', () => {
  const sessionCall = (control: TestControl, caller: Caller, path: string): ReturnType<TestControl['plane']['handle']> =>
    control.plane.handle({ id: 'c', method: 'GET', path, query: '', body: new Uint8Array(0), ifMatch: undefined, idempotencyKey: undefined, headers: [], address: '', caller });

  it('end by age, also when the setting gets shorter, and their rows go in time', async () => {
    const control = await startControl();
    const { organisationId } = await control.callerOf(firstApiKey);
    const startMs = control.clock.nowMs;
    await putRows(control.repository, sessions, { id: 's', organisationId, userId: firstPerson, tokenHash: 'a'.repeat(64), stateHash: 'b'.repeat(64), createdAtMs: startMs, expiresAtMs: startMs + dayMs, endedAtMs: null });
    const caller: Caller = { keyId: 's', keyType: 'session', organisationId, workspaceId: '', scopes: [] };
    const snapshot = new Snapshot(control.repository, new RevisionSignal(RevisionSignal.allocate()));
    const seen = async (): Promise<unknown[]> => {
      await snapshot.refreshIfMoved();
      return [(await sessionCall(control, caller, '/configs')).status, snapshot.view.session('a'.repeat(64), control.clock.nowMs)?.userId];
    };
    control.clock.nowMs = startMs + 901_000;
    assert.deepEqual(await seen(), [200, firstPerson]);
    await made(control, 'PUT', '/admin/organisation', { settings: { session_settings: { max_session_ttl: 900 } } });
    assert.deepEqual(await seen(), [401, undefined]);
    await made(control, 'PUT', '/admin/organisation', { settings: { session_settings: { max_session_ttl: 10 * 86_400 } } });
    assert.deepEqual(await seen(), [200, firstPerson]);
    // One that gets longer lengthens none.
    control.clock.nowMs = startMs + dayMs;
    assert.deepEqual(await seen(), [401, undefined]);
    const context = { repository: control.repository, nowMs: control.clock.nowMs, memory: {}, notify: () => {} };
    assert.equal(await sessionJob.isDue(context), true);
    await sessionJob.run(context);
    assert.equal(await control.repository.count(sessions), 0);
    assert.equal(await sessionJob.isDue(context), false);
    assert.deepEqual(await seen(), [401, undefined]);
  });

  it('of one person are so many, and then the oldest ends', async () => {
    const control = await startControl();
    const stored = await control.repository.get(users, firstPerson);
    assert.ok(stored);
    const change = new Change();
    for (let index = 0; index < sessionsOfUserMax; index += 1) {
      const hash = hashKey(String(index));
      change.insert(sessions, { id: `s-${String(index).padStart(3, '0')}`, organisationId: 'o', userId: firstPerson, tokenHash: hash, stateHash: hash, createdAtMs: 1, expiresAtMs: dayMs, endedAtMs: null });
    }
    await control.repository.commit(change);
    const context = new ControlContext(nobody, undefined, control.repository, control.plane.services, control.clock.nowMs);
    const { token } = await addSession(context, stored.row, hashKey('state'), dayMs);
    await control.repository.commit(context.change);
    const left = await control.repository.list(sessions, { index: 'user', parts: [firstPerson], limit: 99 });
    assert.deepEqual([left.length, left.some(({ row }) => row.id === 's-000'), left.some(({ row }) => row.tokenHash === hashKey(token))], [sessionsOfUserMax, false, true]);
    assert.equal((await everyByte(control.repository)).includes(token), false);
  });

  it('of owners remove other owners, and never the last', async () => {
    const control = await startControl();
    const { organisationId } = await control.callerOf(firstApiKey);
    await putRows(control.repository, users, userRow('01890000-0000-7000-8000-00000000000a', { organisationId, role: 'owner' }));
    const id = await ownerId(control);
    await putRows(control.repository, sessions, { id: 's', organisationId, userId: '01890000-0000-7000-8000-00000000000a', tokenHash: 'a'.repeat(64), stateHash: 'b'.repeat(64), createdAtMs: control.clock.nowMs, expiresAtMs: control.clock.nowMs + dayMs, endedAtMs: null });
    const caller: Caller = { keyId: 's', keyType: 'session', organisationId, workspaceId: '', scopes: [] };
    const remove = async (userId: string): Promise<number> =>
      (await control.plane.handle({ id: 'c', method: 'DELETE', path: `/users/${userId}`, query: '', body: new Uint8Array(0), ifMatch: undefined, idempotencyKey: undefined, headers: [], address: '', caller })).status;
    assert.equal(await remove(id), 200);
    assert.equal(await remove('01890000-0000-7000-8000-00000000000a'), 403);
  });
});
