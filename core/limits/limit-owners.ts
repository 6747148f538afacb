// Whose limit a counter of usage counts for, by the name of the counter: what its row says of maximum, threshold and resets. Read on the control thread and
// at the start; calls have all of it in their specs.

import type { Repository } from '../storage/repository.js';
import { apiKeys } from '../storage/tables/api-keys.js';
import { integrations } from '../storage/tables/integrations.js';
import { usagePolicies } from '../storage/tables/policies.js';
import { providers } from '../storage/tables/providers.js';
import { workspaces } from '../storage/tables/workspaces.js';
import { countedPerUnit, type LimitLevel } from '../snapshot/limit-specs.js';
import type { ResetRule } from './periods.js';

export interface LimitOwner {
  readonly level: LimitLevel;
  readonly id: string;
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly name: string;
  /** For the audit log. */
  readonly kind: string;
  readonly uri: string;
  /** In the unit of the counter. Infinity: there is none; -1: no threshold. */
  readonly maximum: number;
  readonly threshold: number;
  readonly rule: ResetRule;
  readonly madeAtMs: number;
  /** Usage before it does not count; 0: all does. */
  readonly lastResetAtMs: number;
  readonly alertEmails: readonly string[];
}

interface UsageMembers extends ResetRule {
  readonly type?: string;
  readonly credit_limit?: number | null;
  readonly alert_threshold?: number | null;
}

interface Subject {
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly name: string;
  readonly kind: string;
  readonly uri: string;
  readonly madeAtMs: number;
  readonly lastResetAtMs: number | null;
  readonly alertEmails?: readonly string[];
  readonly usages: readonly (UsageMembers | null)[];
}

/** `<level>/<id>` of a counter's name, and the rest. Of an integration in a workspace the id is both. */
export function partsOf(counter: string): { readonly level: string; readonly id: string; readonly rest: string } {
  const first = counter.indexOf('/');
  const second = counter.indexOf('/', first + 1);
  return { level: counter.slice(0, first), id: counter.slice(first + 1, second), rest: counter.slice(second + 1) };
}

/** The row that says of a counter's limit: table and id. Undefined: none does, as with limits that a token brings. */
export function rowOf(counter: string): string | undefined {
  const { level, id } = partsOf(counter);
  const table = { key: apiKeys, provider: providers, workspace: workspaces, access: integrations, policy: usagePolicies }[level];
  return table === undefined ? undefined : `${table.name}/${level === 'access' ? id.slice(0, id.indexOf('.')) : id}`;
}

