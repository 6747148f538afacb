import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'node:test';
import { explainJsonFault } from '../../../core/config/json-fault.js';

test('the fault is named by what was expected and where', () => {
  for (const [text, explanation] of [
    ['', 'it is empty'],
    ['  ', 'it is empty'],
    ['{', 'it ends where a property name in double quotes or "}" should follow'],
    ['{"a":1', 'it ends where "," or "}" should follow'],
    ['[1,', 'it ends where a value should follow'],
    ['{a:1}', 'expected a property name in double quotes or "}" at character 2'],
    ['{"a" 1}', 'expected ":" at character 6'],
    ['{"a":1,}', 'expected a property name in double quotes at character 8'],
    ['[1,]', 'expected a value at character 4'],
    ['[1 2]', 'expected "," or "]" at character 4'],
    ['{"a":tru}', 'expected a value at character 6'],
    ['{"a":01}', 'expected a value at character 6'],
    ['{"a":1.}', 'expected a value at character 6'],
    ['{} {}', 'expected the end at character 4'],
    ['[}', 'expected a value or "]" at character 2'],
    ["{'a':1}", 'expected a property name in double quotes or "}" at character 2'],
    ['{"a":"b', 'the string that begins at character 6 is not closed or holds a character that must be escaped'],
    ['["\n"]', 'the string that begins at character 2 is not closed or holds a character that must be escaped'],
    ['["\\x"]', 'the string that begins at character 2 is not closed or holds a character that must be escaped'],
  ] as const) assert.equal(explainJsonFault(text), explanation, text);
});

test('whatever JSON.parse refuses is explained, and the position lies where the text can no longer become JSON', () => {
  const broken = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', '{', '}', '[', ']', ',', ':', '"', '1', 'a', '-', ' ', '\\'), fc.nat(3))
    .map(([text, at, extra, cut]) => text.slice(0, at % (text.length + 1)) + extra + text.slice((at % (text.length + 1)) + cut));
  fc.assert(fc.property(broken, (text) => {
    let isJson = true;
    try {
      JSON.parse(text);
    } catch {
      isJson = false;
    }
    const explanation = explainJsonFault(text);
    // The scanner agrees with the engine about what is JSON: valid text is followed to its end.
    assert.equal(explanation === 'it ends where the end should follow', isJson, `${text} -> ${explanation}`);
  }), { numRuns: 2000, verbose: 1 });
});

test('time is linear in the text', () => {
  for (const text of ['['.repeat(200_000), `"${'\\"'.repeat(100_000)}`, `"${'a'.repeat(200_000)}`, ' '.repeat(200_000), '1'.repeat(200_000) + 'x']) {
    const started = process.cpuUsage().user;
    explainJsonFault(text);
    assert.ok(process.cpuUsage().user - started < 1_000_000, `${text.slice(0, 5)}...`);
  }
});
