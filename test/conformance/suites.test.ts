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
    if (from >= targets.length) throw new ParameterError('from', 'is not a target');
    return { next: (exchange, all, outcomes) => ([200, 446].includes(outcomes.at(-1)?.status) || from + outcomes.length >= all.length ? -1 : from + outcomes.length) };
  },
});
const made = (next) => ({ ...good, create: (params, host, targets) => { good.create(params, host, targets); return next(params, targets); } });
const suite = (plugin) => conformStrategy(plugin, {
  cases: [{ tries: ['a'] }, { answers: { a: 500, b: 'error' }, tries: ['a', 'b', 'c'] }, { params: { from: 1 }, tries: ['b'] }, { targets: [{}], answers: { 0: 500 }, tries: ['0'] }],
  refuses: [{ params: { from: 3 }, path: 'from' }],
});
`;
const guardrail = `import { defineGuardrail, ParameterError } from '@gateway/plugin-sdk';
import { conformGuardrail } from '@gateway/plugin-sdk/testing';
const good = defineGuardrail({
  title: 'Short', describe: 'Fails long texts.', stages: ['input'], needs: { request: 'json' },
  params: { type: 'object', properties: { most: { type: 'integer', minimum: 1, default: 10, description: 'Characters.' }, words: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, description: 'Words.' } } },
  create({ most, words = ['x'] }) {
    if (new Set(words).size < words.length) throw new ParameterError('words', 'holds a word twice');
    return { evaluate: (input) => (input.text().join('').length <= most ? { pass: true } : { pass: false, why: 'too long' }) };
  },
});
const made = (schema) => ({ ...good, params: { ...good.params, properties: { ...good.params.properties, ...schema } } });
const suite = (plugin) => conformGuardrail(plugin, {
  passes: [{ text: 'short' }, { params: { most: 2 }, text: 'ab' }], fails: [{ text: 'much too long' }],
  refuses: [{ most: 0 }, { most: 'ten' }, { most: 1.5 }, { words: [] }, { words: [''] }, { mots: 1 }, { words: ['a', 'a'] }],
});
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
const guardrails: readonly Mutant[] = [
  { name: 'as it should be', plugin: 'good', fails: undefined },
  { name: 'whose schema lets any number through', plugin: "made({ most: { type: 'number', default: 10, description: 'Characters.' } })", fails: 'refuses the parameters {"most":0}' },
  { name: 'whose schema is open', plugin: '{ ...good, params: { ...good.params, additionalProperties: true } }', fails: 'refuses the parameters {"mots":1}' },
  { name: 'that creates with anything that fits', plugin: "{ ...good, create: ({ most }, host) => good.create({ most, words: ['a'] }, host) }", fails: 'refuses the parameters {"words":["a","a"]}' },
  { name: 'whose schema refuses what it is shown with', plugin: "made({ most: { type: 'integer', minimum: 5, default: 10, description: 'Characters.' } })", fails: 'passes' },
];

/** Lines of the tests that failed. */
async function failuresOf(source: string, mutant: Mutant, index: number): Promise<string> {
  const file = join(folder, `${index}.mjs`);
  writeFileSync(file, `${source}suite(${mutant.plugin});\n`);
  const printed = await runProgram(process.execPath, ['--test-reporter=tap', file], folder).catch((thrown: Error) => thrown.message);
  assert.match(printed, /^# tests \d+$/m, printed);
  return printed.split('\n').filter((line) => /^ +not ok /.test(line)).join('\n');
}

for (const [kind, source, mutants] of [['strategies', strategy, strategies], ['guardrails', guardrail, guardrails]] as const) {
  describe(`the suite for ${kind}`, { concurrency: 4 }, () => {
    for (const [index, mutant] of mutants.entries()) {
      it(`${mutant.fails === undefined ? 'passes' : 'fails'} a plugin ${mutant.name}`, async () => {
        const failures = await failuresOf(source, mutant, kind === 'guardrails' ? index + 100 : index);
        if (mutant.fails === undefined) assert.equal(failures, '');
        else assert.ok(failures.includes(mutant.fails), failures || 'nothing failed');
      });
    }
  });
}
