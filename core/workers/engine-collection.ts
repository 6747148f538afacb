// The engine's own function that collects what died young. Only a context that is made while a flag is set is given it. Plugins are not to see it: one that calls
// it stops the calls of its thread, and one that looks for it would do otherwise here than elsewhere. So the flag is set for a moment alone, and a thread
// whose context was made in such a moment of another thread lets go of what it was given.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Whoever started the process may have asked for it. */
const isAskedFor = process.execArgv.some((flag) => /^--expose[-_]gc\b/.test(flag));

/** Where the engine has none, collections come when they come. */
export function youngCollection(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('typeof gc === "function" ? () => gc({ type: "minor" }) : undefined');
  if (!isAskedFor) setFlagsFromString('--no-expose-gc');
  return typeof collect === 'function' ? () => { collect(); } : () => undefined;
}

/** In each thread that has plugins, before they are loaded. */
export function hideCollection(): void {
  // It cannot be deleted.
  if (!isAskedFor && globalThis.gc !== undefined) globalThis.gc = undefined;
}