/** Undefined: the row is gone, or has no such limit any more. */
export async function limitOwner(repository: Repository, counter: string): Promise<LimitOwner | undefined> {
  const { level, id, rest } = partsOf(counter);
  switch (level) {
    case 'key': {
      const row = (await repository.get(apiKeys, id))?.row;
      return row === undefined ? undefined : ownerOf(level, id, rest, {
        organisationId: row.organisationId, workspaceId: row.workspaceId, name: row.name, kind: 'api-key', uri: `/v1/api-keys/${id}`, madeAtMs: row.createdAtMs, lastResetAtMs: row.lastResetAtMs,
        alertEmails: row.alertEmails, usages: [row.usageLimits],
      });
    }
    case 'provider': {
      const row = (await repository.get(providers, id))?.row;
      return row === undefined ? undefined : ownerOf(level, id, rest, {
        organisationId: row.organisationId, workspaceId: row.workspaceId, name: row.name, kind: row.isVirtualKey ? 'virtual-key' : 'provider', uri: `/v1/${row.isVirtualKey ? 'virtual-keys' : 'providers'}/${row.slug}`,
        madeAtMs: row.createdAtMs, lastResetAtMs: row.lastResetAtMs, usages: [row.usageLimits],
      });
    }
    case 'workspace': {
      const row = (await repository.get(workspaces, id))?.row;
      return row === undefined ? undefined : ownerOf(level, id, rest, {
        organisationId: row.organisationId, workspaceId: id, name: row.name, kind: 'workspace', uri: `/v1/workspaces/${id}`, madeAtMs: row.createdAtMs, lastResetAtMs: row.lastResetAtMs ?? null, usages: row.usageLimits,
      });
    }
    case 'access': {
      const dot = id.indexOf('.');
      const [integrationId, workspaceId] = [id.slice(0, dot), id.slice(dot + 1)];
      const row = (await repository.get(integrations, integrationId))?.row;
      if (row === undefined) return undefined;
      const own = Object.hasOwn(row.workspaces, workspaceId) ? row.workspaces[workspaceId] : undefined;
      return ownerOf(level, id, rest, {
        organisationId: row.organisationId, workspaceId, name: row.name, kind: 'integration', uri: `/v1/integrations/${row.slug}/workspaces`, madeAtMs: row.createdAtMs,
        lastResetAtMs: own?.last_reset_at_ms ?? null, usages: [own === undefined ? row.globalAccess.usage_limits : own.usage_limits],
      });
    }
    case 'policy': {
      const row = (await repository.get(usagePolicies, id))?.row;
      if (row === undefined || row.status === 'archived') return undefined;
      const usage: UsageMembers = {
        type: row.type, credit_limit: row.creditLimit, alert_threshold: row.alertThreshold, periodic_reset: row.periodicReset, periodic_reset_days: row.periodicResetDays,
        next_usage_reset_at: row.firstResetAtMs === null ? null : new Date(row.firstResetAtMs).toISOString(),
      };
      return ownerOf(level, id, row.type, {
        organisationId: row.organisationId, workspaceId: row.workspaceId, name: row.name ?? '', kind: 'policy', uri: `/v1/policies/usage-limits/${id}`, madeAtMs: row.createdAtMs, lastResetAtMs: null, usages: [usage],
      });
    }
    default: return undefined;
  }
}

/** A token of no user has counters of its own, whose names say when it expires: nobody can use them after that. */
export function isTokenExpired(counter: string, nowMs: number): boolean {
  const [, seconds] = expiryOfToken.exec(counter) ?? [];
  return seconds !== undefined && Number(seconds) * 1000 + expiredMs < nowMs;
}
/** Calls that began before are over by then. */
const expiredMs = 3_600_000;
const expiryOfToken = /^token\/jwt:[0-9a-f]{32}@(\d+)\//;

/** The row that said of the counter's limit is there no more, and comes never again. What a row says no more of may be said again, and of a token there is no row. */
export async function isOwnerGone(repository: Repository, counter: string, nowMs: number): Promise<boolean> {
  const { level, id } = partsOf(counter);
  switch (level) {
    case 'key': return await repository.get(apiKeys, id) === undefined;
    case 'provider': return await repository.get(providers, id) === undefined;
    case 'workspace': return await repository.get(workspaces, id) === undefined;
    case 'access': return await repository.get(integrations, id.slice(0, id.indexOf('.'))) === undefined || await repository.get(workspaces, id.slice(id.indexOf('.') + 1)) === undefined;
    case 'policy': return ((await repository.get(usagePolicies, id))?.row.status ?? 'archived') === 'archived';
    default: return isTokenExpired(counter, nowMs);
  }
}

function ownerOf(level: LimitLevel, id: string, counted: string, { usages, alertEmails = [], lastResetAtMs, ...subject }: Subject): LimitOwner | undefined {
  const usage = usages.find((each) => each !== null && (each.type ?? 'cost') === counted);
  if (usage === undefined || usage === null) return undefined;
  const perUnit = countedPerUnit(counted);
  const { credit_limit: limit, alert_threshold: threshold } = usage;
  return {
    level, id, ...subject, alertEmails, lastResetAtMs: lastResetAtMs ?? 0, rule: usage,
    maximum: typeof limit === 'number' ? Math.round(limit * perUnit) : Infinity, threshold: typeof threshold === 'number' ? Math.round(threshold * perUnit) : -1,
  };
}
