// Roles of people, as lists of scopes. A key of a person may do only what its own scopes and the person's role both allow. Owners and admins of
// the organisation act as admins in every workspace. Settings of the organisation add scopes to the roles of workspaces and remove some.

import type { OrganisationRole } from '../storage/tables/users.js';
import type { WorkspaceRole } from '../storage/tables/workspace-members.js';
import { scopesOfType } from './scopes.js';

/** Verbs of members, who use and view; all other verbs are for those who manage. */
const memberVerbs: ReadonlySet<string> = new Set(['read', 'list', 'view', 'invoke', 'render', 'write']);
const memberExtras: readonly string[] = ['workspaces.read', 'workspaces.list'];
/** Scopes of people who are signed in, for the keys that act for themselves. */
export const ownKeyScopes: readonly string[] = ['workspace_user_api_keys.read', 'workspace_user_api_keys.list', 'workspace_user_api_keys.rotate'];
const logScopes: readonly string[] = ['logs.list', 'logs.view', 'logs.export'];

const groupOf = (scope: string): string => scope.slice(0, scope.lastIndexOf('.'));
const verbOf = (scope: string): string => scope.slice(scope.lastIndexOf('.') + 1);

const managed = scopesOfType['workspace-service'];
const viewed: readonly string[] = [...scopesOfType['workspace-user'].filter((scope) => memberVerbs.has(verbOf(scope))), ...memberExtras];
/** Groups of scopes that settings can give to members or take from managers: those that a key of a person can have. */
export const roleGroups: readonly string[] = [...new Set(scopesOfType['workspace-user'].map(groupOf))];

/** With the names of the wire. */
type Settings = Readonly<Record<string, unknown>>;

const groupsIn = (settings: Settings, name: string): readonly unknown[] => {
  const groups: unknown = Object(settings.role_settings)[name];
  return Array.isArray(groups) ? groups : [];
};

/** Scopes in a workspace. */
export function scopesOfRole(role: WorkspaceRole, settings: Settings): readonly string[] {
  switch (role) {
    case 'admin': return managed;
    case 'manager': {
      const onlyViewed = groupsIn(settings, 'managers_view');
      const hidden = settings.managersViewLogs === false ? logScopes : [];
      return managed.filter((scope) => !hidden.includes(scope) && (memberVerbs.has(verbOf(scope)) || !onlyViewed.includes(groupOf(scope))));
    }
    case 'member': {
      const given = groupsIn(settings, 'members_manage');
      const hidden = settings.membersViewLogs === false ? logScopes : [];
      return [...new Set([...viewed, ...scopesOfType['workspace-user'].filter((scope) => given.includes(groupOf(scope)))])].filter((scope) => !hidden.includes(scope));
    }
  }
}

const workspaceRanks: Readonly<Record<WorkspaceRole, number>> = { member: 1, manager: 2, admin: 3 };

export const isAbove = (one: WorkspaceRole, other: WorkspaceRole): boolean => workspaceRanks[one] > workspaceRanks[other];

/** Acts as admin in every workspace, as a member or not. */
export const actsEverywhere = (role: OrganisationRole): boolean => role !== 'member';
