import { JsonObjectText } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../support/fast-check.js';

function shown(pieces: readonly string[]): string {
  const filter = new JsonObjectText();
  return pieces.map((piece) => filter.push(piece)).join('') + filter.end();
}

test('words and fences around a JSON object are taken off, wherever the answer is cut', () => {
  for (const json of ['{}', '{"a":"}{\\"","b":[{"c":1}]}', '{"a":{"b":"\\\\"}}']) {
    const text = `Here it is:\n\`\`\`json\n${json}\n\`\`\`\nAnything else? {no}`;
    for (let at = 0; at <= text.length; at += 1) assert.equal(shown([text.slice(0, at), text.slice(at)]), json);
    assert.equal(shown([...text]), json);
  }
});

test('braces in the words before it begin no object', () => {
  for (const before of ['Use {name} and { this }: ', '${x}, {1}, {{', '{'.repeat(2_000)]) {
    const text = `${before}{\n  "a": {"b":1}}, or {"c":2}`;
    for (const pieces of [[text], [...text], [text.slice(0, before.length + 1), text.slice(before.length + 1)]]) assert.equal(shown(pieces), '{\n  "a": {"b":1}}', before);
  }
  assert.equal(shown(['{', ' '.repeat(2_000), 'x']), `{${' '.repeat(2_000)}x`);
});

test('any object comes through as it is', () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.integer({ min: 1, max: 7 }), (value, size) => {
    const json = JSON.stringify(value);
    const pieces = json.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
    assert.equal(shown(['```\n', ...pieces, '\n```']), json);
  }));
});

test('an answer without an object, or cut off inside it, loses nothing', () => {
  assert.equal(shown(['I cannot ', 'do that.']), 'I cannot do that.');
  assert.equal(shown(['{"a":', '"b']), '{"a":"b');
});

test('what is held back has a limit', () => {
  const filter = new JsonObjectText();
  const long = 'x'.repeat(70_000);
  assert.equal(filter.push(long), long);
  assert.equal(filter.push('{}y'), '{}y');
});
