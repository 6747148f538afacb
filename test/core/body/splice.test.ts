import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { scanObject } from '../../../core/body/scan.js';
import { spliceObject, type BodyEdit } from '../../../core/body/splice.js';
import fc from '../../support/fast-check.js';
import { anyName, anyObject, anyValue } from './json-text.js';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const set = (name: string, value: string): BodyEdit => ({ kind: 'set', name, value: bytesOf(value) });
const preset = (name: string, value: string): BodyEdit => ({ kind: 'default', name, value: bytesOf(value) });
const remove = (name: string): BodyEdit => ({ kind: 'remove', name });
const rename = (from: string, to: string): BodyEdit => ({ kind: 'rename', from, to });
const spliced = (text: string, ...edits: BodyEdit[]): string => Buffer.from(spliceObject(bytesOf(text), edits)).toString();

const anyEdit: fc.Arbitrary<BodyEdit> = fc.oneof(
  fc.tuple(fc.constantFrom('set' as const, 'default' as const), anyName, anyValue).map(([kind, name, value]) => ({ kind, name, value: bytesOf(value) })),
  anyName.map(remove),
  fc.tuple(anyName, anyName).map(([from, to]) => rename(from, to)),
);

/** What the edits mean, on parsed values. */
function edited(text: string, edits: readonly BodyEdit[]): Map<string, unknown> {
  const members = new Map(Object.entries(JSON.parse(text) as object));
  const valueOf = (value: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(value));
  for (const edit of edits) {
    if (edit.kind === 'set') members.set(edit.name, valueOf(edit.value));
    else if (edit.kind === 'default') {
      if (!members.has(edit.name)) members.set(edit.name, valueOf(edit.value));
    } else if (edit.kind === 'remove') members.delete(edit.name);
    else if (edit.from !== edit.to && members.has(edit.from)) {
      if (!members.has(edit.to)) members.set(edit.to, members.get(edit.from));
      members.delete(edit.from);
    }
  }
  return members;
}

const sorted = (members: Iterable<[string, unknown]>): [string, unknown][] => [...members].sort(([left], [right]) => (left < right ? -1 : 1));

test('the outcome of any edits is what they mean on the parsed object', () => {
  fc.assert(fc.property(anyObject, fc.array(anyEdit, { maxLength: 5 }), ({ text }, edits) => {
    const output = spliced(text, ...edits);
    assert.deepEqual(sorted(Object.entries(JSON.parse(output) as object)), sorted(edited(text, edits)));
  }), { numRuns: 1_000 });
});

test('members that no edit names keep their bytes and their order, and the bytes around the first and last change stay', () => {
  fc.assert(fc.property(anyObject, fc.array(anyEdit, { maxLength: 4 }), ({ text, members }, edits) => {
    const touched = new Set(edits.flatMap((edit) => (edit.kind === 'rename' ? [edit.from, edit.to] : [edit.name])));
    const output = Buffer.from(spliced(text, ...edits));
    const kept = scanObject(output)!.filter(({ name }) => !touched.has(name));
    assert.deepEqual(
      kept.map(({ name, valueStart, valueEnd }) => [name, output.toString('utf8', valueStart, valueEnd)]),
      members.filter(({ name }) => !touched.has(name)).map(({ name, value }) => [name, value]),
    );
    const first = members.findIndex(({ name }) => touched.has(name));
    const spans = scanObject(bytesOf(text))!;
    const untilFirst = first === -1 ? spans.at(-1)?.valueEnd ?? 1 : spans[first]!.keyStart;
    const before = first > 0 ? spans[first - 1]!.valueEnd : untilFirst;
    assert.deepEqual(output.subarray(0, before), Buffer.from(text).subarray(0, before));
    const tail = Buffer.from(text).subarray(spans.at(-1)?.valueEnd ?? text.indexOf('{') + 1);
    assert.deepEqual(output.subarray(output.length - tail.length), tail);
  }), { numRuns: 600 });
});

test('numbers, white space and order outside the edit are untouched', () => {
  const text = ' { "seed" : 9007199254740993 ,\n\t"temperature":1.0,"model" : "a" , "top_p":1e0 }\n';
  assert.equal(spliced(text, set('model', '"b"')), text.replace('"a"', '"b"'));
  assert.equal(spliced(text, remove('temperature')), text.replace(' ,\n\t"temperature":1.0', ''));
  assert.equal(spliced(text, remove('seed')), text.replace('"seed" : 9007199254740993 ,\n\t', ''));
  assert.equal(spliced(text, remove('top_p')), text.replace(' , "top_p":1e0', ''));
  assert.equal(spliced(text, set('user', '"u"')), text.replace('1e0', '1e0,"user":"u"'));
  assert.equal(spliced(text, rename('seed', 'random_seed')), text.replace('"seed"', '"random_seed"'));
});

