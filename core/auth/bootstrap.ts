// The first organisation, workspace and keys. Runs at each start, before any thread: makes what is not there yet, all at once, and gives
// the two keys the values that the settings name. Several processes may start at the same time; one of them wins and the others find its rows.

import type { Write } from '@gateway/plugin-sdk';
import { randomUUID } from 'node:crypto';
import { fail } from '../errors/gateway-error.js';
import { putRow, type Repository, type Stored } from '../storage/repository.js';
import { apiKeys, bootstraps, organisations, workspaces, type ApiKeyRow, type BootstrapRow, type KeyType } from '../storage/rows.js';
import { givenKeyCharsMin, hashKey, keyCharsMax, makeKey, prefixOf } from './key.js';
import { scopesOfType } from './scopes.js';

/** From the settings; undefined leaves the stored key as it is, or makes one. */
export interface GivenKeys {
  readonly adminKey: string | undefined;
  readonly apiKey: string | undefined;
}

/** Present only when generated just now: the one time that they can be shown. */
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
    if (first === undefined) {
      const made = makeFirst(given, now());
      if (await repository.write(made.batch)) return made.generated;
    } else {
      const batch = await changesOf(repository, first.row, given, now());
      if (batch.length === 0 || await repository.write(batch)) return {};
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

function makeFirst(given: GivenKeys, createdAtMs: number): { readonly batch: readonly Write[]; readonly generated: GeneratedKeys } {
  const ids: BootstrapRow = { id: firstId, organisationId: randomUUID(), workspaceId: randomUUID(), adminKeyId: randomUUID(), apiKeyId: randomUUID() };
  const adminKey = given.adminKey ?? makeKey();
  const apiKey = given.apiKey ?? makeKey();
  return {
    batch: [
      putRow(bootstraps, ids, 0),
      putRow(organisations, { id: ids.organisationId, name: 'First organisation', createdAtMs }, 0),
      putRow(workspaces, { id: ids.workspaceId, organisationId: ids.organisationId, slug: 'first-workspace', name: 'First workspace', createdAtMs }, 0),
      putRow(apiKeys, keyRow(ids, 'organisation-service', adminKey, createdAtMs), 0),
      putRow(apiKeys, keyRow(ids, 'workspace-service', apiKey, createdAtMs), 0),
    ],
    generated: {
      ...(given.adminKey === undefined ? { adminKey } : {}),
      ...(given.apiKey === undefined ? { apiKey } : {}),
    },
  };
}

function keyRow(ids: BootstrapRow, type: KeyType, key: string, createdAtMs: number): ApiKeyRow {
  const isAdmin = type === 'organisation-service';
  return {
    id: isAdmin ? ids.adminKeyId : ids.apiKeyId,
    name: isAdmin ? 'First admin key' : 'First API key',
    type,
    organisationId: ids.organisationId,
    workspaceId: isAdmin ? null : ids.workspaceId,
    scopes: scopesOfType[type],
    keyHash: hashKey(key),
    keyPrefix: prefixOf(key),
    status: 'active',
    createdAtMs,
    expiresAtMs: null,
  };
}

/** What it takes to make the given keys valid. A key that was removed comes back only when a value is given for it. */
async function changesOf(repository: Repository, ids: BootstrapRow, given: GivenKeys, nowMs: number): Promise<Write[]> {
  const wanted: { readonly name: string; readonly type: KeyType; readonly id: string; readonly key: string }[] = [];
  if (given.adminKey !== undefined) wanted.push({ name: 'GATEWAY_ADMIN_KEY', type: 'organisation-service', id: ids.adminKeyId, key: given.adminKey });
  if (given.apiKey !== undefined) wanted.push({ name: 'GATEWAY_API_KEY', type: 'workspace-service', id: ids.apiKeyId, key: given.apiKey });
  if (wanted.length === 0) return [];
  const hashes = new Map<string, string>();
  for await (const { row } of repository.all(apiKeys)) hashes.set(row.keyHash, row.id);
  const batch: Write[] = [];
  for (const { name, type, id, key } of wanted) {
    const holder = hashes.get(hashKey(key));
    if (holder === id) continue;
    if (holder !== undefined) throw fail('SETTINGS_INVALID', { reason: `${name} is the value of another API key (${holder}); give one of its own` });
    const stored: Stored<ApiKeyRow> | undefined = await repository.get(apiKeys, id);
    const row = stored === undefined ? keyRow(ids, type, key, nowMs) : { ...stored.row, keyHash: hashKey(key), keyPrefix: prefixOf(key) };
    batch.push(putRow(apiKeys, row, stored?.version ?? 0));
  }
  return batch;
}
