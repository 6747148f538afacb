// The rules of a workspace, or else its organisation, for keeping the bodies of its calls in the log.

import type { LogBodySettings } from '../storage/tables/log-body-settings.js';

export interface BodyRules {
  /** For calls that say nothing themselves. */
  readonly isEnabled: boolean;
  /** Calls may ask for it. */
  readonly isByCall: boolean;
  /** Of each body. */
  readonly bytesMax: number;
  /** In lower case. */
  readonly maskedHeaders: ReadonlySet<string>;
  /** Also what hooks changed, as it was before. */
  readonly keepsOriginal: boolean;
}

const bytesMaxByDefault = 65_536;

export const bodyRulesByDefault: BodyRules = Object.freeze({ isEnabled: false, isByCall: true, bytesMax: bytesMaxByDefault, maskedHeaders: new Set<string>(), keepsOriginal: false });

/** Null: neither says anything. A member of the workspace wins; headers are masked that either names. */
export function bodyRulesOf(workspace: LogBodySettings | null | undefined, organisation: LogBodySettings | null | undefined): BodyRules | null {
  if ((workspace ?? null) === null && (organisation ?? null) === null) return null;
  const { enabled, by_call, bytes_max, keep_original } = { ...organisation, ...workspace };
  return Object.freeze({
    isEnabled: enabled ?? false, isByCall: by_call ?? true, bytesMax: bytes_max ?? bytesMaxByDefault, keepsOriginal: keep_original ?? false,
    maskedHeaders: new Set([...organisation?.masked_headers ?? [], ...workspace?.masked_headers ?? []].map((name) => name.toLowerCase())),
  });
}
