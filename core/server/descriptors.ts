// How many file descriptors the process may have, and whether they are running out. A listening socket that cannot accept for want of one
// wakes its thread again and again, at full load: who is told here stops listening until there is room.

import { closeSync, openSync, readFileSync } from 'node:fs';

/** For databases, threads, files and the calls of plugins. */
const reserveMax = 256;
/** Fewer free ones are too few. */
const freeMin = 8;

/** The limit of this process; undefined where the system does not tell. */
export function descriptorLimit(): number | undefined {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    // Not Linux.
    return undefined;
  }
}

/** Connections of clients that leave each of them one to a provider. */
export const connectionsFor = (limit: number): number => Math.max(1, Math.floor((limit - Math.min(reserveMax, Math.floor(limit / 2))) / 2));

/** A new descriptor is always the lowest that is free, so its number says how many are taken, as far as there are no gaps. */
export function isDescriptorFree(limit: number): boolean {
  try {
    const descriptor = openSync('/dev/null', 'r');
    closeSync(descriptor);
    return descriptor < limit - freeMin;
  } catch {
    return false;
  }
}
