// The first organisation, workspace, keys and owner. Runs at each start, before any thread: makes those that are missing, in one commit, and gives
// the two keys the values that the settings name, and the organisation the owner. Several processes may start at the same time; one of them wins and the others find its rows.

import { fail } from '../errors/gateway-error.js';
import { Change, CommitConflict } from '../storage/change.js';
import { newId } from '../storage/new-id.js';
import type { Repository } from '../storage/repository.js';
import { apiKeys, type ApiKeyRow, type KeyType } from '../storage/tables/api-keys.js';
import { bootstraps, type BootstrapRow } from '../storage/tables/bootstraps.js';
import { organisations } from '../storage/tables/organisations.js';
import { users, type UserRow } from '../storage/tables/users.js';
import { workspaces } from '../storage/tables/workspaces.js';
import { givenKeyCharsMin, hashKey, keyCharsMax, makeKey, maskedKey, prefixOf } from './key.js';
import { scopesOfType } from './scopes.js';

/** From the settings; undefined leaves the stored key as it is, or makes one. */
export interface GivenKeys {
  readonly adminKey: string | undefined;
  readonly apiKey: string | undefined;
  /** In lower case. */
  readonly ownerEmail?: string | undefined;
}

/** Generated secrets; present only right after they were generated, the one time that they can be shown. */
export interface GeneratedKeys {
  readonly adminKey?: string;
  readonly apiKey?: string;
}

/** A start that loses against others this often is not losing races. */
const triesMax = 20;
const firstId = 'first';

export async function bootstrap(repository: Repository, given: GivenKeys, now: () => number = Date.now): Promise<GeneratedKeys> {
  check('GATEWAY_ADMIN_KEY', given.adminKey);
  check('GATEWAY_API_KEY', given.apiKey);
  if (given.adminKey !== undefined && given.adminKey === given.apiKey) {
    throw fail('SETTINGS_INVALID', { reason: 'GATEWAY_ADMIN_KEY and GATEWAY_API_KEY must differ: one administers, the other only calls' });
  }
  for (let tries = 0; tries < triesMax; tries += 1) {
    const first = await repository.get(bootstraps, firstId);
    const made = first === undefined ? makeFirst(given, now()) : { change: await changesOf(repository, first.row, given, now()), generated: {} };
    if (first !== undefined) await changeOwner(repository, made.change, first.row.organisationId, given.ownerEmail, now());
    if (made.change.isEmpty) return made.generated;
    try {
      await repository.commit(made.change);
      return made.generated;
    } catch (thrown) {
      if (!(thrown instanceof CommitConflict)) throw thrown;
    }
  }
  throw fail('SETTINGS_INVALID', { reason: `the first keys could not be written: other processes changed them ${triesMax} times; start again` });
}

function check(name: string, key: string | undefined): void {
  if (key === undefined) return;
  if (key.length < givenKeyCharsMin || key.length > keyCharsMax) {
    throw fail('SETTINGS_INVALID', { reason: `${name} must have ${givenKeyCharsMin} to ${keyCharsMax} characters; this one has ${key.length}` });
  }
  // It travels in a header.
  if (!/^[\x21-\x7e]+$/.test(key)) throw fail('SETTINGS_INVALID', { reason: `${name} may hold only printable ASCII characters without spaces` });
}

function makeFirst(given: GivenKeys, nowMs: number): { readonly change: Change; readonly generated: GeneratedKeys } {
  const ids: BootstrapRow = { id: firstId, organisationId: newId(nowMs), workspaceId: newId(nowMs), adminKeyId: newId(nowMs), apiKeyId: newId(nowMs) };
  const adminKey = given.adminKey ?? makeKey();
  const apiKey = given.apiKey ?? makeKey();
  const change = new Change();
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  change.insert(bootstraps, ids);
  change.insert(organisations, {
    id: ids.organisationId, name: 'First organisation', ...times, settings: {},
    defaults: { metadata: {}, input_guardrails: [], output_guardrails: [] }, exclusions: { input_guardrails: [], output_guardrails: [] },
  });
  change.insert(workspaces, {
    id: ids.workspaceId, organisationId: ids.organisationId, slug: 'first-workspace', name: 'First workspace', description: null, icon: null, status: 'active', isDefault: true, ...times,
    defaults: { metadata: {}, input_guardrails: [], output_guardrails: [], user_api_key_config: null }, usageLimits: [], rateLimits: [],
  });
  change.insert(apiKeys, keyRow(ids, 'organisation-service', adminKey, nowMs));
  change.insert(apiKeys, keyRow(ids, 'workspace-service', apiKey, nowMs));
  change.insert(users, ownerRow(ids.organisationId, given.ownerEmail ?? unknownEmail, nowMs));
  return {
    change,
    generated: {
      ...(given.adminKey === undefined ? { adminKey } : {}),
      ...(given.apiKey === undefined ? { apiKey } : {}),
    },
  };
}

