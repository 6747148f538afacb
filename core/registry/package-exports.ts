// Where "exports" of a package.json leads a path of the package, for import(). Node's own answer is the one of the first time that it read the
// file; a package that is taken over again when it changes needs today's. See https://nodejs.org/api/packages.html#exports.

import { isObject } from '@gateway/plugin-sdk';

/** The conditions that Node takes for an import, in the order in which the package names them. */
const conditions: ReadonlySet<string> = new Set(['node-addons', 'node', 'import', 'module-sync', 'default']);
const depthMax = 16;

/** A path below the package (`./dist/first.js`), or undefined when `place` (`./strategy/first`) is not exported. */
export function exportedPath(exports: unknown, place: string): string | undefined {
  if (!isObject(exports)) return undefined;
  const key = Object.hasOwn(exports, place) ? place : patternFor(Object.keys(exports), place);
  if (key === undefined) return undefined;
  const [before = '', after] = key.split('*', 2);
  return targetOf(exports[key], after === undefined ? '' : place.slice(before.length, place.length - after.length), 0);
}

/** The pattern with the longest beginning, as Node chooses. */
function patternFor(keys: readonly string[], place: string): string | undefined {
  let best: string | undefined;
  for (const key of keys) {
    const [before = '', after] = key.split('*', 2);
    if (after === undefined || !place.startsWith(before) || !place.endsWith(after) || place.length <= before.length + after.length) continue;
    if (best === undefined || before.length > best.indexOf('*') || (before.length === best.indexOf('*') && key.length > best.length)) best = key;
  }
  return best;
}

function targetOf(target: unknown, filled: string, depth: number): string | undefined {
  if (typeof target === 'string') {
    const path = target.replaceAll('*', filled);
    return path.startsWith('./') && !path.slice(2).split(/[/\\]/).some((part) => part === '..' || part === '.' || part === 'node_modules') ? path : undefined;
  }
  if (depth === depthMax) return undefined;
  const inner = Array.isArray(target) ? target : isObject(target) ? Object.entries(target).filter(([name]) => conditions.has(name)).map(([, value]) => value) : [];
  for (const each of inner) {
    const path = targetOf(each, filled, depth + 1);
    if (path !== undefined) return path;
    // `null` says that there is none.
    if (each === null) return undefined;
  }
  return undefined;
}
