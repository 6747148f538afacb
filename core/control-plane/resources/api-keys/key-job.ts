// The life of API keys as time passes, in this order: the period that the organisation enforces, secrets and keys that end, rotations that are due,
// warnings. Each key is one change with its audit entries, on the row as it was read: it happens once, whoever runs it.

import { makeKey } from '../../../auth/key.js';
import { Change, type Stored } from '../../../storage/change.js';
import type { Repository } from '../../../storage/repository.js';
import { apiKeys, type ApiKeyRow } from '../../../storage/tables/api-keys.js';
import { nextDueMs, nextNotice, noticesBefore, rotationMs, type Told } from '../../../storage/tables/key-due.js';
import { organisations } from '../../../storage/tables/organisations.js';
import { time } from '../../envelope.js';
import { isCommitted, ownAuditRecord, type Job, type JobContext, type Memory } from '../../jobs.js';
import { periodOf } from './key-fields.js';
import { rotated, rotationDetails } from './rotate-key.js';
import { enforcedPolicy, keepsTo, transitionMsMin, type EnforcedPeriod } from './rotation-policy.js';

/** Keys that one run changes; the rest follow in the next. */
const keysMax = 1_000;
const pageRows = 100;

interface Notice {
  readonly action: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** In the audit log alone: who is to be told. */
  readonly alertEmails?: readonly string[];
}

export const keyJob: Job = Object.freeze({ name: 'api-keys', isDue, run });

async function isDue({ repository, nowMs, memory }: JobContext): Promise<boolean> {
  const [first] = await repository.list(apiKeys, { index: 'due', limit: 1 });
  return (first !== undefined && (nextDueMs(first.row) ?? Infinity) <= nowMs) || (await periodsToEnforce(repository, memory)).length > 0;
}

async function run(context: JobContext): Promise<Memory> {
  const { repository, nowMs, memory } = context;
  const enforced: Record<string, unknown> = { ...memory };
  for (const { organisationId, period } of await periodsToEnforce(repository, memory)) {
    if (period === null || await enforce(context, organisationId, period)) enforced[organisationId] = period;
  }
  const seen = new Set<string>();
  for (;;) {
    const page = await repository.list(apiKeys, { index: 'due', limit: pageRows });
    const due = page.filter(({ row }) => !seen.has(row.id) && (nextDueMs(row) ?? Infinity) <= nowMs);
    for (const stored of due) {
      seen.add(stored.row.id);
      await settle(context, stored);
    }
    if (due.length === 0 || seen.size >= keysMax) return enforced;
  }
}

/** The periods that organisations enforce since the last run. */
async function periodsToEnforce(repository: Repository, memory: Memory): Promise<readonly { readonly organisationId: string; readonly period: EnforcedPeriod }[]> {
  const rows = await repository.list(organisations, { limit: pageRows });
  return rows.map(({ row }) => ({ organisationId: row.id, period: periodOf(row.settings) })).filter(({ organisationId, period }) => (memory[organisationId] ?? null) !== period);
}

/** Gives the keys of users the enforced period. False: some are left for the next time. */
async function enforce(context: JobContext, organisationId: string, period: Exclude<EnforcedPeriod, null>): Promise<boolean> {
  const { repository, nowMs } = context;
  let changed = 0;
  for (let offset = 0; ; offset += pageRows) {
    const page = await repository.list(apiKeys, { index: 'type', parts: [organisationId, 'workspace-user'], limit: pageRows, offset });
    for (const stored of page) {
      const { row } = stored;
      if (keepsTo(row.rotationPolicy, period)) continue;
      if (changed >= keysMax) return false;
      changed += 1;
      const policy = enforcedPolicy(period, nowMs);
      const change = new Change();
      change.update(stored, { ...row, rotationPolicy: policy, updatedAtMs: nowMs });
      change.audit.push(recordOf(row, nowMs, { action: 'rotation-enforced', message: '', details: { next_rotation_at: policy.next_rotation_at } }));
      if (!await isCommitted(repository, change)) return false;
    }
    if (page.length < pageRows) return true;
  }
}

