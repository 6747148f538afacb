import { exactNumbersRead, isExactNumber, nearestNumber, readJson, writeJson } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../support/fast-check.js';

test('numbers that JavaScript changes are written as they were read', () => {
  for (const number of ['9007199254740993', '-9007199254740993', '12345678901234567890', '9223372036854775807', '1e400', '-1E+999', '1000000000000000000000', '0']) {
    for (const text of [number, `[${number}]`, `{"a":{"b":[1,${number}]},"c":"${number}"}`, `[${number},${number}]`]) assert.equal(writeJson(readJson(text)), text);
  }
});

test('inside of JSON that is inside of JSON as well', () => {
  const input = readJson('{"id":9007199254740993,"quoted":"\\"9007199254740993\\""}');
  const text = '{"id":9007199254740993,"quoted":"\\"9007199254740993\\""}';
  assert.equal(JSON.parse(writeJson({ arguments: JSON.stringify(input) })).arguments, text);
  assert.equal(JSON.parse(JSON.parse(writeJson([JSON.stringify({ arguments: JSON.stringify(input) })]))[0]).arguments, text);
});

test('everything else is what JSON.parse makes of it', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.deepEqual(readJson(JSON.stringify(value)), JSON.parse(JSON.stringify(value)))));
  const before = exactNumbersRead();
  for (const text of ['[0.12345678901234567890]', '{"a":" 12345678901234567890"}', '[123456789012345]', '1e21', '[1.5e-300]']) assert.deepEqual(readJson(text), JSON.parse(text));
  assert.equal(exactNumbersRead(), before);
  for (const text of ['[12345678901234567890', '12345678901234567890-', '{"a:12345678901234567890}', '[1e4000e]']) assert.throws(() => readJson(text), SyntaxError);
});

test('a caller cannot make one up, and only numbers come out', () => {
  const [held] = readJson('[9007199254740993]') as readonly string[];
  assert.ok(held !== undefined && isExactNumber(held));
  assert.equal(nearestNumber(held), 9_007_199_254_740_992);
  const forged = held.replace('9007199254740993', '1,"a":2');
  assert.equal(JSON.parse(writeJson([forged]))[0], forged);
  assert.ok(!isExactNumber('9007199254740993'));
});
