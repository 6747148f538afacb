// When something is next to be done about an API key by the gateway itself: it expires, its policy rotates it, its previous secret ends, somebody is
// to be warned. An index of the keys is in the order of these times, so that a look for what is due costs what is due.

const dayMs = 86_400_000;

/** How long before an event somebody is told; 0: that it has come. The longest first. */
export const noticesBefore = Object.freeze({ expiry: Object.freeze([7 * dayMs, dayMs, 0]), rotation: Object.freeze([dayMs]) });

/** The last notice about an event. */
export interface Told {
  readonly atMs: number;
  readonly beforeMs: number;
}

export interface KeyTimes {
  readonly expiresAtMs: number | null;
  readonly previous: { readonly expiresAtMs: number } | null;
  readonly rotationPolicy: { readonly next_rotation_at?: string | null } | null;
  readonly isUnclaimed?: boolean;
  readonly told?: { readonly expiry: Told | null; readonly rotation: Told | null };
}

/** When its policy rotates it next; null: not as things are. */
export function rotationMs({ rotationPolicy, previous, expiresAtMs, isUnclaimed = false }: KeyTimes): number | null {
  const at = rotationPolicy?.next_rotation_at;
  // Nobody knows the newest secret: another one in its place would change nothing.
  if (at === undefined || at === null || isUnclaimed) return null;
  const dueMs = Math.max(Date.parse(at), previous?.expiresAtMs ?? 0);
  return Number.isFinite(dueMs) && dueMs < (expiresAtMs ?? Infinity) ? dueMs : null;
}

/** When the next notice about an event at `atMs` is due, and which. */
export function nextNotice(atMs: number, told: Told | null, befores: readonly number[]): { readonly dueMs: number; readonly beforeMs: number } | null {
  const beforeMs = befores.find((each) => told?.atMs !== atMs || each < told.beforeMs);
  return beforeMs === undefined ? null : { dueMs: atMs - beforeMs, beforeMs };
}

/** Null: never, as things are. */
export function nextDueMs(key: KeyTimes): number | null {
  const times: number[] = [];
  const rotation = rotationMs(key);
  if (key.previous !== null) times.push(key.previous.expiresAtMs);
  if (rotation !== null) times.push(rotation, nextNotice(rotation, key.told?.rotation ?? null, noticesBefore.rotation)?.dueMs ?? rotation);
  if (key.expiresAtMs !== null) times.push(nextNotice(key.expiresAtMs, key.told?.expiry ?? null, noticesBefore.expiry)?.dueMs ?? Infinity);
  const first = Math.min(...times);
  return Number.isFinite(first) ? Math.max(0, first) : null;
}

/** As the index has it: its order is that of time. */
export const duePart = (dueMs: number): string => String(Math.floor(dueMs)).padStart(16, '0');
