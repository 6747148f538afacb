// How long people stay signed in. A setting that gets shorter ends older sessions at once; one that gets longer lengthens none.

import type { SessionRow } from '../storage/tables/sessions.js';

const defaultSeconds = 86_400;

/** `settings` of the organisation, in the words of the wire. */
export function sessionMsMax(settings: Readonly<Record<string, unknown>>): number {
  const seconds: unknown = Object(settings.session_settings).max_session_ttl;
  return (typeof seconds === 'number' ? seconds : defaultSeconds) * 1000;
}

export const hasEnded = ({ endedAtMs, expiresAtMs, createdAtMs }: Pick<SessionRow, 'endedAtMs' | 'expiresAtMs' | 'createdAtMs'>, settings: Readonly<Record<string, unknown>>, nowMs: number): boolean =>
  endedAtMs !== null || expiresAtMs <= nowMs || createdAtMs + sessionMsMax(settings) <= nowMs;
