import { exactNumbersRead, nameFault, readingOf, readJson } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

const reads = (text: string): boolean => {
  const before = exactNumbersRead();
  readJson(text);
  return exactNumbersRead() > before;
};

describe('the reading of a JSON text', () => {
  it('knows each number that JavaScript would change, wherever it stands', () => {
    for (const number of ['12345678901234567', '-12345678901234567', '1e999', '1E+400', '9007199254740993']) {
      for (const text of [number, `[${number}]`, `{"a":${number}}`, `{"a":"x","b":[1, ${number} ,2]}`, `[\n${number}\n]`, `{"a":{"a":1},"b":-1.5e3,"c":${number}}`]) {
        assert.equal(reads(text), true, text);
        assert.deepEqual(readingOf(text), { fault: undefined, hasLongNumber: true }, text);
      }
    }
  });

  it('takes no digits of a text for a number', () => {
    for (const text of ['{"a":"12345678901234567"}', '{"12345678901234567":1}', '["\\"12345678901234567\\"", 1, -2.5, 1e5, 0]', `["${'x'.repeat(40)} 1e999"]`]) {
      assert.equal(reads(text), false, text);
      assert.deepEqual(readingOf(text), { fault: undefined, hasLongNumber: false }, text);
    }
  });

  it('tells of a long number also where a name is given twice', () => {
    for (const text of ['{"a":12345678901234567,"b":1,"b":2}', '{"b":1,"b":2,"a":12345678901234567}']) {
      const { fault, hasLongNumber } = readingOf(text);
      assert.deepEqual([fault?.place, hasLongNumber], ['b', true]);
    }
  });

  it('finds a name that is given twice among few and among many, and behind escapes', () => {
    for (const count of [2, 3, 12, 13, 14, 40, 500]) {
      const names = Array.from({ length: count }, (_, index) => `n${index}`);
      for (const twice of [names[0], names[Math.floor(count / 2)], names.at(-1)]) {
        const fault = nameFault(`{${[...names, twice].map((name) => `"${name}":{"n0":1}`).join(',')}}`);
        assert.deepEqual(fault, { place: twice, reason: 'is given twice; give it once' });
      }
      assert.equal(nameFault(`{${names.map((name) => `"${name}":"${name}\\\\"`).join(',')}}`), undefined);
    }
    assert.equal(nameFault('{"a\\u0062":1,"ab":2}')?.place, 'ab');
    assert.equal(nameFault(`{"${'long'.repeat(20)}":1,"${'long'.repeat(20)}":2}`)?.place, 'long'.repeat(20));
    assert.match(nameFault('{"a":1,"Messages":[]}')?.reason ?? '', /^differs from messages/);
    assert.match(nameFault('{"own":1,"OWN":2}')?.reason ?? '', /^differs from own/);
    assert.equal(nameFault('{"own":1,"OWN":2}', true), undefined);
  });
});
