// Every table of the control store, for what goes over all of them: migration, backup, the snapshot.

import type { Table } from '../define-table.js';
import { apiKeys } from './api-keys.js';
import { bootstraps } from './bootstraps.js';
import { configVersions } from './config-versions.js';
import { configs } from './configs.js';
import { formerUsers } from './former-users.js';
import { guardrails } from './guardrails.js';
import { declarations } from './declarations.js';
import { idempotency } from './idempotency.js';
import { integrations } from './integrations.js';
import { invites } from './invites.js';
import { jobStates } from './job-states.js';
import { logExports } from './log-exports.js';
import { organisations } from './organisations.js';
import { partialVersions, promptCollections, promptLabels, promptPartials, prompts, promptVersions } from './prompts.js';
import { ratePolicies, usagePolicies } from './policies.js';
import { providers } from './providers.js';
import { scimGroups } from './scim-groups.js';
import { scimMappings } from './scim-mappings.js';
import { sessions } from './sessions.js';
import { users } from './users.js';
import { workspaceMembers } from './workspace-members.js';
import { secretReferences } from './secret-references.js';
import { workspaces } from './workspaces.js';

export const tables: readonly Table[] = [
  organisations,
  workspaces,
  apiKeys,
  bootstraps,
  integrations,
  providers,
  configs,
  configVersions,
  guardrails,
  idempotency,
  jobStates,
  users,
  workspaceMembers,
  invites,
  scimGroups,
  scimMappings,
  sessions,
  prompts,
  promptVersions,
  promptPartials,
  partialVersions,
  promptLabels,
  promptCollections,
  declarations,
  secretReferences,
  formerUsers,
  usagePolicies,
  ratePolicies,
  logExports,
];
