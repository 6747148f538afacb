// The gateway that the cases run against: two workspaces, keys of all kinds, and keys that lack the scopes of one operation each.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import assert from 'node:assert/strict';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { bootstrap } from '../../../core/auth/bootstrap.js';
import { hashKey, maskedKey, prefixOf } from '../../../core/auth/key.js';
import { scopesOfType } from '../../../core/auth/scopes.js';
import { Change } from '../../../core/storage/change.js';
import { newId } from '../../../core/storage/new-id.js';
import { prepareStore } from '../../../core/storage/prepare-store.js';
import { Repository } from '../../../core/storage/repository.js';
import { apiKeys, type KeyType } from '../../../core/storage/tables/api-keys.js';
import { tables } from '../../../core/storage/tables/index.js';
import { users } from '../../../core/storage/tables/users.js';
import { workspaceMembers } from '../../../core/storage/tables/workspace-members.js';
import { workspaces } from '../../../core/storage/tables/workspaces.js';
import lmdb from '../../../plugins/storage/lmdb/plugin.js';
import { adminKey, apiKey, startTestGateway } from '../../support/gateway.js';
import { issuerClient, startIssuer } from '../../support/issuer.js';
import { MemoryLogs } from '../../support/memory-logs.js';
import { keyRow, memberRow, userRow } from '../../support/rows.js';
import type { Stage, StageReply, WhoCalls } from './cases.js';

const typeOf: Readonly<Record<WhoCalls, KeyType>> = { admin: 'organisation-service', workspace: 'workspace-service', user: 'workspace-user' };

export interface PreparedStage extends Stage {
  /** A key of the kind without any of the scopes; one of the sets that the stage was made for. */
  keyWithout(who: WhoCalls, scopes: readonly string[]): string;
}

/** `lacking`: the sets of scopes that keys are to lack. Call it at the top level of a test file. */
export async function startStage(lacking: readonly { readonly who: WhoCalls; readonly scopes: readonly string[] }[]): Promise<PreparedStage> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-stage-'));
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  const storage = await lmdb.create({ path: dataDir }, fakeHost());
  const repository = new Repository(await storage.open('control'));
  await prepareStore(repository, tables);
  await bootstrap(repository, { adminKey, apiKey });
  const [first] = await repository.list(workspaces, { limit: 1 });
  assert.ok(first);
  const other = { ...first.row, id: newId(), slug: 'other-workspace', name: 'Other workspace', isDefault: false };
  const change = new Change();
  const userId = newId();
  const { organisationId } = first.row;
  change.insert(users, userRow(userId, { organisationId }));
  change.insert(workspaceMembers, memberRow(first.row.id, userId, 'manager', { organisationId }));
  change.insert(workspaces, other);
  const addKey = (key: string, who: WhoCalls, without: readonly string[], workspaceId = first.row.id): string => {
    change.insert(apiKeys, keyRow('a', {
      id: newId(), name: key, type: typeOf[who], organisationId: first.row.organisationId, workspaceId: who === 'admin' ? null : workspaceId, userId: who === 'user' ? userId : null,
      scopes: scopesOfType[typeOf[who]].filter((scope) => !without.includes(scope)), keyHash: hashKey(key), keyPrefix: prefixOf(key), keyMasked: maskedKey(key),
    }));
    return key;
  };
  const user = addKey('stage-user-key-0123456789', 'user', []);
  const otherKey = addKey('stage-other-key-0123456789', 'workspace', [], other.id);
  const without = new Map<string, string>();
  const nameOf = (who: WhoCalls, scopes: readonly string[]): string => `${who} ${[...scopes].sort().join(' ')}`;
  for (const { who, scopes } of lacking) {
    const name = nameOf(who, scopes);
    if (!without.has(name)) without.set(name, addKey(`stage-lacking-key-${without.size}-0123456789`, who, scopes));
  }
  await repository.commit(change);
  await storage.close?.();

  const issuer = await startIssuer();
  const gateway = await startTestGateway({ GATEWAY_DATA_DIR: dataDir, GATEWAY_OIDC_ISSUER: issuer.url, ...issuerClient, GATEWAY_OIDC_UNKNOWN_PEOPLE: 'member' }, { logs: new MemoryLogs() });
  let made = 0;
  const call: Stage['call'] = async (method, path, body, { key = adminKey, headers = {} } = {}): Promise<StageReply> => {
    const response = await fetch(gateway.url + path, {
      method, redirect: 'manual', ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: { ...(key === null ? {} : { 'x-gateway-api-key': key }), ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
  };
  return {
    url: gateway.url,
    issuer,
    keys: { admin: adminKey, workspace: apiKey, user, other: otherKey },
    userId,
    workspace: { id: first.row.id, slug: first.row.slug },
    other: { id: other.id, slug: other.slug },
    call,
    made: async (method, path, body, options) => {
      const reply = await call(method, path, body, options);
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      return reply;
    },
    unique: (prefix) => `${prefix}-${(made += 1)}`,
    keyWithout: (who, scopes) => without.get(nameOf(who, scopes)) ?? assert.fail('no such key on this stage'),
  };
}
