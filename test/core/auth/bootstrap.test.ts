import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { Authenticator } from '../../../core/auth/authenticate.js';
import { bootstrap, unknownEmail } from '../../../core/auth/bootstrap.js';
import { RequestHead } from '../../../core/exchange/request-head.js';
import { looksLikeKey } from '../../../core/auth/key.js';
import type { Principal } from '../../../core/auth/principal.js';
import { scopesOfType } from '../../../core/auth/scopes.js';
import { Change } from '../../../core/storage/change.js';
import { Repository } from '../../../core/storage/repository.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { bootstraps } from '../../../core/storage/tables/bootstraps.js';
import { organisations } from '../../../core/storage/tables/organisations.js';
import { users } from '../../../core/storage/tables/users.js';
import { workspaces } from '../../../core/storage/tables/workspaces.js';
import { RevisionSignal, Snapshot } from '../../../core/snapshot/snapshot.js';
import { putRows } from '../../support/rows.js';

const none = { adminKey: undefined, apiKey: undefined };
const adminGiven = 'admin-key-given-1';
const apiGiven = 'api-key-given-123';
const freshStore = (): Promise<Store> => fakeHost().store('control');

async function principalOf(repository: Repository, key: string): Promise<Principal | undefined> {
  const snapshot = new Snapshot(repository, new RevisionSignal(RevisionSignal.allocate()));
  await snapshot.refreshIfMoved();
  const head = new RequestHead();
  head.apiKey = key;
  try {
    return new Authenticator(snapshot).authenticate(head) ?? undefined;
  } catch {
    return undefined;
  }
}

async function countsOf(repository: Repository): Promise<number[]> {
  return Promise.all([repository.count(organisations), repository.count(workspaces), repository.count(apiKeys)]);
}