async function settle({ repository, nowMs, notify }: JobContext, stored: Stored<ApiKeyRow>): Promise<void> {
  const { after, notices } = settled(stored.row, nowMs);
  const change = new Change();
  change.update(stored, after);
  change.audit.push(...notices.map((notice) => recordOf(after, nowMs, notice)));
  // Somebody changed it meanwhile: it is due still, or not any more.
  if (!await isCommitted(repository, change)) return;
  for (const { message, details } of notices) notify(message, { key: after.id, name: after.name, ...details });
}

function settled(before: ApiKeyRow, nowMs: number): { readonly after: ApiKeyRow; readonly notices: readonly Notice[] } {
  const notices: Notice[] = [];
  let row = before;
  const { previous, expiresAtMs, alertEmails } = row;
  if (previous !== null && previous.expiresAtMs <= nowMs) {
    row = { ...row, previous: null };
    notices.push({
      action: 'transition-ended', details: { old_key: previous.keyMasked, is_unclaimed: row.isUnclaimed === true },
      message: row.isUnclaimed === true ? 'an API key has no secret that anybody knows: it was rotated by its policy, and nobody has asked for the new one; rotate it' : 'the secret that an API key had before its rotation is not valid any more',
    });
  }
  const dueMs = rotationMs(row);
  const isExpired = expiresAtMs !== null && expiresAtMs <= nowMs;
  if (isExpired && row.rotationPolicy !== null) {
    // It begins anew when the key gets another expiry.
    row = { ...row, rotationPolicy: { ...row.rotationPolicy, next_rotation_at: null } };
  } else if (dueMs !== null && dueMs <= nowMs) {
    const old = row.keyMasked;
    // Nobody sees this secret: it takes the place of the old one until somebody asks for another.
    row = { ...rotated(row, makeKey(), row.rotationPolicy?.key_transition_period_ms ?? transitionMsMin, nowMs), isUnclaimed: true };
    notices.push({ action: 'rotated', message: 'an API key was rotated by its policy; ask for its new secret with POST /v1/api-keys/{id}/rotate before the old one ends', details: rotationDetails(row, 'auto', old) });
  }
  let told = row.told ?? { expiry: null, rotation: null };
  const expiry = expiresAtMs === null ? null : lastNotice(expiresAtMs, told.expiry, noticesBefore.expiry, nowMs);
  if (expiresAtMs !== null && expiry !== null) {
    told = { ...told, expiry };
    const details = { expires_at: time(expiresAtMs) };
    notices.push(expiry.beforeMs === 0 ? { action: 'expired', message: 'an API key has expired', details, alertEmails } : { action: 'expiry-warned', message: 'an API key expires soon', details, alertEmails });
  }
  const nextMs = rotationMs(row);
  const rotation = nextMs === null ? null : lastNotice(nextMs, told.rotation, noticesBefore.rotation, nowMs);
  if (nextMs !== null && rotation !== null) {
    told = { ...told, rotation };
    notices.push({ action: 'rotation-warned', message: 'an API key is rotated soon by its policy', details: { next_rotation_at: time(nextMs) }, alertEmails });
  }
  return { after: { ...row, told }, notices };
}

/** The latest of the notices that are due: those before it are too late to be given. */
function lastNotice(atMs: number, told: Told | null, befores: readonly number[], nowMs: number): Told | null {
  let last: Told | null = null;
  for (let next = nextNotice(atMs, told, befores); next !== null && next.dueMs <= nowMs; next = nextNotice(atMs, last, befores)) last = { atMs, beforeMs: next.beforeMs };
  return last;
}

const recordOf = (row: ApiKeyRow, nowMs: number, { action, details, alertEmails }: Notice): Readonly<Record<string, unknown>> =>
  ownAuditRecord(nowMs, { organisationId: row.organisationId, workspaceId: row.workspaceId, resourceType: 'api-key', uri: `/v1/api-keys/${row.id}` }, action, { api_key_id: row.id, ...details, ...(alertEmails === undefined ? {} : { alert_emails: alertEmails }) });
