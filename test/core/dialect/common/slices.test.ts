import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sliceLength, slices, tokenSlices } from '../../../../core/dialect/common/slices.js';
import fc from '../../../support/fast-check.js';
import { someText } from './replay-answers.js';

const tokens = (...texts: readonly string[]): { token: string }[] => texts.map((token) => ({ token }));
const isWhole = (text: string): boolean => Buffer.from(text).toString() === text;

describe('slices', () => {
  test('are the text in pieces of at most 500 units, none empty, none with half a character', () => {
    fc.assert(fc.property(someText, fc.nat(3), (text, shift) => {
      const given = 'x'.repeat(shift) + text;
      const list = [...slices(given)];
      assert.equal(list.join(''), given);
      assert.ok(list.every((slice) => slice.length > 0 && slice.length <= sliceLength && isWhole(slice)));
      assert.ok(list.length <= Math.floor(given.length / (sliceLength - 1)) + 1);
    }), { numRuns: 300 });
  });

  test('of a text of nothing are none', () => assert.deepEqual([...slices('')], []));

  test('stop before a pair that lies across the border', () => {
    assert.deepEqual([...slices(`${'a'.repeat(499)}🙂b`)].map(({ length }) => length), [499, 3]);
    assert.deepEqual([...slices(`${'a'.repeat(498)}🙂b`)].map(({ length }) => length), [500, 1]);
  });
});

describe('slices with tokens', () => {
  test('end where tokens end', () => {
    const words = Array.from({ length: 300 }, (_, index) => `w${index} `);
    const list = [...tokenSlices(words.join(''), tokens(...words))];
    assert.deepEqual(list.flatMap((slice) => slice.tokens), tokens(...words));
    assert.equal(list.length, Math.ceil(words.join('').length / sliceLength));
    for (const { text, tokens: told } of list) assert.equal(told.map((each) => (each as { token: string }).token).join(''), text);
  });

  test('have all tokens first when these do not spell the text', () => {
    const text = 'a'.repeat(600);
    assert.deepEqual([...tokenSlices(text, tokens('\\xf0', '\\x9f'))].map((slice) => [slice.text.length, slice.tokens.length]), [[500, 2], [100, 0]]);
    assert.deepEqual([...tokenSlices(text, tokens(text))].map((slice) => [slice.text.length, slice.tokens.length]), [[500, 1], [100, 0]]);
    assert.deepEqual([...tokenSlices(text, [null])].map((slice) => [slice.text.length, slice.tokens.length]), [[500, 1], [100, 0]]);
    assert.deepEqual([...tokenSlices('ab', tokens('a'))].map((slice) => [slice.text, slice.tokens.length]), [['ab', 1]]);
  });

  test('do not part a character that two tokens share', () => {
    const text = `${'a'.repeat(499)}🙂`;
    const shared = tokens('a'.repeat(499), '🙂'.slice(0, 1), '🙂'.slice(1));
    assert.deepEqual([...tokenSlices(text, shared)].map((slice) => slice.text.length), [499, 2]);
  });

  test('have tokens even without a text', () => {
    assert.deepEqual([...tokenSlices('', tokens('<eot>'))], [{ text: '', tokens: tokens('<eot>') }]);
    assert.deepEqual([...tokenSlices('', [])], []);
  });
});
