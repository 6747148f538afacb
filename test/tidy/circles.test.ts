import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { describe, it } from 'node:test';
import ts from 'typescript';
import { isTest, sources, type Source } from './sources.js';

const held = ['core/', 'plugin-sdk/src/', 'plugins/', 'providers/'];

type Graph = ReadonlyMap<string, readonly string[]>;

/** Each file and the files of the product that it imports, types included. */
function graphOf(files: readonly Pick<Source, 'path' | 'text'>[]): Graph {
  const paths = new Set(files.map(({ path }) => path));
  return new Map(files.map(({ path, text }) => {
    const specifiers = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName).filter((name) => name.startsWith('.'));
    return [path, specifiers.map((name) => posix.join(posix.dirname(path), name).replace(/\.js$/, '.ts')).filter((target) => paths.has(target))];
  }));
}

/** One way round for each set of files that reach each other: `a.ts > b.ts > a.ts`. */
function circlesIn(graph: Graph): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const walked: string[] = [];
  const visit = (path: string): void => {
    const from = walked.indexOf(path);
    if (from !== -1) circles.push([...walked.slice(from), path].join(' > '));
    if (from !== -1 || done.has(path)) return;
    walked.push(path);
    for (const target of graph.get(path) ?? []) visit(target);
    walked.pop();
    done.add(path);
  };
  for (const path of graph.keys()) visit(path);
  return circles;
}

describe('imports go one way', () => {
  it('in core, the SDK, plugins and providers, types included', () => {
    const files = sources.filter(({ path }) => held.some((folder) => path.startsWith(folder)) && !isTest(path));
    assert.ok(files.length > 400, `${files.length} files`);
    const circles = circlesIn(graphOf(files));
    assert.deepEqual(circles, [], `\n  ${circles.join('\n  ')}\n  move what both need into a file of its own, below both`);
  });

  it('or are told with the way round', () => {
    const file = (path: string, ...imports: string[]): Pick<Source, 'path' | 'text'> => ({ path, text: imports.join('\n') });
    const graph = graphOf([
      file('core/a.ts', "import { b } from './b.js';", "import { readFileSync } from 'node:fs';"),
      file('core/b.ts', "import type { C } from './deep/c.js';"),
      file('core/deep/c.ts', "export * from '../a.js';"),
      file('core/d.ts', "import { a } from './a.js';", "import type { E } from './e.js';"),
      file('core/e.ts', "const d = await import('./d.js');"),
      file('core/f.ts', "type G = import('./g.js').G;"),
      file('core/g.ts', "import { f } from './f.js';"),
      file('core/alone.ts', "import { a } from './a.js';"),
    ]);
    assert.deepEqual(circlesIn(graph), ['core/a.ts > core/b.ts > core/deep/c.ts > core/a.ts', 'core/d.ts > core/e.ts > core/d.ts', 'core/f.ts > core/g.ts > core/f.ts']);
  });
});
