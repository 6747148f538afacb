import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { dropPaths, parseDropPath, type DropPath } from '../../../core/body/splice.js';
import fc from '../../support/fast-check.js';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const dropped = (text: string, ...paths: string[]): string => Buffer.from(dropPaths(bytesOf(text), paths.map((path) => parseDropPath(path)!))).toString();

test('dotted paths with indexes are read into steps', () => {
  assert.deepEqual(parseDropPath('user'), [{ kind: 'name', name: 'user' }]);
  assert.deepEqual(parseDropPath('tools[0].function.strict'), [
    { kind: 'name', name: 'tools' }, { kind: 'index', index: 0 }, { kind: 'name', name: 'function' }, { kind: 'name', name: 'strict' },
  ]);
  assert.deepEqual(parseDropPath('a[*][12]'), [{ kind: 'name', name: 'a' }, { kind: 'every' }, { kind: 'index', index: 12 }]);
  for (const text of ['', '.', 'a.', '.a', 'a..b', '[0]', 'a[', 'a[]', 'a[x]', 'a[-1]', 'a]', 'a[1', 'a[*]b', 'a[1234567]', '[*].a', 'a.'.repeat(70) + 'a']) {
    assert.equal(parseDropPath(text), undefined, text);
  }
});

test('addressed members and elements go, everything else keeps its bytes', () => {
  const text = ' {"messages" : [ {"name":"x", "role":"user"} ,{"role":"a","name" : "y"},3,{"name":{}}], "tools":[{"function":{"strict":true,"n":1.0}}],"seed":9007199254740993 } ';
  assert.equal(dropped(text, 'messages[*].name'), text.replace('"name":"x", ', '').replace(',"name" : "y"', '').replace('"name":{}', ''));
  assert.equal(dropped(text, 'tools[0].function.strict'), text.replace('"strict":true,', ''));
  assert.equal(dropped(text, 'seed'), text.replace(',"seed":9007199254740993', ''));
  assert.equal(dropped(text, 'messages[1]'), text.replace(' ,{"role":"a","name" : "y"}', ''));
  assert.equal(dropped(text, 'messages[0]'), text.replace('{"name":"x", "role":"user"} ,', ''));
  assert.equal(dropped(text, 'messages[*]'), text.replace(/\[ \{"name".*\{\}\}\]/, '[ ]'));
  assert.equal(dropped(text, 'messages', 'tools', 'seed'), ' { } ');
});

test('all paths mean the body as it came', () => {
  assert.equal(dropped('{"a":[0,1,2,3]}', 'a[0]', 'a[1]'), '{"a":[2,3]}');
  assert.equal(dropped('{"a":[0,1,2,3]}', 'a[3]', 'a[1]', 'a[9]'), '{"a":[0,2]}');
  assert.equal(dropped('{"a":{"b":1,"c":2},"d":3}', 'a.b', 'a', 'd.e'), '{"d":3}');
  assert.equal(dropped('{"a":[[1,2],[3,4]],"b":0}', 'a[*][0]', 'a[1]'), '{"a":[[2]],"b":0}');
});

test('every duplicate of a name is addressed, escaped names too', () => {
  assert.equal(dropped('{"a":1,"b":2,"\\u0061":3}', 'a'), '{"b":2}');
  assert.equal(dropped('{"a":{"x":1},"a":{"x":2,"y":3}}', 'a.x'), '{"a":{},"a":{"y":3}}');
});

test('paths that lead nowhere return the same bytes', () => {
  const bytes = bytesOf('{"a":[1],"b":{"c":"a.b[0]"},"d":"x"}');
  const paths = ['x', 'a.b', 'a[5]', 'b[0]', 'b[*].c', 'd.e', 'd[0]', 'b.c.d'].map((path) => parseDropPath(path)!);
  assert.equal(dropPaths(bytes, paths), bytes);
  assert.equal(dropPaths(bytes, []), bytes);
});

test('a body that is not one object is refused', () => {
  for (const text of ['', '[{"a":1}]', '{"a":[1,}', '{"a":[1 2]}', '{"a":{"b":1}', '{"a":{"b" 1}}', '{"a":1}x']) {
    assert.throws(() => dropped(text, 'a[0].b', 'a.b.c'), (error) => isGatewayError(error) && error.code === 'BODY_INVALID', text);
  }
});

/** The meaning of the paths on parsed values. */
function without(value: unknown, paths: readonly DropPath[]): unknown {
  const rest = (isHit: (path: DropPath) => boolean): readonly DropPath[] => paths.filter((path) => path.length > 1 && isHit(path)).map((path) => path.slice(1));
  const isDropped = (isHit: (path: DropPath) => boolean): boolean => paths.some((path) => path.length === 1 && isHit(path));
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => {
      const isHit = ([step]: DropPath): boolean => step?.kind === 'every' || (step?.kind === 'index' && step.index === index);
      return isDropped(isHit) ? [] : [without(item, rest(isHit))];
    });
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const isHit = ([step]: DropPath): boolean => step?.kind === 'name' && step.name === name;
    return isDropped(isHit) ? [] : [[name, without(member, rest(isHit))]];
  }));
}

test('the outcome of any paths is what they mean on the parsed object', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, fc.constantFrom(1, 'x', null), fc.array(tie('value'), { maxLength: 4 }), fc.dictionary(name, tie('value'), { maxKeys: 3 })),
  }));
  const path = fc.tuple(name, fc.array(fc.oneof(name.map((text) => `.${text}`), fc.constantFrom('[0]', '[1]', '[2]', '[*]')), { maxLength: 3 }))
    .map(([first, steps]) => first + steps.join(''));
  fc.assert(fc.property(fc.dictionary(name, value), fc.array(path, { maxLength: 4 }), fc.constantFrom(0, 1), (body, paths, indent) => {
    const text = JSON.stringify(body, null, indent);
    assert.deepEqual(JSON.parse(dropped(text, ...paths)), without(JSON.parse(text), paths.map((item) => parseDropPath(item)!)));
  }), { numRuns: 1_000 });
});
