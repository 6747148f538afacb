// Where a member stands in a JSON text, for messages that name the line to change. Runs when a package is refused.

import { findNodeAtLocation, parseTree } from 'jsonc-parser';

/** Line of the member that `path` leads to; of the innermost one that is there, when it is missing. The text must be JSON. Counts from 1. */
export function lineOfMember(text: string, path: readonly string[]): number {
  let found = parseTree(text);
  for (const name of path) {
    const inner = found === undefined ? undefined : findNodeAtLocation(found, [found.type === 'array' ? Number(name) : name]);
    if (inner === undefined) break;
    found = inner;
  }
  // A member begins with its name.
  const node = found?.parent?.type === 'property' ? found.parent : found;
  return lineAt(text, node?.offset ?? 0);
}

/** Line of the character at `at`. */
export const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length;

/** Line of the first place where `needle` stands; undefined when it does not. */
export function lineOfText(text: string, needle: string): number | undefined {
  const at = text.indexOf(needle);
  return at === -1 ? undefined : lineAt(text, at);
}
