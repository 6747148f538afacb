// What each type of key may be allowed to do, as data, and the check of one scope. A key's own scopes are a subset of its type's.

import { fail } from '../errors/gateway-error.js';
import type { KeyType } from '../storage/tables/api-keys.js';
import type { Principal } from './principal.js';

type Verbs = readonly string[];

/** Verbs of the groups that have all five. */
const rows: Verbs = ['create', 'read', 'update', 'delete', 'list'];
const keys: Verbs = [...rows, 'rotate'];
const none: Verbs = [];

/** Group -> verbs of an organisation's admin key, of a workspace's service key, and of a workspace user's key. */
const families: Readonly<Record<string, readonly [admin: Verbs, service: Verbs, user: Verbs]>> = {
  organisation_users: [rows, none, none],
  organisation_service_api_keys: [keys, none, none],
  organisation_settings: [['read', 'update'], none, none],
  organisation_exclusions: [['update', 'list'], none, none],
  organisation_guardrails: [rows, none, none],
  audit_logs: [['list'], none, none],
  plugins: [['create', 'update', 'list'], none, none],
  deployments: [rows, none, none],
  secret_references: [rows, none, none],
  organisation_integrations: [rows, ['list'], ['list']],
  organisation_mcp_integrations: [rows, ['list'], ['list']],
  organisation_agent_integrations: [rows, ['list'], ['list']],
  workspaces: [rows, ['read', 'update', 'list'], none],
  workspace_service_api_keys: [keys, keys, none],
  workspace_user_api_keys: [keys, keys, none],
  workspace_users: [rows, rows, none],
  workspace_integrations: [rows, rows, rows],
  workspace_mcp_integrations: [rows, rows, rows],
  workspace_agent_integrations: [rows, rows, rows],
  prompts: [[...rows, 'publish'], [...rows, 'publish', 'render'], [...rows, 'publish', 'render']],
  configs: [rows, rows, rows],
  guardrails: [rows, [...rows, 'invoke'], [...rows, 'invoke']],
  policies: [rows, rows, rows],
  virtual_keys: [[...rows, 'duplicate', 'copy'], [...rows, 'duplicate', 'copy'], [...rows, 'duplicate', 'copy']],
  providers: [rows, rows, rows],
  mcp_servers: [rows, rows, rows],
  agent_servers: [rows, rows, rows],
  agent_server_skills: [rows, rows, rows],
  agent_server_user_access: [rows, rows, rows],
  agent_integration_skills: [rows, rows, rows],
  mcp: [none, ['invoke'], ['invoke']],
  agents: [none, ['invoke'], ['invoke']],
  completions: [none, ['write'], ['write']],
  logs: [['export', 'list', 'view'], ['export', 'list', 'view', 'write'], ['export', 'list', 'view', 'write']],
  analytics: [['view'], ['view'], ['view']],
  metrics: [['read'], none, none],
};

const scopesAt = (column: 0 | 1 | 2): readonly string[] =>
  Object.freeze(Object.entries(families).flatMap(([group, verbs]) => verbs[column].map((verb) => `${group}.${verb}`)));

/** Every scope that a key of the type can have. */
export const scopesOfType: { readonly [T in KeyType]: readonly string[] } = {
  'organisation-service': scopesAt(0),
  'workspace-service': scopesAt(1),
  'workspace-user': scopesAt(2),
};

/** Scopes that no key has, but tokens of a workspace may. */
const ofTokens: readonly string[] = ['completions.read', 'logs.read', 'feedbacks.read', 'feedbacks.write', 'models.list'];

/** Every scope that a token in the place of such a key can have. */
export const scopesOfTokens: { readonly [T in KeyType]: ReadonlySet<string> } = {
  'organisation-service': new Set(scopesOfType['organisation-service']),
  'workspace-service': new Set([...scopesOfType['workspace-service'], ...ofTokens]),
  'workspace-user': new Set([...scopesOfType['workspace-user'], ...ofTokens]),
};

/** The scope that something asks of a key: one scope, or instead of it any one of others. */
export interface ScopeRule {
  readonly scope: string;
  readonly otherScopes?: readonly string[];
}

/** Throws SCOPE_MISSING. */
export function requireScope(principal: Principal, rule: ScopeRule): void {
  if (principal.scopes.has(rule.scope)) return;
  const { otherScopes = [] } = rule;
  if (!otherScopes.some((scope) => principal.scopes.has(scope))) throw fail('SCOPE_MISSING', { scope: [rule.scope, ...otherScopes].join(' or ') });
}