test('members are added to empty objects, and all can be removed', () => {
  assert.equal(spliced('{}', set('a', '1')), '{"a":1}');
  assert.equal(spliced(' { } ', set('a', '1'), preset('b', '2')), ' {"a":1,"b":2 } ');
  assert.equal(spliced('{ "a":1, "b":2 }', remove('a'), remove('b')), '{  }');
  assert.equal(spliced('{"a":1,"b":2}', remove('a'), remove('b'), set('c', '3')), '{"c":3}');
  assert.equal(spliced('{"a":1}', set('b', '2'), remove('b')), '{"a":1}');
  assert.equal(spliced('{"a":1}', remove('a'), set('a', '2')), '{"a":2}');
  assert.equal(spliced('{}', set('a "quoted" é', '1')), '{"a \\"quoted\\" é":1}');
});

test('duplicates of an edited member become one, where the first stood', () => {
  assert.equal(spliced('{"a":1,"b":2,"a":3,"c":4}', set('a', '9')), '{"a":9,"b":2,"c":4}');
  assert.equal(spliced('{"b":2,"a":1,"\\u0061":3}', set('a', '9')), '{"b":2,"a":9}');
  assert.equal(spliced('{"a":1,"b":2,"a":3}', rename('a', 'z')), '{"z":3,"b":2}');
  assert.equal(spliced('{"a":1,"b":2,"a":3}', remove('a')), '{"b":2}');
  assert.equal(spliced('{"a":1,"b":2,"a":3}', set('b', '0')), '{"a":1,"b":0,"a":3}');
});

test('a default leaves what is there, null included', () => {
  assert.equal(spliced('{"a":null}', preset('a', '1')), '{"a":null}');
  assert.equal(spliced('{"b":1}', preset('a', '{"x":[1.0]}')), '{"b":1,"a":{"x":[1.0]}}');
});

test('a renamed member gives way to one that has the new name already', () => {
  assert.equal(spliced('{"old":1,"new":2}', rename('old', 'new')), '{"new":2}');
  assert.equal(spliced('{"new":2,"old":1}', rename('old', 'new')), '{"new":2}');
  assert.equal(spliced('{"old":1}', rename('old', 'new'), set('new', '3')), '{"new":3}');
  assert.equal(spliced('{"old":1}', preset('new', '5'), rename('old', 'new')), '{"new":5}');
});

test('bytes that need no change are returned, not copied', () => {
  const bytes = bytesOf('{"a":1}');
  assert.equal(spliceObject(bytes, []), bytes);
  assert.equal(spliceObject(bytes, [preset('a', '2'), remove('b'), rename('c', 'd'), rename('a', 'a')]), bytes);
});

test('the body itself is never written to', () => {
  const bytes = bytesOf('{"a":1,"b":"x"}');
  const copy = bytes.slice();
  spliceObject(bytes, [set('a', '2'), remove('b'), set('c', '3')]);
  assert.deepEqual(bytes, copy);
});

test('a body that is not one object is refused', () => {
  for (const text of ['', '[]', '{"a":1', '{"a":1}{}', 'null', '{"a":1,}', '{"\\u00":1}']) {
    assert.throws(() => spliceObject(bytesOf(text), [set('a', '1')]), (error) => isGatewayError(error) && error.code === 'BODY_INVALID' && error.param === 'body', text);
  }
});

test('many edits give the very bytes that few give', () => {
  // None of these names is in a body; there are enough of them for names to be looked up.
  const padding = Array.from({ length: 2_100 }, (_, index) => remove(`not there ${index}`));
  fc.assert(fc.property(anyObject, fc.array(anyEdit, { maxLength: 8 }), ({ text }, edits) => {
    assert.equal(spliced(text, ...padding, ...edits), spliced(text, ...edits));
  }), { numRuns: 200 });
});

test('many edits of a body with many members are not each compared with each', () => {
  const count = 3_000;
  const text = `{${Array.from({ length: count }, (_, index) => `"m${index}":1`).join(',')}}`;
  const edits = Array.from({ length: count }, (_, index) => set(`e${index}`, '2'));
  let reads = 0;
  // Names that are compared are read.
  const counted = edits.map((edit) => Object.defineProperty({ ...edit }, 'name', { get: () => { reads += 1; return (edit as { name: string }).name; } }) as BodyEdit);
  const members = JSON.parse(Buffer.from(spliceObject(bytesOf(text), counted)).toString()) as Record<string, number>;
  assert.deepEqual([Object.keys(members).length, members.m0, members.e2999], [count * 2, 1, 2]);
  const charCodeAt = String.prototype.charCodeAt;
  let compared = 0;
  String.prototype.charCodeAt = function counting(at: number) { compared += 1; return charCodeAt.call(this, at); };
  try {
    spliceObject(bytesOf(text), edits);
  } finally {
    String.prototype.charCodeAt = charCodeAt;
  }
  assert.ok(reads < count * 10 && compared < count * 10, `${reads} names read, ${compared} characters compared`);
});
