import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { explainFault } from '../../../core/body/json-fault.js';
import { levelsMax } from '../../../core/body/depth.js';
import { parseAnswer, parseJsonObject } from '../../../core/body/parse.js';
import fc from '../../support/fast-check.js';
import { anyObject } from './json-text.js';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function errorOf(bytes: Uint8Array): { code: string; message: string; param: string | null } {
  try {
    parseJsonObject(bytes);
  } catch (error) {
    assert.ok(isGatewayError(error));
    return error;
  }
  return assert.fail('nothing was thrown');
}

test('objects are parsed as JSON.parse does', () => {
  fc.assert(fc.property(anyObject, ({ text }) => {
    const parsed: Record<string, unknown> = JSON.parse(text);
    if (!Object.hasOwn(parsed, '__proto__')) assert.deepEqual(parseJsonObject(bytesOf(text)), parsed);
  }));
  assert.deepEqual(parseJsonObject(bytesOf('{"a":"é😀"}')), { a: 'é😀' });
  // A view into a larger buffer.
  assert.deepEqual(parseJsonObject(bytesOf('xx{"a":1}xx').subarray(2, 9)), { a: 1 });
});

test('bytes that are not UTF-8 are refused', () => {
  for (const bytes of [[0xff], [0x22, 0xc3, 0x22], [0x7b, 0xed, 0xa0, 0x80, 0x7d]]) assert.equal(errorOf(Uint8Array.from(bytes)).code, 'BODY_NOT_UTF8');
});

test('faults are told with line and column', () => {
  const unexpected = (column: number): string => `unexpected characters at line 1, column ${column}; outside of double quotes only numbers, true, false, null and {}[]:, may stand`;
  const cases: [string, string][] = [
    ['', 'it is empty'],
    ['  \n', 'it is empty'],
    ['{', 'it ends inside an object; "}" is missing'],
    ['{"a":[1', 'it ends inside a list; "]" is missing'],
    ['{"a":', 'it ends where a value should follow'],
    ['{"a":1,', 'it ends where a member name in double quotes should follow'],
    ['{"a":1', 'it ends inside an object; "}" is missing'],
    ['{"a":1,}', 'expected a member name in double quotes at line 1, column 8'],
    ['{"a":1,\n "b":[1,2,]}', 'expected a value at line 2, column 11'],
    ["{'a':1}", unexpected(2)],
    ['{a:1}', unexpected(2)],
    ['{"a" 1}', 'expected ":" at line 1, column 6'],
    ['{"a":01}', 'expected "," or a closing bracket at line 1, column 7'],
    ['{"a":1.}', 'the number at line 1, column 6 is not complete'],
    ['{"a":NaN}', unexpected(6)],
    // Columns as editors count them: this character is two.
    ['{"é":"😀",x}', unexpected(11)],
    ['{"a":1]', 'expected "," or a closing bracket at line 1, column 7'],
    ['{"a":1}x', unexpected(8)],
    ['{"a":1}{}', 'expected the end at line 1, column 8'],
    ['{"a":1} // why', 'there is a comment at line 1, column 9; take it out'],
    ['{"a":"x\ny"}', 'the string that begins at line 1, column 6 is not closed, or holds a line break; write that as an escape'],
    ['{"a":"x\ty"}', 'the string that begins at line 1, column 6 holds a tab or another control character; write it as an escape'],
    ['{"a":"\\x"}', 'the string that begins at line 1, column 6 holds a broken escape'],
    ['{"a":"\\u12"}', 'the string that begins at line 1, column 6 holds a broken escape'],
    ['{"a":"abc', 'the string that begins at line 1, column 6 is not closed, or holds a line break; write that as an escape'],
    ['{"a":"abc\\', 'the string that begins at line 1, column 6 is not closed, or holds a line break; write that as an escape'],
    ['\ufeff{}', 'it begins with a byte order mark; send it without'],
    [`{"a":${'['.repeat(300_000)}`, 'it is nested more than 128 levels deep at line 1, column 133, and broken behind that'],
    [`{"a":${'1'.repeat(10_000)},}`, 'expected a member name in double quotes at line 1, column 10007'],
    // Only so much is searched, wherever the cut falls.
    [`{"a":"${'x'.repeat(1_050_000)}",}`, 'its fault lies behind the first 1048576 characters'],
    [`{"a":${' '.repeat(1_050_000)},}`, 'its fault lies behind the first 1048576 characters'],
    [`{"a" 1,"b":"${'x'.repeat(1_050_000)}"}`, 'expected ":" at line 1, column 6'],
  ];
  for (const [text, reason] of cases) {
    const error = errorOf(bytesOf(text));
    assert.equal(error.code, 'BODY_NOT_JSON');
    assert.equal(error.message, `request body is not valid JSON: ${reason}`);
  }
});

