import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownText, ownTexts } from '../../../core/storage/own-text.js';
import fc from '../../support/fast-check.js';

describe('texts of their own', () => {
  it('are the same, whatever they are made of', () => {
    fc.assert(fc.property(fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)), maxLength: 40 })), (text) => {
      assert.equal(ownText(`before${text}behind`.slice(6, 6 + text.length)), text);
    }));
  });

  it('take the places of all texts of a value, and leave what is frozen', () => {
    const frozen = Object.freeze(['a text that is shared by many']);
    const row = { id: 'a text that is long enough', parts: [{ name: 'another text that is long' }, null, 5, 'a third text that is long'], scopes: frozen };
    const copy = structuredClone(row);
    assert.equal(ownTexts(row), row);
    assert.deepEqual(row, copy);
    assert.equal(row.scopes, frozen);
  });
});
