// Circles of imports: files that reach themselves.

import type { Import } from './arrows.js';

/** Each as one line, `a > b > a`. Imports of types count, and so does what a file exports from another. */
export function circlesIn(imports: readonly Import[]): string[] {
  const arrows = new Map<string, Set<string>>();
  for (const { from, target, isRelative } of imports) if (isRelative) arrows.set(from, (arrows.get(from) ?? new Set()).add(target));
  const found: string[] = [];
  const done = new Set<string>();
  const way: string[] = [];
  const walk = (path: string): void => {
    const at = way.indexOf(path);
    if (at !== -1) found.push([...way.slice(at), path].join(' > '));
    if (at !== -1 || done.has(path)) return;
    way.push(path);
    for (const target of arrows.get(path) ?? []) walk(target);
    way.pop();
    done.add(path);
  };
  for (const path of arrows.keys()) walk(path);
  return found;
}
