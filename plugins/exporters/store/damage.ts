// What cannot be read is left out, hides nothing else, and is told: each once, and so many of them.

import type { Host } from '@gateway/plugin-sdk';

/** More than these are counted, and not told one by one. */
const toldMax = 100;
/** More than these are neither. */
const knownMax = 10_000;

/** `fields`: what is known of what was left out. */
export type OnDamaged = (key: string, thrown: unknown, fields?: Readonly<Record<string, string | number>>) => void;

export function damageOf(host: Pick<Host, 'count' | 'log'>, metric: string, message: string): OnDamaged {
  const known = new Set<string>();
  return (key, thrown, fields = {}) => {
    if (known.has(key) || known.size >= knownMax) return;
    known.add(key);
    host.count(metric);
    if (known.size <= toldMax) host.log.error(message, { key, ...fields, reason: thrown instanceof Error ? thrown.message : String(thrown) });
  };
}
