// A workspace as its calls see it: the one thing here that changes in its place, so that a change of a workspace or its organisation costs
// nothing for each of its keys. Changed between calls alone.

import type { OrganisationRow } from '../storage/tables/organisations.js';
import type { WorkspaceRow } from '../storage/tables/workspaces.js';
import type { BodyRules } from './body-rules.js';
import type { WorkspacePolicies } from './workspace-policies.js';
import { limitSpecs, type LimitSpec } from './limit-specs.js';

export class WorkspaceState {
  /** Rules that calls have to look at; null: none. */
  rules: WorkspaceRules | null = unknownWorkspace;
  /** Null: no policy binds its calls. */
  policies: WorkspacePolicies | null = null;
  /** Null: none. */
  limits: readonly LimitSpec[] | null = null;

  /** Null: nothing is said of keeping the bodies of its calls. */
  bodies: BodyRules | null = null;

  constructor(readonly id: string) {}
}

export interface WorkspaceRules {
  /** False: archived, removed, or its row cannot be read. */
  readonly isActive: boolean;
  /** Null: none. */
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Id or slug of the config for keys that were made for members; undefined without. */
  readonly memberConfig: string | undefined;
  /** Null: all may be given with the call. */
  readonly savedOnly: SavedOnly | null;
}

/** Things that a call may only name as they are stored, not bring along. */
export interface SavedOnly {
  readonly configs: boolean;
  readonly providers: boolean;
  readonly customHosts: boolean;
  readonly providerUrls: boolean;
  readonly forwardHeaders: boolean;
}

const unknownWorkspace: WorkspaceRules = Object.freeze({ isActive: false, metadata: null, memberConfig: undefined, savedOnly: null });

export function rulesOf(workspace: WorkspaceRow | undefined, organisation: OrganisationRow | undefined): WorkspaceRules | null {
  if (workspace === undefined || workspace.status === 'archived') return unknownWorkspace;
  const metadata = { ...organisation?.defaults.metadata, ...workspace.defaults.metadata };
  const hasMetadata = Object.keys(metadata).length > 0;
  const memberConfig = workspace.defaults.user_api_key_config ?? undefined;
  const savedOnly = savedOnlyOf(organisation?.settings ?? {});
  if (!hasMetadata && memberConfig === undefined && savedOnly === null) return null;
  return Object.freeze({ isActive: true, metadata: hasMetadata ? Object.freeze(metadata) : null, memberConfig, savedOnly });
}

function savedOnlyOf(settings: Readonly<Record<string, unknown>>): SavedOnly | null {
  const isSet = (name: string): boolean => settings[name] === true;
  const savedOnly: SavedOnly = {
    configs: isSet('enforce_saved_configs'),
    providers: isSet('enforce_saved_providers'),
    customHosts: isSet('enforce_saved_custom_hosts'),
    providerUrls: isSet('enforce_saved_provider_urls'),
    forwardHeaders: isSet('enforce_saved_forward_headers'),
  };
  return Object.values(savedOnly).includes(true) ? Object.freeze(savedOnly) : null;
}

export const limitsOfWorkspace = (row: WorkspaceRow | undefined): readonly LimitSpec[] | null => (row === undefined ? null : limitSpecs('workspace', row.id, row.slug, row.rateLimits, row.usageLimits));