test('a fault is found in whatever JSON.parse refuses, and no message quotes the body', () => {
  fc.assert(fc.property(anyObject, fc.nat(), fc.nat(127), fc.constantFrom('cut', 'change', 'insert'), ({ text }, position, code, how) => {
    const at = position % text.length;
    const mark = String.fromCharCode(code);
    const broken = how === 'cut' ? text.slice(0, at) : text.slice(0, at) + mark + text.slice(how === 'change' ? at + 1 : at);
    if (Buffer.from(broken).toString() !== broken) return;
    try {
      JSON.parse(broken);
    } catch {
      assert.notEqual(explainFault(broken), 'it cannot be read', JSON.stringify(broken));
    }
  }), { numRuns: 2_000 });
  for (const text of ['{"key":"sk-secret","b":tru}', 'sk-secret', '{"sk-secret', '{"a":sk-secret}', '{"a":"sk-secret\n"}']) {
    assert.doesNotMatch(errorOf(bytesOf(text)).message, /secret|sk-/);
  }
});

test('JSON that is not an object is refused by its kind', () => {
  for (const [text, kind] of [['[]', 'a list'], ['null', 'null'], ['1', 'a number'], ['"x"', 'a string'], ['true', 'a boolean']] as const) {
    const error = errorOf(bytesOf(text));
    assert.equal(error.code, 'BODY_INVALID');
    assert.equal(error.param, 'body');
    assert.equal(error.message, `body: must be a JSON object, not ${kind}`);
  }
});

test('a member called __proto__ is refused, below the top it is a plain member', () => {
  assert.equal(errorOf(bytesOf('{"__proto__":{"stream":true}}')).param, '__proto__');
  assert.equal(errorOf(bytesOf('{"\\u005f_proto__":1}')).param, '__proto__');
  const parsed = parseJsonObject(bytesOf('{"a":{"__proto__":{"x":1}}}'));
  assert.equal(({} as { x?: number }).x, undefined);
  assert.ok(Object.hasOwn(parsed.a as object, '__proto__'));
});

test('deep nesting is refused beyond a limit, never a crash', () => {
  const depth = 200_000;
  const nested = (levels: number): Uint8Array => bytesOf(`{"b":[{}],"a":${'[{"c":1,"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}}`);
  assert.ok(Array.isArray(parseJsonObject(nested(levelsMax - 2)).a));
  assert.equal(errorOf(nested(levelsMax)).code, 'BODY_TOO_DEEP');
  assert.equal(errorOf(bytesOf(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`)).code, 'BODY_TOO_DEEP');
  assert.equal(errorOf(bytesOf('{"a":'.repeat(depth / 4))).code, 'BODY_NOT_JSON');
});

describe('a body of many values', () => {
  const bodyOf = (part: string, count: number): Buffer => Buffer.from(`{"a":[${part.repeat(count)}1]}`);

  it('is refused before it is parsed', (context) => {
    const parse = context.mock.method(JSON, 'parse');
    for (const body of [bodyOf('{},', 260_000), bodyOf('1,', 500_001), bodyOf('{"b":1},', 90_000), bodyOf('"a",', 600_000), bodyOf('[[', 300_000)]) {
      assert.throws(() => parseJsonObject(body), (thrown: unknown) => isGatewayError(thrown) && thrown.code === 'BODY_INVALID' && /more than 500000 values/.test(thrown.message));
    }
    assert.equal(parse.mock.callCount(), 0);
  });

  it('is not what long texts, or the values of an ordinary body, are taken for', () => {
    const text = ',{[:\\"'.repeat(300_000);
    assert.equal((parseJsonObject(Buffer.from(`{"a":"${text}"}`)).a as string).length, 1_500_000);
    assert.equal((parseJsonObject(bodyOf('12345,', 300_000)).a as unknown[]).length, 300_001);
    const message = '{"role":"user","content":"hello there"},';
    assert.equal((parseJsonObject(bodyOf(message, 20_000)).a as unknown[]).length, 20_001);
  });

  it('may be short, or broken, and is then refused for what is broken', () => {
    assert.equal((parseJsonObject(bodyOf('{},', 80_000)).a as unknown[]).length, 80_001);
    assert.throws(() => parseJsonObject(Buffer.from(`{"a":"${'x'.repeat(300_000)}`)), (thrown: unknown) => isGatewayError(thrown) && thrown.code === 'BODY_NOT_JSON');
  });
});

it('an answer may have numbers by the million, but not lists and objects', () => {
  assert.equal((parseAnswer(Buffer.from(`[${'1,'.repeat(1_000_000)}1]`)) as unknown[]).length, 1_000_001);
  assert.equal(parseAnswer(Buffer.from(`[${'{},'.repeat(700_000)}1]`)), undefined);
});
