// Rows of the control store for tests, whole, with what a test does not care about filled in.

import { Change } from '../../core/storage/change.js';
import type { Row, Table } from '../../core/storage/define-table.js';
import type { Repository } from '../../core/storage/repository.js';
import type { ApiKeyRow } from '../../core/storage/tables/api-keys.js';
import type { RatePolicyRow, UsagePolicyRow } from '../../core/storage/tables/policies.js';
import type { UserRow } from '../../core/storage/tables/users.js';
import { memberId, type WorkspaceMemberRow } from '../../core/storage/tables/workspace-members.js';

export const hashOfLetter = (letter: string): string => letter.repeat(64);

/** A key of a workspace whose id, name, hash and prefix are of one letter. */
export const keyRow = (letter: string, changes: Partial<ApiKeyRow> = {}): ApiKeyRow => ({
  id: letter, name: letter, description: null, type: 'workspace-service', organisationId: 'o', workspaceId: 'w', userId: null, scopes: ['completions.write'],
  keyHash: hashOfLetter(letter), keyPrefix: letter.repeat(4), keyMasked: `${letter.repeat(4)}****`, previous: null, status: 'active', creationMode: 'api',
  createdAtMs: 1, updatedAtMs: 1, lastResetAtMs: null, expiresAtMs: null,
  defaults: { metadata: {}, config_id: null, provider: null, allow_config_override: true }, usageLimits: null, rateLimits: [], alertEmails: [], rotationPolicy: null, ...changes,
});

/** Commits these rows, whether they are there already or not; all at once. */
export async function putRows<R extends Row>(repository: Repository, table: Table<R>, ...rows: readonly R[]): Promise<void> {
  const change = new Change();
  for (const row of rows) {
    const stored = await repository.get(table, row.id);
    if (stored === undefined) change.insert(table, row);
    else change.update(stored, row);
  }
  await repository.commit(change);
}

export async function removeRows<R extends Row>(repository: Repository, table: Table<R>, ...ids: readonly string[]): Promise<void> {
  const change = new Change();
  for (const id of ids) {
    const stored = await repository.get(table, id);
    if (stored !== undefined) change.remove(stored);
  }
  await repository.commit(change);
}

/** A member of the organisation. */
export const userRow = (id: string, changes: Partial<UserRow> = {}): UserRow =>
  ({ id, organisationId: 'o', email: `${id}@example.com`, firstName: 'A', lastName: 'Person', role: 'member', identity: null, createdAtMs: 1, updatedAtMs: 1, ...changes });

export const memberRow = (workspaceId: string, userId: string, role: WorkspaceMemberRow['role'], changes: Partial<WorkspaceMemberRow> = {}): WorkspaceMemberRow =>
  ({ id: memberId(workspaceId, userId), organisationId: 'o', workspaceId, userId, role, origin: 'direct', createdAtMs: 1, updatedAtMs: 1, ...changes });

const policyRow = { organisationId: 'o', workspaceId: 'w', name: null, description: null, conditions: [], groupBy: [], status: 'active', createdAtMs: 1, updatedAtMs: 1 } as const;
export const usagePolicyRow = (id: string, changes: Partial<UsagePolicyRow> = {}): UsagePolicyRow =>
  ({ ...policyRow, id, type: 'cost', creditLimit: 1, alertThreshold: null, periodicReset: null, periodicResetDays: null, firstResetAtMs: null, ...changes });
export const ratePolicyRow = (id: string, changes: Partial<RatePolicyRow> = {}): RatePolicyRow => ({ ...policyRow, id, target: 'llm', type: 'requests', unit: 'rpm', value: 1, ...changes });
