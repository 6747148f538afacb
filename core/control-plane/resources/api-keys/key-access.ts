// The rules for managing keys. A caller needs the scope for the type of the key, and no key that it makes or takes over may do more than the caller
// itself:
//
// - Scopes that are handed out must be the caller's own. An organisation key may also hand out those that no organisation key can have (to call
//   models, to write logs): it manages those who have them.
// - Whoever rotates a key reads its new secret, so all scopes of the key must be such.
// - A caller may narrow, stop and remove any key that it manages.
//
// Limits, expiry and defaults of the caller are not handed on: managing keys includes them.

import { scopesOfType } from '../../../auth/scopes.js';
import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { apiKeys, keyTypes, type ApiKeyRow, type KeyType } from '../../../storage/tables/api-keys.js';
import { scopeFault, type ControlContext } from '../../context.js';
import { checkServiceRank } from './key-rank.js';

export type KeyVerb = 'create' | 'read' | 'update' | 'delete' | 'list' | 'rotate';

export const scopeOf = (type: KeyType, verb: KeyVerb): string => `${type.replace('-', '_')}_api_keys.${verb}`;

/** Any of these lets a call in; the type of the key then decides which one is needed. */
export const scopesOf = (verb: KeyVerb): readonly string[] => keyTypes.map((type) => scopeOf(type, verb));

/** The key types that the caller may list. */
export const listableTypes = (context: ControlContext): readonly KeyType[] => keyTypes.filter((type) => context.has(scopeOf(type, 'list')));

/** Of the path: a UUID. Throws ROW_UNKNOWN, WORKSPACE_FOREIGN, SCOPE_MISSING. */
export async function managedKey(context: ControlContext, id: string, verb: KeyVerb): Promise<Stored<ApiKeyRow>> {
  const stored = await context.byId(apiKeys, id);
  const named = { kind: 'api-key', id: id.slice(0, 64) };
  if (stored === undefined) throw fail('ROW_UNKNOWN', named);
  const { caller } = context;
  const workspace = await context.workspaceIfNamed();
  const isInside = stored.row.organisationId === caller.organisationId && (workspace === undefined || stored.row.workspaceId === workspace.id);
  if (!isInside) throw fail('WORKSPACE_FOREIGN', named);
  context.require(scopeOf(stored.row.type, verb));
  if (caller.person?.hasOwnKeysAlone === true && !isOwn(context, stored.row)) throw fail('ACTION_FORBIDDEN', { reason: 'members of a workspace see and rotate keys that act for themselves' });
  context.subject = stored;
  return stored;
}

/** It acts for the person who calls, and can do no more than they. */
export const isOwn = ({ caller }: ControlContext, { userId }: ApiKeyRow): boolean => userId !== null && userId === caller.person?.userId;

/** Throws FIELD_INVALID for the first scope that a key of the type cannot have, SCOPE_MISSING for one, not in `had`, that the caller may not hand out. */
export function checkScopes(context: ControlContext, type: KeyType, wanted: readonly string[], had: readonly string[] = []): void {
  const place = wanted.findIndex((scope) => !scopesOfType[type].includes(scope));
  if (place !== -1) throw fail('FIELD_INVALID', { param: `scopes.${place}`, reason: `is not a scope that a key of type ${type} can have: ${(wanted[place] ?? '').slice(0, 64)}` });
  checkServiceRank(context, type, wanted.filter((scope) => !had.includes(scope)));
  for (const scope of wanted) if (!had.includes(scope) && !mayHandOut(context, scope)) throw scopeFault(context.caller, scope);
}

/** Throws SCOPE_MISSING for a key that may more than the caller. */
export function checkTakeOver(context: ControlContext, row: ApiKeyRow): void {
  if (isOwn(context, row)) return;
  checkServiceRank(context, row.type, row.scopes);
  checkHandOut(context, row.scopes);
}

/** Throws SCOPE_MISSING for the first scope that the caller may not hand out. */
export function checkHandOut(context: ControlContext, scopes: readonly string[]): void {
  for (const scope of scopes) if (!mayHandOut(context, scope)) throw scopeFault(context.caller, scope);
}

const mayHandOut = (context: ControlContext, scope: string): boolean =>
  context.has(scope) || (context.isOrganisationKey && !scopesOfType['organisation-service'].includes(scope));

/** Until when a key can make keys of the organisation, and so hand out all that it may do itself, with a secret that somebody may know; 0: not at all. */
function administersUntil(row: ApiKeyRow, nowMs: number): number {
  if (row.type !== 'organisation-service' || !row.scopes.includes(scopeOf('organisation-service', 'create'))) return 0;
  if (row.isUnclaimed === true && (row.previous?.expiresAtMs ?? 0) <= nowMs) return 0;
  return row.expiresAtMs ?? Infinity;
}

/**
 * Throws ACTION_UNTIMELY when `after` takes from the organisation the last key that can hand out one of its scopes: nobody could have it again. A key
 * that expires is no replacement for one that does not. Those that remain are written with the change, so that two calls at once cannot take away
 * each other's.
 */
export async function keepAdministered(context: ControlContext, stored: Stored<ApiKeyRow>, after: ApiKeyRow | null): Promise<void> {
  const { nowMs } = context;
  const beforeMs = administersUntil(stored.row, nowMs);
  if (beforeMs <= nowMs) return;
  const keeps = (row: ApiKeyRow): boolean => administersUntil(row, nowMs) > nowMs && (beforeMs !== Infinity || administersUntil(row, nowMs) === Infinity);
  const lost = new Set(stored.row.scopes);
  const take = ({ scopes }: ApiKeyRow): boolean => scopes.map((scope) => lost.delete(scope)).includes(true);
  if (after !== null && keeps(after)) take(after);
  for (let offset = 0; lost.size > 0; offset += pageRows) {
    const page = await context.repository.list(apiKeys, { index: 'type', parts: [stored.row.organisationId, 'organisation-service'], limit: pageRows, offset });
    for (const other of page) if (other.row.id !== stored.row.id && keeps(other.row) && take(other.row)) context.change.update(other, other.row);
    if (page.length < pageRows) break;
  }
  const [scope] = lost;
  if (scope === undefined) return;
  throw fail('ACTION_UNTIMELY', { reason: `this is the last key of the organisation that can hand out ${scope}${beforeMs === Infinity ? ' and does not expire' : ''}; make another one first` });
}

const pageRows = 100;
