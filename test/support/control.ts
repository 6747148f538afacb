// A control plane in this process, without a server: rows in memory, a clock that stands still, calls as the serving threads hand them over.

import type { LogReader } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { bootstrap } from '../../core/auth/bootstrap.js';
import { hashKey } from '../../core/auth/key.js';
import type { Caller } from '../../core/control-plane/context.js';
import { ControlPlane } from '../../core/control-plane/dispatch.js';
import { ExportRunner } from '../../core/control-plane/resources/log-exports/export-runner.js';
import type { SpendService } from '../../core/control-plane/spend-service.js';
import { resources } from '../../core/control-plane/resources/index.js';
import { describeApi } from '../../core/openapi/document.js';
import { Registry } from '../../core/registry/registry.js';
import { prepareStore } from '../../core/storage/prepare-store.js';
import { Repository } from '../../core/storage/repository.js';
import { Sealer } from '../../core/storage/sealer.js';
import { apiKeys } from '../../core/storage/tables/api-keys.js';
import { bootstraps } from '../../core/storage/tables/bootstraps.js';
import { tables } from '../../core/storage/tables/index.js';
import { MemoryLogs } from './memory-logs.js';
import { checkReply } from './reply-schema.js';
import { users } from '../../core/storage/tables/users.js';
import { workspaceMembers } from '../../core/storage/tables/workspace-members.js';
import { memberRow, putRows, userRow } from './rows.js';

export const firstAdminKey = 'control-test-admin-key';
export const firstApiKey = 'control-test-api-key-1';

/** A manager of the first workspace. */
export const firstPerson = '01890000-0000-7000-8000-000000000001';

export interface TestReply {
  readonly status: number;
  readonly headers: readonly string[];
  // The shapes are what the tests are about.
  readonly body: Record<string, unknown>;
}

export interface TestControl {
  readonly plane: ControlPlane;
  readonly repository: Repository;
  readonly faults: unknown[];
  readonly logs: MemoryLogs;
  readonly exports: ExportRunner | undefined;
  readonly sealer: Sealer;
  /** Milliseconds since the Unix epoch; set it to let time pass. */
  clock: { nowMs: number };
  callerOf(key: string): Promise<Caller>;
  /** With the admin key of the organisation, unless `as` gives another. The answer is held against the schema of the operation. */
  call(method: string, path: string, body?: unknown, options?: { readonly as?: string; readonly ifMatch?: string; readonly idempotencyKey?: string }): Promise<TestReply>;
}

export interface TestControlOptions {
  /** Where exports of logs are written; without, none are run. */
  readonly exportsFolder?: string;
  readonly spend?: SpendService;
  /** In place of the records in memory. */
  readonly logReader?: LogReader;
  /** Folders of plugins of third parties. */
  readonly packages?: readonly string[];
  /** Another process on what this one has: its rows, records, secrets and clock. */
  readonly beside?: TestControl;
}

async function firstRows(clock: { readonly nowMs: number }): Promise<Repository> {
  const repository = new Repository(await fakeHost().store('control'));
  await prepareStore(repository, tables);
  await bootstrap(repository, { adminKey: firstAdminKey, apiKey: firstApiKey }, () => clock.nowMs - 1000);
  const first = await repository.get(bootstraps, 'first');
  if (first === undefined) throw new Error('the first rows are missing');
  const { organisationId, workspaceId } = first.row;
  await putRows(repository, users, userRow(firstPerson, { organisationId }));
  await putRows(repository, workspaceMembers, memberRow(workspaceId, firstPerson, 'manager', { organisationId }));
  return repository;
}

export async function startControl({ exportsFolder, spend, logReader, packages = [], beside }: TestControlOptions = {}): Promise<TestControl> {
  const clock = beside?.clock ?? { nowMs: Date.UTC(2030, 0, 15, 12) };
  const repository = beside?.repository ?? await firstRows(clock);
  const faults: unknown[] = [];
  const logs = beside?.logs ?? new MemoryLogs();
  const metadataHeaders = new Set(['x-team']);
  const sealer = beside?.sealer ?? new Sealer(Buffer.alloc(32, 7));
  const exports = exportsFolder === undefined ? undefined : new ExportRunner({ repository, logs, metadataHeaders, folder: exportsFolder, now: () => clock.nowMs, onFault: (_, thrown) => faults.push(thrown) });
  const registry = new Registry({ packages, fromFolder: process.cwd(), hostOf: () => fakeHost() });
  const plane = new ControlPlane({ metadataHeaders, logs: logReader ?? logs, exports, repository, spend, sealer, registry, poolCheck: () => { throw new Error('no workers here'); }, untilObeyed: async () => {}, apiDescription: async () => JSON.stringify(describeApi(resources, '0.0.0')), now: () => clock.nowMs, onFault: (_, thrown) => faults.push(thrown) }, resources);
  const callerOf = async (key: string): Promise<Caller> => {
    const row = (await repository.find(apiKeys, 'hash', [hashKey(key)]))?.row;
    if (row === undefined) throw new Error('no such key');
    return { keyId: row.id, keyType: row.type, organisationId: row.organisationId, workspaceId: row.workspaceId ?? '', scopes: row.scopes };
  };
  let calls = 0;
  return {
    plane, repository, faults, logs, exports, sealer, clock, callerOf,
    call: async (method, path, body, { as = firstAdminKey, ifMatch, idempotencyKey } = {}) => {
      const [route = '', query = ''] = path.split('?');
      calls += 1;
      const reply = await plane.handle({
        id: `call-${calls}`, method, path: route, query, body: body === undefined ? new Uint8Array(0) : Buffer.from(JSON.stringify(body)), ifMatch, idempotencyKey,
        headers: ['user-agent', 'test'], address: '127.0.0.1', caller: await callerOf(as),
      });
      const answer = { ...reply, body: JSON.parse(reply.body) };
      checkReply(plane.router.find(method, route)?.operation, reply.status, answer.body, `${method} ${route}`);
      return answer;
    },
  };
}
