import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isList, isObject, listOf, textOf, textOrUndefined } from '@gateway/plugin-sdk';

const values: readonly unknown[] = [undefined, null, false, 0, '', 'text', [], ['item'], {}, { name: 1 }];

test('a value is told by its type, and null and lists are not objects', () => {
  assert.deepEqual(values.filter((value) => isObject(value)), [{}, { name: 1 }]);
  assert.deepEqual(values.filter((value) => isList(value)), [[], ['item']]);
});

test('what is not a text reads as an empty one or as undefined, what is not a list as an empty one', () => {
  assert.deepEqual(values.map((value) => textOf(value)), ['', '', '', '', '', 'text', '', '', '', '']);
  assert.deepEqual(values.map((value) => textOrUndefined(value)), [undefined, undefined, undefined, undefined, '', 'text', undefined, undefined, undefined, undefined]);
  assert.deepEqual(values.map((value) => listOf(value)), [[], [], [], [], [], [], [], ['item'], [], []]);
});
