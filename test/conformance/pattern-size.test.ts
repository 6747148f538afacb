import { patternSize } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RE2JS } from 're2js';

test('the size of a pattern is foretold closely enough to bound it', () => {
  for (const pattern of [
    '', 'a', '^a$', '(a|b)+', '(?i)abc', '\\d{4}-\\d{2}', '[a-z]{2,10}', '(ab{3}){4}', 'a{3,}', '((a{10}){10}){10}', '\\Q(a){9}\\E{3}', '[]{5}a]{4}',
    '[[:alpha:]]{3}', '[^\\]]{3}', '\\x{41}{4}', '\\pL{5}', '\\p{Greek}{5}', 'x{0,500}', '(a?){100}', '(?:a*b+c?){20}', 'a|b|c|d', '(?P<n>ab)', '\\(a{4}\\)',
    '(x+x+)+y', '.*.*.*', 'a??b', '(a{1000})', '((((a))))', '^$', '\\bx\\b{2}', '(?s:.{100})', '(?i)k{200}', '[a{1000}]', '\\{1000\\}',
  ]) {
    const real = RE2JS.compile(pattern).programSize();
    assert.ok(patternSize(pattern) >= real / 2 - 4, `${pattern}: foretold ${patternSize(pattern)}, is ${real}`);
    assert.ok(patternSize(pattern) <= real * 3 + 40, `${pattern}: foretold ${patternSize(pattern)}, is ${real}`);
  }
});

test('a repetition inside a repetition multiplies', () => {
  assert.ok(patternSize('(a{1000}){1000}') > 1_000_000);
  assert.ok(patternSize('((a{100}){100}){100}') > 1_000_000);
});
