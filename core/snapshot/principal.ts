// Who a key speaks for. Made by the snapshot, read on every call; frozen, and shared by all calls with the key.

import type { KeyType } from '../storage/tables/api-keys.js';

export interface Principal {
  readonly keyId: string;
  readonly organisationId: string;
  /** Empty for a key of the organisation. */
  readonly workspaceId: string;
  readonly scopes: ReadonlySet<string>;
  readonly type: KeyType;
  /** Infinity when the key does not expire. */
  readonly expiresAtMs: number;
}
