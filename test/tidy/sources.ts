// The sources of the repository, for the tests over them: found from the root, parsed once and when asked for.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** The nearest folder above this file whose package.json is the gateway's. */
export const root = findRoot(dirname(fileURLToPath(import.meta.url)));

function findRoot(from: string): string {
  const manifest = join(from, 'package.json');
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).name === 'gateway') return from;
  const above = dirname(from);
  if (above === from) throw new Error('no package.json of the gateway above this file');
  return findRoot(above);
}

export const folders = ['core', 'plugins', 'providers', 'plugin-sdk', 'bench', 'test'] as const;
const unread = new Set(['node_modules', 'dist']);

export interface Entry {
  /** From the root, with forward slashes. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** Everything below `folder`, folders included, built and installed things left out. */
export function entriesBelow(folder: string): Entry[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isFile()) return [{ path, isFolder: false }];
    return entry.isDirectory() && !unread.has(entry.name) ? [{ path, isFolder: true }, ...entriesBelow(path)] : [];
  });
}

export const readText = (path: string): string => readFileSync(join(root, path), 'utf8');

export interface Source {
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

/** Parsed when somebody asks: most tests read some of the sources, or none. */
export function parseSource(path: string, text: string): Source {
  let tree: ts.SourceFile | undefined;
  return { path, text, get tree() { return tree ??= ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS); } };
}

export const sources: readonly Source[] = folders.flatMap(entriesBelow)
  .filter(({ path, isFolder }) => !isFolder && path.endsWith('.ts'))
  .map(({ path }) => parseSource(path, readText(path)));

/** A test, or what only the tests beside it use: `plugin.test.ts`, `test-writer.ts`. */
export const isTest = (path: string): boolean => /\.test\.ts$|(?:^|\/)test-[^/]*\.ts$/.test(path);

/** Calls `visit` for every node, parents first. */
export function walk(source: Source, visit: (node: ts.Node) => void): void {
  const down = (node: ts.Node): void => {
    visit(node);
    ts.forEachChild(node, down);
  };
  down(source.tree);
}

/** `core/server/uws.ts:12`. */
export const placeOf = (source: Source, node: ts.Node): string =>
  `${source.path}:${source.tree.getLineAndCharacterOfPosition(node.getStart(source.tree)).line + 1}`;
