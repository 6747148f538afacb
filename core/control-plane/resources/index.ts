// Every resource of the control plane.

import type { Resource } from '../define-resource.js';
import { analyticsResource } from './analytics/resource.js';
import { apiKeysResource } from './api-keys/resource.js';
import { auditLogsResource } from './audit-logs/resource.js';
import { collectionsResource } from './collections/resource.js';
import { configsResource } from './configs/resource.js';
import { feedbackResource } from './feedback/resource.js';
import { guardrailsResource } from './guardrails/resource.js';
import { declared } from './declared.js';
import { declarationsResource } from './declarations/resource.js';
import { integrationsResource } from './integrations/resource.js';
import { invitesResource } from './invites/resource.js';
import { modelConfigsResource } from './model-configs/resource.js';
import { openapiResource } from './openapi/resource.js';
import { labelsResource } from './labels/resource.js';
import { logExportsResource } from './log-exports/resource.js';
import { logsResource } from './logs/resource.js';
import { organisationResource } from './organisation/resource.js';
import { rateLimitsResource } from './policies/rate-limits.js';
import { usageLimitsResource } from './policies/usage-limits.js';
import { promptPartialsResource } from './prompt-partials/resource.js';
import { promptsResource } from './prompts/resource.js';
import { providersResource } from './providers/resource.js';
import { scimResource } from './scim/resource.js';
import { secretReferencesResource } from './secret-references/resource.js';
import { signInResource } from './sign-in/resource.js';
import { usersResource } from './users/resource.js';
import { virtualKeysResource } from './virtual-keys/resource.js';
import { workspaceMembersResource } from './workspace-members/resource.js';
import { workspacesResource } from './workspaces/resource.js';

export const resources: readonly Resource[] = [
  analyticsResource,
  apiKeysResource,
  auditLogsResource,
  collectionsResource,
  configsResource,
  declarationsResource(declared),
  feedbackResource,
  guardrailsResource,
  integrationsResource,
  invitesResource,
  labelsResource,
  logExportsResource,
  logsResource,
  modelConfigsResource,
  openapiResource,
  organisationResource,
  promptPartialsResource,
  promptsResource,
  providersResource,
  rateLimitsResource,
  scimResource,
  secretReferencesResource,
  signInResource,
  usageLimitsResource,
  usersResource,
  virtualKeysResource,
  workspaceMembersResource,
  workspacesResource,
];
