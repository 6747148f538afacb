import { ParameterError } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextPattern } from './pattern.js';

const compile = (rule: string): TextPattern => TextPattern.compile(rule, 'rule');

test('knows the longest match of a pattern, and whether it looks at what follows', () => {
  const cases: readonly (readonly [string, number, boolean])[] = [
    ['abc', 3, false], ['a|bcd', 3, false], ['a{2,5}', 5, false], ['\\d{3}-\\d{4}', 8, false], ['a?', 1, false], ['a+', Infinity, false], ['a(?:b|c+)?', Infinity, false], ['x*?y', Infinity, false],
    ['.', 2, false], ['[^a]', 2, false], ['🙂', 2, false], ['(?s).{3}', 6, false], ['(?i)ks', 2, false], ['[a-z]', 1, false], ['^a', 1, false], ['a$', 1, true], ['a\\z', 1, true], ['\\bx', 1, true], ['x\\B', 1, true],
    ['(?m)a$', 1, true], ['(a|b)(c|de)', 3, false],
  ];
  for (const [rule, lengthMax, looksAhead] of cases) assert.deepEqual([compile(rule).lengthMax, compile(rule).looksAhead], [lengthMax, looksAhead], rule);
});

test('a match is never longer than what was promised', () => {
  for (const rule of ['a|bcd', '[^x]{2}', '(?i)straße', '.{1,4}', '\\p{L}{3}', '(?i)k{2}']) {
    const pattern = compile(rule);
    for (const { from, to } of pattern.spans('abcd 🙂🙂x STRASSE strasse Straße STRAẞE 𐐀𐐀𐐀𐐀 kK\u212ak')) assert.ok(to - from <= pattern.lengthMax, rule);
  }
});

test('reads flags behind a second slash only when they are some of JavaScript', () => {
  assert.ok(compile('/a.B/is').test('xA\nbx'));
  assert.ok(!compile('/a.b/').test('a\nb'));
  assert.ok(compile('/b$/m').test('ab\nc'));
  assert.ok(compile('/api/v1').test('GET /api/v1'));
  assert.ok(compile('/a/ii').test('x/a/ii'));
  assert.ok(compile('\\/path\\/').test('a /path/') && !compile('\\/path\\/').test('a path'));
});

test('gives matches with groups, sees what is before its start, and leaves empty matches out of the spans', () => {
  const pattern = compile('(?<key>\\w+)=(\\d)?');
  assert.deepEqual(pattern.first('a b=1'), { from: 2, to: 5, text: 'b=1', captures: ['b', '1'], groups: { key: 'b' } });
  assert.deepEqual(pattern.first('b='), { from: 0, to: 2, text: 'b=', captures: ['b', undefined], groups: { key: 'b' } });
  assert.equal(compile('^b').first('ab', 1), undefined);
  assert.equal(compile('\\bb').first('ab', 1), undefined);
  assert.deepEqual(compile('b*').spans('abbcb'), [{ from: 1, to: 3 }, { from: 4, to: 5 }]);
});

test('refuses what is not a pattern, is empty, or too large, before it is compiled', () => {
  const started = process.cpuUsage().user;
  for (const rule of ['', '(', 'a**', '(?=a)', '(a)\\1', 'a'.repeat(4001), '(a{500}b{500}){1000}', '\\Q[\\E(a{500}b{500}){1000}]', '((((a{100}){100}){100}){100})']) {
    assert.throws(() => compile(rule), (thrown: unknown) => thrown instanceof ParameterError && thrown.path === 'rule', rule.slice(0, 40));
  }
  assert.ok(process.cpuUsage().user - started < 500_000);
});
