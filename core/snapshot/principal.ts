// Who a key speaks for, and what it brings into its calls. Made by the snapshot, read on every call; frozen, and shared by all calls with the key.

import type { KeyType } from '../storage/tables/api-keys.js';
import type { LimitSpec } from './limit-specs.js';
import type { WorkspaceState } from './workspace-state.js';

export interface Principal {
  readonly keyId: string;
  readonly organisationId: string;
  /** Empty for a key of the organisation. */
  readonly workspaceId: string;
  readonly scopes: ReadonlySet<string>;
  readonly type: KeyType;
  /** Infinity when the key does not expire. */
  readonly expiresAtMs: number;
  /** Null for most keys, whose calls say everything themselves. */
  readonly defaults: KeyDefaults | null;
  /** The workspace of the key as it is now: the same object for all its keys, through all changes. Null for a key of the organisation. */
  readonly workspace: WorkspaceState | null;
  /** Null: none of the key's own. */
  readonly limits: readonly LimitSpec[] | null;
  /** Further claims of a token; null for a key. */
  readonly token: TokenFacts | null;
}

/** Of a token that was taken in place of a key. */
export interface TokenFacts {
  /** Null: a service. */
  readonly userId: string | null;
  readonly usageLimits: readonly Readonly<Record<string, unknown>>[];
  readonly rateLimits: readonly Readonly<Record<string, unknown>>[];
}

/** Said by the key, so that its calls need not. */
export interface KeyDefaults {
  /** Id or slug of a stored config; undefined without. */
  readonly config: string | undefined;
  /** As x-gateway-provider says it: `@slug`, or the id of a provider; undefined without. */
  readonly provider: string | undefined;
  /** False: a call may bring no config of its own. */
  readonly allowsConfig: boolean;
  /** Null: none. */
  readonly metadata: Readonly<Record<string, string>> | null;
  /** The key was made for a member of the workspace by the gateway itself. */
  readonly isOfMember: boolean;
}
