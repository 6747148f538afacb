import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParameterError } from '@gateway/plugin-sdk';
import { conformGuardrail, fakeCheckInput, fakeHost } from '@gateway/plugin-sdk/testing';
import plugin from './plugin.js';

const one = (wanted: string | number | boolean | string[], matchType = 'exact') => ({ metadataPairs: { a: wanted }, matchType });
const two = { metadataPairs: { a: 'x', b: ['y', 'z'] } };

conformGuardrail(plugin, {
  passes: [
    { params: two, metadata: { a: 'x', b: 'z' } },
    { params: { ...two, operator: 'any' }, metadata: { b: 'y' } },
    { params: { ...two, operator: 'none' }, metadata: { a: 'y', b: 'x' } },
    { params: { ...two, operator: 'none' } },
    { params: one(7), metadata: { a: '7' } },
    { params: one('7'), metadata: { a: 7 } },
    { params: one(true), metadata: { a: true } },
    { params: one('true'), metadata: { a: true } },
    { params: one(['x', 'y']), metadata: { a: ['x', 'y'] } },
    { params: one(''), metadata: { a: '' } },
    { params: one('mid', 'contains'), metadata: { a: 'in the middle' } },
    { params: one(['no', 'mid'], 'contains'), metadata: { a: 'in the middle' } },
    { params: one('x', 'contains'), metadata: { a: ['w', 'x'] } },
    { params: one(3, 'contains'), metadata: { a: [1, 2, 3] } },
    { params: one(['x', 'w'], 'containsAll'), metadata: { a: ['w', 'x', 'y'] } },
    { params: one(['in', 'mid'], 'containsAll'), metadata: { a: 'in the middle' } },
    { params: one('^team-[0-9]+$', 'regex'), metadata: { a: 'team-42' } },
    { params: one('eam', 'regex'), metadata: { a: 'team' } },
    { params: one('^4', 'regex'), metadata: { a: 42 } },
    { params: one(['^b', '^t'], 'regex'), metadata: { a: ['x', 'team'] } },
  ],
  fails: [
    { params: two, metadata: { a: 'x' } },
    { params: two, metadata: { a: 'X', b: 'y' } },
    { params: { ...two, operator: 'any' }, metadata: { a: 'y', b: 'x' } },
    { params: { ...two, operator: 'none' }, metadata: { b: 'z' } },
    { params: one('x'), metadata: { a: ['w', 'x'] } },
    { params: one(['x', 'y']), metadata: { a: ['y', 'x'] } },
    { params: one('null'), metadata: { a: null } },
    { params: one('x'), metadata: { a: { x: 'x' } } },
    { params: one('x', 'contains'), metadata: { a: ['wx'] } },
    { params: one('x', 'contains'), metadata: { a: { x: 'x' } } },
    { params: one(['x', 'z'], 'containsAll'), metadata: { a: ['w', 'x', 'y'] } },
    { params: one('^team$', 'regex'), metadata: { a: 'teams' } },
    { params: one('.*', 'regex'), metadata: { a: { b: 1 } } },
    { params: one('x') },
    { params: { metadataPairs: { constructor: 'Object', toString: 'f' }, matchType: 'contains', operator: 'any' } },
  ],
  refuses: [
    { metadataPairs: {} }, { metadataPairs: { a: null } }, { metadataPairs: { a: {} } }, { metadataPairs: { a: [] } }, { metadataPairs: { a: [['x']] } },
    { metadataPairs: { a: '(' }, matchType: 'regex' }, { metadataPairs: { a: '(?=x)' }, matchType: 'regex' }, { metadataPairs: { a: 'x'.repeat(2001) }, matchType: 'regex' },
  ],
});

test('a bad pattern is refused with its place', async () => {
  await assert.rejects(async () => plugin.create({ metadataPairs: { a: ['fine', '['] }, operator: 'all', matchType: 'regex' }, fakeHost()),
    (thrown: unknown) => thrown instanceof ParameterError && thrown.path === 'metadataPairs.a[1]' && /RE2 syntax/.test(thrown.message));
});

test('the verdict names keys and never values', async () => {
  const check = await plugin.create({ metadataPairs: { a: 'wanted', b: 'other' }, operator: 'all', matchType: 'exact' }, fakeHost());
  const verdict = await check.evaluate(fakeCheckInput({ metadata: { a: 'wanted', b: 'private' } }));
  assert.deepEqual(verdict.data, {
    explanation: 'the metadata lacks the wanted values under b', matched_metadata_keys: ['a'], unmatched_metadata_keys: ['b'], operator: 'all', matchType: 'exact',
  });
});

test('a pattern takes linear time where a backtracking engine would not end', async () => {
  const check = await plugin.create({ metadataPairs: { a: '^(a+)+$' }, operator: 'all', matchType: 'regex' }, fakeHost());
  const started = process.cpuUsage().user;
  assert.equal((await check.evaluate(fakeCheckInput({ metadata: { a: `${'a'.repeat(20_000)}b` } }))).pass, false);
  assert.ok(process.cpuUsage().user - started < 1_500_000);
});

test('patterns are bounded together, before they are compiled', async () => {
  const metadataPairs = { a: 'x{500}', b: Array.from({ length: 500 }, () => '\\pL{900}') };
  await assert.rejects(async () => plugin.create({ metadataPairs, operator: 'all', matchType: 'regex' }, fakeHost()),
    (thrown: unknown) => thrown instanceof ParameterError && thrown.path === 'metadataPairs.b[10]' && /10000 steps together/.test(thrown.message));
  const { weight } = await plugin.create({ metadataPairs: { a: ['x{900}', 'y{900}'] }, operator: 'all', matchType: 'regex' }, fakeHost());
  assert.ok(weight !== undefined && weight.bytes > 1_800 * 100);
});
