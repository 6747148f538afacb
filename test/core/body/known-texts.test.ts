import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { knownText } from '../../../core/body/known-texts.js';
import fc from '../../support/fast-check.js';

describe('texts that come again', () => {
  test('are what their bytes say, whatever came before', () => {
    fc.assert(fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 70 }), { maxLength: 40 }), fc.nat(5), (texts, before) => {
      for (const text of [...texts, ...texts]) {
        const encoded = Buffer.from(text);
        const bytes = Buffer.concat([Buffer.alloc(before, 0x61), encoded, Buffer.from('"')]);
        assert.equal(knownText(bytes, before, before + encoded.length), encoded.toString());
      }
    }));
  });

  test('differ in one byte, and stay apart', () => {
    const one = Buffer.from('gpt-4.1-2025-04-14');
    const other = Buffer.from('gpt-4.1-2026-04-14');
    for (let round = 0; round < 3; round += 1) {
      assert.equal(knownText(one, 0, one.length), 'gpt-4.1-2025-04-14');
      assert.equal(knownText(other, 0, other.length), 'gpt-4.1-2026-04-14');
    }
  });

  test('do not change with the buffer they were read from', () => {
    const bytes = Buffer.from('stop');
    assert.equal(knownText(bytes, 0, 4), 'stop');
    bytes.write('halt');
    assert.equal(knownText(bytes, 0, 4), 'halt');
    assert.equal(knownText(Buffer.from('stop'), 0, 4), 'stop');
  });
});
