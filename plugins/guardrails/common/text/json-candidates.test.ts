import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonCandidates } from './json-candidates.js';

const cases: readonly (readonly [string, readonly unknown[]])[] = [
  ['', []], ['no JSON', []], ['{}', [{}]], ['"text"', ['text']], ['true', [true]], [' -1.5e3 ', [-1500]], ['truely', []],
  ['a {"a":{"b":[1,{"c":"}"}]}} b', [{ a: { b: [1, { c: '}' }] } }]],
  ['a {"a":"\\"}{"} b', [{ a: '"}{' }]],
  ['{"a":1}{"b":2}', [{ a: 1 }, { b: 2 }]],
  ['[see {"a":1} there', [{ a: 1 }]],
  ['(it says "{" and) {"a":1}', [{ a: 1 }]],
  ['{"text: {"a":1}', [{ a: 1 }]],
  ['{ name: "x" } {"a":1}', [{ a: 1 }]],
  ['{a: {"b":1}}', [{ b: 1 }]],
  ['[ {"b":1}, {"c":2}, oops! ] {"d":3}', [{ b: 1 }, { c: 2 }, { d: 3 }]],
  ["don't {\"a\":1} don't", [{ a: 1 }]],
  ['```json\n{"a":1}\n```\nand {"b":2}', [{ a: 1 }, { b: 2 }]],
  ['{"z":0} ```\n[1]\n```', [{ z: 0 }, [1]]],
  ['```json\nnot {"a":1} json\n```', [{ a: 1 }]],
  ['```json\n{"code":"```"}\n```', [{ code: '```' }]],
  ['```json\n{"a":1}', [{ a: 1 }]],
  ['{"a":1', []], ['}{', []], ['[}', []],
];

for (const [text, expected] of cases) test(`finds ${expected.length} in ${JSON.stringify(text)}`, () => assert.deepEqual(jsonCandidates(text), expected));

test('hostile texts take linear time, and candidates have a limit', () => {
  const started = process.cpuUsage().user;
  for (const unit of ['[', '{', '{"a":', '{"', '"{', '[]', '{"a":"{', '"[\\', '{}}', '["', '```json\n{\n', '{"a":[1,']) jsonCandidates(`x${unit.repeat(Math.floor(200_000 / unit.length))}`);
  assert.ok(process.cpuUsage().user - started < 1_500_000, `${process.cpuUsage().user - started} µs`);
  assert.equal(jsonCandidates(`x ${'{"a":1} '.repeat(1000)}`).length, 64);
});
