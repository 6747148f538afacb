import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lostPromises, programOf } from './promises.js';
import { isTest, sources } from './sources.js';

const paths = sources.map(({ path }) => path).filter((path) => /^(?:core|plugins|providers|plugin-sdk\/src)\//.test(path) && !isTest(path));
const program = programOf(paths);

/** What is found in a file of these lines; each has to be one fault, or none. */
const faultsOf = (lines: readonly string[]): string[] => {
  const path = 'core/imagined.ts';
  const text = `declare const p: () => Promise<number>;
declare const q: { perhaps(): number | Promise<number>; plain(): number; held: Promise<number> | null; close?: () => void | Promise<void> };
declare function on(listener: () => void): void;
declare function taken(listener: () => unknown): void;
${lines.map((line) => `export async function f${lines.indexOf(line)}(): Promise<void> { ${line} }`).join('\n')}`;
  return lostPromises(programOf([path], new Map([[path, text]]), program), [path]);
};

describe('promises', () => {
  test('of the product are all held by somebody', () => {
    assert.ok(paths.length > 300, `only ${paths.length} files`);
    const faults = lostPromises(program, paths);
    assert.deepEqual(faults, [], `\n  ${faults.join('\n  ')}\n`);
  });

  test('are found where they are lost', () => {
    const lost = [
      'p();', 'void p();', 'q.perhaps();', 'p().then(() => 1);', 'p().finally(() => 1);', 'q.close?.();', 'if (q.held) p();', 'q.held ?? p();', 'q.plain() > 1 ? p() : 0;', 'q.plain() && p();',
      '[p()];', '[1].map(() => p());', 'on(() => p());', 'on(p);', 'on(async () => { await p(); });', 'on(() => void p());', 'setTimeout(p);', 'new Promise(async (resolve) => { resolve(await p()); }).catch(() => 0);',
      '(async () => { await p(); })();', 'Promise.all([p()]);', 'q.held!;', 'const o: { close: () => void } = { close: async () => { await p(); } }; o.close();',
    ];
    assert.equal(faultsOf(lost).length, lost.length, faultsOf(lost).join('\n'));
  });

  test('are left alone where they are held', () => {
    const held = [
      'await p();', 'p().catch(() => 0);', 'p().then(() => 1, () => 0);', 'p().catch(() => 0).finally(() => 0);', 'q.held = p();', 'q.held ??= p();', 'const a = p(); await a;', 'await Promise.all([p()]);', 'q.plain();',
      'taken(() => p());', 'taken(p);', 'on(() => { p().catch(() => 0); });', 'on(() => { q.plain(); });', 'q.plain() > 1 ? q.plain() : 0;', '[q.plain()].map((x) => x);', 'for await (const a of [p()]) q.held = p();',
    ];
    assert.deepEqual(faultsOf(held), []);
  });
});