describe('bootstrap', () => {
  it('makes an organisation, a workspace and two keys, and tells the keys once', async () => {
    const store = await freshStore();
    const repository = new Repository(store);
    const made = await bootstrap(repository, none);
    assert.ok(looksLikeKey(made.adminKey ?? '') && looksLikeKey(made.apiKey ?? ''));
    assert.deepEqual(await countsOf(repository), [1, 1, 2]);
    const admin = await principalOf(repository, made.adminKey ?? '');
    const api = await principalOf(repository, made.apiKey ?? '');
    assert.deepEqual([admin?.type, admin?.workspaceId, admin?.scopes.has('completions.write')], ['organisation-service', '', false]);
    assert.deepEqual([api?.type, api?.organisationId, api?.scopes.has('completions.write')], ['workspace-service', admin?.organisationId, true]);
    assert.equal(api?.workspaceId, (await repository.list(workspaces, { limit: 1 }))[0]?.row.id);
    const revision = await store.revision();
    assert.deepEqual(await bootstrap(repository, none), {});
    assert.equal(await store.revision(), revision);
  });

  it('stores no key, only its hash and first characters', async () => {
    const store = await freshStore();
    const made = await bootstrap(new Repository(store), { ...none, adminKey: adminGiven });
    for await (const row of store.range({ from: '', to: '\u{10ffff}', limit: 100 })) {
      const text = Buffer.from(row.value).toString('latin1');
      for (const key of [adminGiven, made.apiKey ?? '']) assert.ok(!text.includes(key.slice(0, 8)), row.key);
    }
  });

  it('takes given values instead, and tells only what it generated', async () => {
    const repository = new Repository(await freshStore());
    const made = await bootstrap(repository, { adminKey: adminGiven, apiKey: undefined });
    assert.deepEqual(Object.keys(made), ['apiKey']);
    assert.equal((await principalOf(repository, adminGiven))?.type, 'organisation-service');
    assert.deepEqual(await bootstrap(new Repository(await freshStore()), { adminKey: adminGiven, apiKey: apiGiven }), {});
  });

  it('gives the stored key the value that the settings name now', async () => {
    const store = await freshStore();
    const repository = new Repository(store);
    const made = await bootstrap(repository, none);
    const before = await principalOf(repository, made.apiKey ?? '');
    assert.deepEqual(await bootstrap(repository, { ...none, apiKey: apiGiven }), {});
    assert.deepEqual(await principalOf(repository, apiGiven), before);
    assert.equal(await principalOf(repository, made.apiKey ?? ''), undefined);
    assert.equal((await principalOf(repository, made.adminKey ?? ''))?.type, 'organisation-service');
    const revision = await store.revision();
    await bootstrap(repository, { ...none, apiKey: apiGiven });
    assert.equal(await store.revision(), revision);
    await bootstrap(repository, none);
    assert.deepEqual(await principalOf(repository, apiGiven), before);
  });

  it('lets the operator in again with a new value, when the admin key has expired, may no more, or was rotated for nobody', async () => {
    const repository = new Repository(await freshStore());
    await bootstrap(repository, none);
    const first = await repository.get(bootstraps, 'first');
    const admin = await repository.get(apiKeys, first?.row.adminKeyId ?? '');
    const api = await repository.get(apiKeys, first?.row.apiKeyId ?? '');
    assert.ok(admin !== undefined && api !== undefined);
    assert.deepEqual(api.row.defaults, { metadata: {}, config_id: null, provider: null, allow_config_override: true });
    await putRows(repository, apiKeys, { ...admin.row, scopes: ['workspaces.list'], expiresAtMs: 1, isUnclaimed: true }, { ...api.row, scopes: ['completions.write'], expiresAtMs: 1 });
    await bootstrap(repository, { adminKey: adminGiven, apiKey: apiGiven });
    const after = await repository.get(apiKeys, admin.row.id);
    assert.deepEqual([after?.row.scopes, after?.row.expiresAtMs, after?.row.isUnclaimed], [scopesOfType['organisation-service'], null, false]);
    assert.equal((await principalOf(repository, adminGiven))?.type, 'organisation-service');
    // What the other one may is the operator's choice; that it is given means that it works.
    assert.deepEqual([...(await principalOf(repository, apiGiven))?.scopes ?? []], ['completions.write']);
    // The same value again changes nothing that was changed since.
    await putRows(repository, apiKeys, { ...admin.row, ...after?.row, scopes: ['workspaces.list'] });
    await bootstrap(repository, { adminKey: adminGiven, apiKey: apiGiven });
    assert.deepEqual((await repository.get(apiKeys, admin.row.id))?.row.scopes, ['workspaces.list']);
  });

  it('leaves a key that was removed away, until a value is given for it', async () => {
    const repository = new Repository(await freshStore());
    await bootstrap(repository, none);
    const first = await repository.get(bootstraps, 'first');
    const admin = await repository.get(apiKeys, first?.row.adminKeyId ?? '');
    const change = new Change();
    if (admin !== undefined) change.remove(admin);
    await repository.commit(change);
    assert.deepEqual(await bootstrap(repository, none), {});
    assert.deepEqual(await countsOf(repository), [1, 1, 1]);
    await bootstrap(repository, { ...none, adminKey: adminGiven });
    assert.equal((await principalOf(repository, adminGiven))?.type, 'organisation-service');
  });

  const ownersOf = async (repository: Repository): Promise<string[]> => (await repository.list(users, { limit: 10 })).filter(({ row }) => row.role === 'owner').map(({ row }) => row.email);

  it('makes the owner of the organisation, who takes the address that the settings give', async () => {
    const repository = new Repository(await freshStore());
    await bootstrap(repository, none);
    assert.deepEqual(await ownersOf(repository), [unknownEmail]);
    await bootstrap(repository, { ...none, ownerEmail: 'ada@example.com' });
    assert.deepEqual(await ownersOf(repository), ['ada@example.com']);
    await bootstrap(repository, none);
    assert.deepEqual(await ownersOf(repository), ['ada@example.com']);
    await bootstrap(repository, { ...none, ownerEmail: 'grace@example.com' });
    assert.deepEqual(await ownersOf(repository), ['ada@example.com', 'grace@example.com']);
  });

  it('gives an organisation of a version without people its owner', async () => {
    const repository = new Repository(await freshStore());
    await bootstrap(repository, none);
    const [owner] = await repository.list(users, { limit: 1 });
    const change = new Change();
    if (owner !== undefined) change.remove(owner);
    await repository.commit(change);
    await bootstrap(repository, none);
    assert.deepEqual(await ownersOf(repository), [unknownEmail]);
  });

  it('makes a user an owner whose address the settings give', async () => {
    const repository = new Repository(await freshStore());
    await bootstrap(repository, none);
    const [owner] = await repository.list(users, { limit: 1 });
    assert.ok(owner);
    await putRows(repository, users, { ...owner.row, id: 'ada', email: 'ada@example.com', role: 'member' });
    await bootstrap(repository, { ...none, ownerEmail: 'ada@example.com' });
    assert.deepEqual((await ownersOf(repository)).sort(), ['ada@example.com', unknownEmail]);
  });

  it('makes one set of rows when several processes start at once', async () => {
    const store = await freshStore();
    const results = await Promise.all([1, 2, 3, 4].map(async (process) => bootstrap(new Repository(store), { adminKey: undefined, apiKey: `api-key-of-process-${process}` })));
    const repository = new Repository(store);
    assert.deepEqual(await countsOf(repository), [1, 1, 2]);
    const adminKeys = results.flatMap((made) => made.adminKey ?? []);
    assert.equal(adminKeys.length, 1);
    assert.equal((await principalOf(repository, adminKeys[0] ?? ''))?.type, 'organisation-service');
    const valid = await Promise.all([1, 2, 3, 4].map((process) => principalOf(repository, `api-key-of-process-${process}`)));
    assert.equal(valid.filter((principal) => principal !== undefined).length, 1);
  });

  it('refuses given keys that are too short, too long, alike, not printable, or another key already', async () => {
    const repository = new Repository(await freshStore());
    const refuse = (adminKey: string | undefined, apiKey: string | undefined, reason: RegExp): Promise<void> =>
      assert.rejects(bootstrap(repository, { adminKey, apiKey }), { code: 'SETTINGS_INVALID', message: reason });
    await refuse('short', undefined, /^GATEWAY_ADMIN_KEY must have 16 to 256 characters; this one has 5$/);
    await refuse(undefined, 'x'.repeat(257), /^GATEWAY_API_KEY must have 16 to 256 characters/);
    await refuse(adminGiven, adminGiven, /must differ/);
    await refuse(undefined, 'sixteen chars and spaces', /printable ASCII/);
    assert.deepEqual(await countsOf(repository), [0, 0, 0]);
    await bootstrap(repository, { adminKey: adminGiven, apiKey: apiGiven });
    await refuse(undefined, adminGiven, /^GATEWAY_API_KEY is the value of another API key/);
  });
});
