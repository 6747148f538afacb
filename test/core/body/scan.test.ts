import assert from 'node:assert/strict';
import { test } from 'node:test';
import { field, scanObject } from '../../../core/body/scan.js';
import fc from '../../support/fast-check.js';
import { anyName, anyObject } from './json-text.js';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

test('every member is found where its bytes are, in order, duplicates included', () => {
  fc.assert(fc.property(anyObject, ({ text, members }) => {
    const bytes = Buffer.from(text);
    const spans = scanObject(bytes);
    assert.ok(spans !== null);
    assert.deepEqual(spans.map((span) => span.name), members.map((member) => member.name));
    assert.deepEqual(spans.map((span) => bytes.toString('utf8', span.valueStart, span.valueEnd)), members.map((member) => member.value));
    for (const [index, span] of spans.entries()) assert.ok(bytes.toString('utf8', span.keyStart).startsWith(members[index]!.key));
  }), { numRuns: 400 });
});

test('a scalar field is what JSON.parse says it is, the last of duplicates, and undefined when it is none', () => {
  fc.assert(fc.property(anyObject, anyName, ({ text }, name) => {
    const parsed: Record<string, unknown> = JSON.parse(text);
    const value = Object.hasOwn(parsed, name) ? parsed[name] : undefined;
    assert.deepEqual(field(bytesOf(text), name), value === null || typeof value === 'object' ? undefined : value);
  }), { numRuns: 400 });
});

test('names are compared decoded', () => {
  assert.equal(field(bytesOf('{"\\u006dodel":"gpt"}'), 'model'), 'gpt');
  assert.equal(field(bytesOf('{"model":"a","mod\\u0065l":"b"}'), 'model'), 'b');
  assert.equal(field(bytesOf('{"Ã©":1}'), 'é'), undefined);
  assert.deepEqual(scanObject(bytesOf('{"\\u006dodel":1}'))?.map(({ name }) => name), ['model']);
});

test('long strings full of quotes and backslashes are stepped over whole', () => {
  for (const content of ['\\"'.repeat(50_000), '\\\\'.repeat(50_000), `${'\\\\'.repeat(999)}\\"`, 'x'.repeat(100_000), '}]",'.replaceAll('"', '\\"').repeat(9_999)]) {
    const text = `{"content":"${content}","model":"m"}`;
    JSON.parse(text);
    assert.equal(field(bytesOf(text), 'model'), 'm');
  }
});

test('what is not one object gives null, and no field', () => {
  const junk = [
    '', ' ', '{', '}', '[]', '"a"', 'null', '{}x', '{} {}', '{,}', '{"a"}', '{"a":}', '{"a":1,}', '{"a":1', '{"a":"x}', '{"a":"x\\"}', '{"a":[1}', '{"a" 1}',
    '{"a":1 "b":2}', '{"a":tru}', '{"a":nul', '{a:1}', "{'a':1}", '{"a":1}}', '{"\\u00":1}', '{"a\\', '{"a":"\\', '\ufeff{}', '{"a":x}', '\u0000',
  ];
  for (const text of junk) {
    assert.equal(scanObject(bytesOf(text)), null, text);
    assert.equal(field(bytesOf(text), 'a'), undefined, text);
  }
});

test('any bytes end in an answer that stays within them, and never in null where JSON.parse finds an object', () => {
  const cut = fc.tuple(anyObject, fc.nat(), fc.nat(255), fc.boolean()).map(([{ text }, at, byte, isTruncated]) => {
    const bytes = Buffer.from(text);
    const index = at % bytes.length;
    if (isTruncated) return bytes.subarray(0, index);
    bytes[index] = byte;
    return bytes;
  });
  fc.assert(fc.property(fc.oneof(cut, fc.uint8Array({ maxLength: 60 })), (bytes) => {
    const spans = scanObject(bytes);
    let last = 0;
    for (const { keyStart, valueStart, valueEnd } of spans ?? []) {
      assert.ok(last <= keyStart && keyStart < valueStart && valueStart < valueEnd && valueEnd <= bytes.length);
      last = valueEnd;
    }
    if (spans === null) assert.ok(!isObject(bytes));
  }), { numRuns: 1_500 });
});

test('deep nesting costs no stack', () => {
  const depth = 1_000_000;
  assert.equal(field(bytesOf(`{"a":${'['.repeat(depth)}${']'.repeat(depth)},"b":1}`), 'b'), 1);
  assert.equal(scanObject(bytesOf(`{"a":${'{"a":'.repeat(depth)}`)), null);
});

function isObject(bytes: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
