import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Text } from '../../../../core/dialect/common/text.js';

describe('a text out of pieces', () => {
  for (const count of [0, 1, 255, 256, 257, 511, 512, 513, 70_000]) {
    test(`is all ${count} of them in their order, at any time`, () => {
      const text = new Text();
      let expected = '';
      for (let index = 0; index < count; index += 1) {
        text.add(`${index},`);
        expected += `${index},`;
        if (index === 300) assert.equal(text.toString(), expected);
      }
      assert.equal(text.toString(), expected);
      assert.equal(text.toString(), expected);
    });
  }

  test('says how many bytes a piece has', () => {
    const text = new Text();
    assert.deepEqual(['', 'a', 'ä', '🙂'].map((piece) => text.add(piece)), [0, 1, 2, 4]);
  });
});
