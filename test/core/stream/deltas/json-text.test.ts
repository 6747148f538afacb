import type { SpanEdit } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonText } from '../../../../core/stream/deltas/json-text.js';

/** `«...»` marks what is replaced by `R"`. */
function edited(...pieces: string[]): string {
  const json = new JsonText();
  let out = '';
  pieces.forEach((piece, index) => {
    const edits: SpanEdit[] = [];
    let text = '';
    for (const part of piece.split(/(«[^»]*»)/)) {
      const inner = part.startsWith('«') ? part.slice(1, -1) : null;
      if (inner !== null) edits.push({ from: text.length, to: text.length + inner.length, text: 'R"' });
      text += inner ?? part;
    }
    out += json.write(text, edits, index === pieces.length - 1);
  });
  return out;
}

test('what replaces a part of a string is escaped', () => {
  assert.equal(edited('{"a":"x «12» y"}'), '{"a":"x R\\" y"}');
  assert.equal(edited('{"a":"«12»'), '{"a":"R\\"');
});

test('a number or a word becomes a string, also when only a part of it is edited', () => {
  assert.equal(edited('{"a":«12»,"b":true}'), '{"a":"R\\"","b":true}');
  assert.equal(edited('{"a":1«23»4}'), '{"a":"1R\\"4"}');
  assert.equal(edited('{"a":-12', '«34»', '5.6}'), '{"a":"-12R\\"5.6"}');
  assert.equal(edited('[1«2»', '3', ']'), '["1R\\"3"]');
  assert.equal(edited('[t«ru»e, nu', 'll]'), '["tR\\"e", null]');
  assert.equal(edited('«123»'), '"R\\""');
});

test('structure stays, whatever an edit covers', () => {
  assert.equal(edited('{"a":"x«yz","b":"w»v"}'), '{"a":"xR\\"","":"v"}');
  assert.equal(edited('«{"a":[1,{"b":"c"}]}»'), '{"R\\"":["",{"":""}]}');
  assert.equal(edited('[1«,»2]'), '[1,2]');
  assert.equal(edited('[«» 1]'), '[ 1]');
  assert.equal(edited('["a«»b"]'), '["aR\\"b"]');
});

test('an escape of which an edit takes a part goes as a whole', () => {
  assert.equal(edited('["a\\«n»b"]'), '["aR\\"b"]');
  assert.equal(edited('["a«\\»nb"]'), '["aR\\"b"]');
  assert.equal(edited('["a\\u00«e9»b"]'), '["aR\\"b"]');
  assert.equal(edited('["a\\u0', '«0»e9b"]'), '["aR\\"b"]');
  assert.equal(edited('["«a\\u00»e9b"]'), '["R\\"b"]');
  assert.equal(edited('["a\\\\«b»\\""]'), '["a\\\\R\\"\\""]');
});

test('without edits the text stays, and waits only inside of numbers, words and escapes', () => {
  const json = new JsonText();
  assert.deepEqual(['{"a', 'b\\', 'n c":1', '2', ',"d":', 'tru', 'e}', '  '].map((piece) => json.write(piece, [], false)), ['{"a', 'b', '\\n c":', '', '12,"d":', '', 'true}', '  ']);
  assert.equal(json.isWaiting, false);
  fc.assert(fc.property(fc.string(), fc.array(fc.nat(), { maxLength: 6 }), (text, cuts) => {
    const piecewise = new JsonText();
    const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((left, right) => left - right), text.length];
    const out = places.slice(1).map((place, index) => piecewise.write(text.slice(places[index], place), [], index === places.length - 2)).join('');
    assert.equal(out, text);
  }));
});

test('a very long word does not wait for its end', () => {
  const json = new JsonText();
  const word = 'x'.repeat(100_000);
  assert.ok(json.write(word, [], false).length > word.length - 100);
  assert.equal(json.write('y', [{ from: 0, to: 1, text: 'R' }], true).slice(-1), 'R');
});

test('JSON stays JSON under any edits and any cuts, and what is covered is gone', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(fc.property(value, fc.array(fc.tuple(fc.nat(), fc.nat({ max: 12 }), fc.string({ maxLength: 4 })), { maxLength: 3 }), fc.array(fc.nat(), { maxLength: 5 }), fc.boolean(), (given, wanted, cuts, isPretty) => {
    const text = JSON.stringify(given, null, isPretty ? 1 : 0).replaceAll('é', '\\u00e9');
    const edits: SpanEdit[] = [];
    for (const [from, length, replacement] of wanted.map(([from, length, replacement]) => [from % text.length, length, replacement] as const).sort((left, right) => left[0] - right[0])) {
      if (from >= (edits.at(-1)?.to ?? 0)) edits.push({ from, to: Math.min(text.length, from + length), text: replacement });
    }
    const whole = new JsonText().write(text, edits, true);
    assert.doesNotThrow(() => JSON.parse(whole), `${text} ${JSON.stringify(edits)} -> ${whole}`);
    // Pieces are never cut inside of an edit.
    const places = [0, ...cuts.map((cut) => cut % text.length).sort((left, right) => left - right), text.length].filter((place) => !edits.some(({ from, to }) => place > from && place < to));
    const json = new JsonText();
    let out = '';
    let taken = 0;
    places.slice(1).forEach((place, index) => {
      const start = places[index] ?? 0;
      const isLast = index === places.length - 2;
      const inside: SpanEdit[] = [];
      for (let edit = edits[taken]; edit !== undefined && edit.to <= place && (edit.from < place || isLast); edit = edits[taken]) {
        inside.push({ from: edit.from - start, to: edit.to - start, text: edit.text });
        taken += 1;
      }
      out += json.write(text.slice(start, place), inside, isLast);
    });
    assert.equal(out, whole);
  }), { numRuns: 500 });
});
