// The suites of the testing kit find what is wrong: each faulty plugin, run in a process of its own, fails the test that is about it.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { runProgram } from '../support/npm.js';

const sdkFolder = dirname(createRequire(import.meta.url).resolve('@gateway/plugin-sdk/package.json'));
const folder = mkdtempSync(join(tmpdir(), 'gateway-suites-'));
after(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, 'node_modules/@gateway'), { recursive: true });
symlinkSync(sdkFolder, join(folder, 'node_modules/@gateway/plugin-sdk'));
mkdirSync(join(folder, 'assets'));
writeFileSync(join(folder, 'assets/index.html'), '<!doctype html>');
writeFileSync(join(folder, 'package.json'), '{"type":"module"}');

interface Mutant {
  readonly name: string;
  /** JavaScript; `good` is a plugin that passes, `suite` runs the suite on one. */
  readonly plugin: string;
  /** Part of the name of a test that has to fail; undefined: all pass. */
  readonly fails: string | undefined;
}

const strategy = `import { defineStrategy, ParameterError } from '@gateway/plugin-sdk';
import { conformStrategy } from '@gateway/plugin-sdk/testing';
const good = defineStrategy({
  title: 'In order', describe: 'One after the other until one answers well.', params: { type: 'object', properties: { from: { type: 'integer', default: 0 } } },
  create({ from }, host, targets) {
    if (from >= targets.length) throw new ParameterError('from', 'is no target');
    return { next: (exchange, all, outcomes) => ([200, 446].includes(outcomes.at(-1)?.status) || from + outcomes.length >= all.length ? -1 : from + outcomes.length) };
  },
});
const made = (next) => ({ ...good, create: (params, host, targets) => { good.create(params, host, targets); return next(params, targets); } });
const suite = (plugin) => conformStrategy(plugin, {
  cases: [{ tries: ['a'] }, { answers: { a: 500, b: 'error' }, tries: ['a', 'b', 'c'] }, { params: { from: 1 }, tries: ['b'] }, { targets: [{}], answers: { 0: 500 }, tries: ['0'] }],
  refuses: [{ params: { from: 3 }, path: 'from' }],
});
`;
const surface = `import { defineSurface } from '@gateway/plugin-sdk';
import { conformSurface } from '@gateway/plugin-sdk/testing';
const good = defineSurface({ title: 'Pages', describe: 'Pages.', params: { type: 'object', properties: {} }, mount: '/pages', assets: new URL('./assets/', import.meta.url) });
const suite = (plugin) => conformSurface(plugin);
`;
const strategies: readonly Mutant[] = [
  { name: 'as it should be', plugin: 'good', fails: undefined },
  { name: 'of another kind', plugin: "{ ...good, kind: 'hook' }", fails: 'is defined' },
  { name: 'without a title', plugin: "{ ...good, title: '' }", fails: 'is defined' },
  { name: 'that answers with a promise', plugin: 'made(() => ({ next: async () => -1 }))', fails: 'answers each time at once' },
  { name: 'that never ends', plugin: 'made(() => ({ next: () => 0 }))', fails: 'answers each time at once' },
  { name: 'that names a target that is not there', plugin: 'made((params, targets) => ({ next: (e, all, outcomes) => (outcomes.length === 0 ? targets.length : -1) }))', fails: 'answers each time at once' },
  { name: 'that sorts the targets in place', plugin: 'made(() => ({ next: (e, all, outcomes) => { all.sort(); return outcomes.length === 0 ? 0 : -1; } }))', fails: 'changes neither targets' },
  { name: 'that counts tries over all calls', plugin: 'made(({ from }) => { let tries = 0; return { next: (e, all, outcomes) => (outcomes.at(-1)?.status === 200 ? -1 : from + tries >= all.length ? from + tries++ : from + tries++) }; })', fails: 'keeps calls apart' },
  { name: 'that sends on what was denied', plugin: 'made(({ from }) => ({ next: (e, all, outcomes) => (outcomes.at(-1)?.status === 200 || from + outcomes.length >= all.length ? -1 : from + outcomes.length) }))', fails: 'names no other target after one was denied' },
  { name: 'that breaks at its second close', plugin: "made(() => { let open = true; return { next: () => -1, close: () => { if (!open) throw new Error('closed'); open = false; } }; })", fails: 'may be closed twice' },
  { name: 'that tries in another order', plugin: 'made((params, targets) => ({ next: (e, all, outcomes) => (outcomes.length < targets.length ? targets.length - 1 - outcomes.length : -1) }))', fails: 'tries a' },
  { name: 'that refuses nothing', plugin: '{ ...good, create: () => ({ next: () => -1 }) }', fails: 'refuses the parameters' },
  { name: 'that refuses without a place', plugin: "{ ...good, create: (params, host, targets) => { if (params.from > 2) throw new Error('no'); return good.create(params, host, targets); } }", fails: 'refuses the parameters' },
];
const surfaces: readonly Mutant[] = [
  { name: 'as it should be', plugin: 'good', fails: undefined },
  { name: 'of another contract', plugin: '{ ...good, contract: 2 }', fails: 'is defined' },
  { name: 'mounted with a slash at the end', plugin: "{ ...good, mount: '/pages/' }", fails: 'is mounted' },
  { name: 'mounted over the API', plugin: "{ ...good, mount: '/v1/pages' }", fails: 'is mounted' },
  { name: 'with assets that are no folder', plugin: "{ ...good, assets: new URL('./assets/index.html', import.meta.url) }", fails: 'has its files' },
  { name: 'without its page', plugin: "{ ...good, assets: new URL('./node_modules/', import.meta.url) }", fails: 'has its files' },
  { name: 'with assets elsewhere', plugin: "{ ...good, assets: new URL('https://cdn.example/') }", fails: 'has its files' },
];

/** Lines of the tests that failed. */
async function failuresOf(source: string, mutant: Mutant, index: number): Promise<string> {
  const file = join(folder, `${index}.mjs`);
  writeFileSync(file, `${source}suite(${mutant.plugin});\n`);
  const printed = await runProgram(process.execPath, ['--test-reporter=tap', file], folder).catch((thrown: Error) => thrown.message);
  assert.match(printed, /^# tests \d+$/m, printed);
  return printed.split('\n').filter((line) => /^ +not ok /.test(line)).join('\n');
}

for (const [kind, source, mutants] of [['strategies', strategy, strategies], ['surfaces', surface, surfaces]] as const) {
  describe(`the suite for ${kind}`, { concurrency: 4 }, () => {
    for (const [index, mutant] of mutants.entries()) {
      it(`${mutant.fails === undefined ? 'passes' : 'fails'} a plugin ${mutant.name}`, async () => {
        const failures = await failuresOf(source, mutant, kind === 'surfaces' ? index + 100 : index);
        if (mutant.fails === undefined) assert.equal(failures, '');
        else assert.ok(failures.includes(mutant.fails), failures || 'nothing failed');
      });
    }
  });
}