/** Address of the owner until one is configured. The domain is reserved (RFC 2606), so nobody can sign in with it. */
export const unknownEmail = 'owner@gateway.invalid';

const ownerRow = (organisationId: string, email: string, nowMs: number): UserRow =>
  ({ id: newId(nowMs), organisationId, email, firstName: '', lastName: '', role: 'owner', identity: null, createdAtMs: nowMs, updatedAtMs: nowMs });

/** Makes sure that the organisation has an owner, also if it comes from a version without users. A user with the configured address becomes one. */
async function changeOwner(repository: Repository, change: Change, organisationId: string, email: string | undefined, nowMs: number): Promise<void> {
  const [owner] = await repository.list(users, { index: 'role', parts: [organisationId, 'owner'], limit: 1 });
  if (email === undefined) {
    if (owner === undefined) change.insert(users, ownerRow(organisationId, unknownEmail, nowMs));
    return;
  }
  const named = await repository.find(users, 'email', [organisationId, email]);
  const nameless = await repository.find(users, 'email', [organisationId, unknownEmail]);
  if (named !== undefined) {
    if (named.row.role !== 'owner') change.update(named, { ...named.row, role: 'owner', updatedAtMs: nowMs });
  } else if (nameless !== undefined) change.update(nameless, { ...nameless.row, email, updatedAtMs: nowMs });
  else change.insert(users, ownerRow(organisationId, email, nowMs));
}

function keyRow(ids: BootstrapRow, type: KeyType, key: string, nowMs: number): ApiKeyRow {
  const isAdmin = type === 'organisation-service';
  return {
    id: isAdmin ? ids.adminKeyId : ids.apiKeyId,
    name: isAdmin ? 'First admin key' : 'First API key',
    description: null,
    type,
    organisationId: ids.organisationId,
    workspaceId: isAdmin ? null : ids.workspaceId,
    userId: null,
    scopes: scopesOfType[type],
    ...keyMembers(key),
    previous: null,
    status: 'active',
    creationMode: 'auto',
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    lastResetAtMs: null,
    expiresAtMs: null,
    defaults: { metadata: {}, config_id: null, provider: null, allow_config_override: true },
    usageLimits: null,
    rateLimits: [],
    alertEmails: [],
    rotationPolicy: null,
  };
}

const keyMembers = (key: string): Pick<ApiKeyRow, 'keyHash' | 'keyPrefix' | 'keyMasked'> => ({ keyHash: hashKey(key), keyPrefix: prefixOf(key), keyMasked: maskedKey(key) });

/** The changes that make the given keys valid. A key that was removed comes back only when a value is given for it. */
async function changesOf(repository: Repository, ids: BootstrapRow, given: GivenKeys, nowMs: number): Promise<Change> {
  const change = new Change();
  const wanted: { readonly name: string; readonly type: KeyType; readonly id: string; readonly key: string }[] = [];
  if (given.adminKey !== undefined) wanted.push({ name: 'GATEWAY_ADMIN_KEY', type: 'organisation-service', id: ids.adminKeyId, key: given.adminKey });
  if (given.apiKey !== undefined) wanted.push({ name: 'GATEWAY_API_KEY', type: 'workspace-service', id: ids.apiKeyId, key: given.apiKey });
  for (const { name, type, id, key } of wanted) {
    const holder = (await repository.find(apiKeys, 'hash', [hashKey(key)]))?.row.id;
    if (holder === id) continue;
    if (holder !== undefined) throw fail('SETTINGS_INVALID', { reason: `${name} is the value of another API key (${holder}); give one of its own` });
    const stored = await repository.get(apiKeys, id);
    if (stored === undefined) change.insert(apiKeys, keyRow(ids, type, key, nowMs));
    else change.update(stored, { ...stored.row, ...keyMembers(key), ...revived(stored.row, nowMs), previous: null, isUnclaimed: false, updatedAtMs: nowMs });
  }
  return change;
}

/** A new value works at once. That of the admin key must always let the operator in, since there may be no other way. */
function revived({ type, expiresAtMs }: ApiKeyRow, nowMs: number): Partial<ApiKeyRow> {
  return {
    ...(type === 'organisation-service' ? { scopes: scopesOfType[type] } : {}),
    ...(expiresAtMs !== null && expiresAtMs <= nowMs ? { expiresAtMs: null } : {}),
  };
}
