import { answerPieces, applyEdits, type Json, type StreamCheck, type TextEdit, type TextWindow } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nestingMax, numberCharactersMax } from '../../../../core/dialect/common/json-values.js';
import { TextGate } from '../../../../core/dialect/common/text-gate.js';
import fc from '../../../support/fast-check.js';
import { testSeed } from '../../../support/seed.js';
import { bytesOf, eventsOf, redactor, run, secret, textsOf } from './test-streams.js';

const pattern = /\d{3}-\d{2}-\d{4}|\d{9}/g;
const replacement = 'a "b" \n';
const check = (): ReturnType<typeof redactor> => redactor({ pattern, beginning: /(?:\d{1,8}|\d{3}-\d{0,2}|\d{3}-\d{2}-\d{0,3})$/, replacement });
const dialects = ['chat', 'messages', 'responses'] as const;

/** The arguments as a plain answer would have them. */
function plain(args: string): string {
  const body = { choices: [{ message: { tool_calls: [{ function: { name: 'f', arguments: args } }] } }] };
  const pieces = answerPieces('chatCompletions', body);
  const edits = pieces.flatMap(({ text }, piece): TextEdit[] => [...text.matchAll(pattern)].map((match) => ({ piece, from: match.index, to: match.index + match[0].length, text: replacement })));
  return (applyEdits(body, pieces, edits) as typeof body).choices[0]?.message.tool_calls[0]?.function.arguments ?? '';
}

const piecesOf = (args: string): string[] =>
  answerPieces('chatCompletions', { choices: [{ message: { tool_calls: [{ function: { arguments: args } }] } }] }).map(({ text }) => text);

function cut(text: string, places: readonly number[]): string[] {
  const all = [0, ...places.map((place) => place % (text.length + 1)).sort((left, right) => left - right), text.length];
  return all.slice(1).map((place, index) => text.slice(all[index], place)).filter((piece) => piece !== '');
}

interface Passed {
  readonly text: string;
  readonly parts: readonly string[];
  readonly windows: readonly TextWindow[];
  readonly gate: TextGate;
}

/** One text of arguments through the gate. */
function passed(pieces: readonly string[], stream: StreamCheck & { readonly windows?: readonly TextWindow[] } = check(), lookBackMax = 11): Passed {
  const windows: TextWindow[] = [];
  const gate = new TextGate({ check: { push: (window) => { windows.push(window); return stream.push(window); }, verdict: () => stream.verdict() }, lookBackMax, changes: true, onFail: () => false }, true);
  const channel = gate.open('c', 'arguments', 0, true);
  const parts = [...pieces.map((piece) => gate.pass(channel, piece)), gate.flush(channel)];
  assert.equal(channel.written, parts.join(''));
  return { text: parts.join(''), parts, windows, gate };
}

/** What the check saw of each channel that ended, joined from what it released. */
function judged(args: string, places: readonly number[]): string[] {
  const texts = new Map<string, string>();
  passed(cut(args, places), { push: ({ channel, text }) => { texts.set(channel, (texts.get(channel) ?? '') + text); return { release: text.length }; }, verdict: () => ({ pass: true }) });
  return [...texts.values()];
}

const word = fc.oneof(fc.constant(secret), fc.constant('123456789'), fc.constant('123-45'), fc.constant('-6789'), fc.string({ maxLength: 5 }), fc.string({ unit: 'binary', maxLength: 4 }), fc.constant('"\\\n\t/\u{1f600}\u2028é'));
const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(''));
const leaf = fc.oneof(text, fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(123456789), fc.constant(-1.5e30)), fc.boolean(), fc.constant(null));
const { container } = fc.letrec<{ container: Json; any: Json }>((tie) => ({
  any: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('container')),
  container: fc.oneof(fc.array(tie('any'), { maxLength: 4 }), fc.dictionary(text.filter((key) => key !== '__proto__'), tie('any'), { maxKeys: 4 })) as fc.Arbitrary<Json>,
}));
/** The same value in one of the ways in which models write it. */
const written = fc.tuple(container, fc.constantFrom(0, 1, 2), fc.constantFrom('none', 'other', 'all')).map(([value, spaces, escapes]) => {
  const json = JSON.stringify(value, null, spaces);
  const wanted = escapes === 'none' ? /(?!)/g : escapes === 'other' ? /[^\x00-\x7f]/g : /(?<=[^\\ubfnrt"{}[\],: \d.e+-])[0-9a-z@-](?=[^":])|[^\x00-\x7f]/g;
  const escaped = json.replace(wanted, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  try {
    JSON.parse(escaped);
    return escaped;
  } catch {
    return json;
  }
});
const places = fc.array(fc.nat({ max: 400 }), { maxLength: 30 });
const seed = testSeed;

describe(`values of streamed arguments (seed ${seed})`, () => {
  for (const endpoint of dialects) {
    test(`come out as those of a plain answer in ${endpoint}`, () => {
      fc.assert(fc.property(written, places, (args, cuts) => {
        // A name that is changed into one that is there already cannot be told apart from it in a stream.
        fc.pre(args.replaceAll(pattern, '').length === args.length || !/"[^"]*(?:\d{3}-\d{2}-\d{4}|\d{9})[^"]*":/.test(JSON.stringify(JSON.parse(args))));
        const steps = cut(args, cuts).map((piece) => ({ tool: 0, args: piece }));
        const events = eventsOf(endpoint, steps);
        const result = run(endpoint, events, check());
        assert.deepEqual([result.errors, result.stage.error], [[], null]);
        const [streamed] = Object.values(textsOf(endpoint, result.events));
        const expected = plain(args);
        assert.deepEqual(JSON.parse(streamed ?? ''), JSON.parse(expected));
        // No edit, no other byte.
        if (expected === args) assert.equal(streamed, args);
        if (endpoint !== 'responses') return;
        for (const { data } of result.events) {
          if (typeof data.arguments === 'string' && data.type.endsWith('.done')) assert.equal(data.arguments, streamed);
          if (data.type === 'response.output_item.done') assert.equal(data.item.arguments, streamed);
          if (data.type === 'response.completed') assert.equal(data.response.output[0].arguments, streamed);
        }
      }), { numRuns: 150, seed });
    });
  }

  test('are what the check of a plain answer sees, each as a text of its own', () => {
    fc.assert(fc.property(written, places, (args, cuts) => {
      assert.deepEqual(judged(args, cuts).sort(), piecesOf(args).sort());
    }), { numRuns: 300, seed });
  });

  test('lose no byte when the check keeps them or lets them go, whatever the text is', () => {
    fc.assert(fc.property(fc.oneof(written, fc.string(), fc.array(fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', '1', '-', '.', 'e', 'true', 'nul', ' ', '\\u00', '4', 'a', '\ud83d', '\ude00')).map((parts) => parts.join(''))), places, fc.nat({ max: 8 }), (args, cuts, keeps) => {
      const keeper: StreamCheck = { push: ({ text: given, isLast }) => ({ release: isLast ? given.length : Math.max(0, given.length - keeps) }), verdict: () => ({ pass: true }) };
      const { text: out, gate, windows } = passed(cut(args, cuts), keeper, 8);
      assert.equal(out, args);
      assert.equal(gate.error, null);
      for (const { before, text: given, isLast, channel } of windows) {
        assert.ok(before.length <= 8 && (isLast || given !== ''), `${channel} ${given}`);
      }
    }), { numRuns: 500, seed });
  });

  test('let nothing of a secret go, however the arguments are broken', () => {
    fc.assert(fc.property(written, fc.nat({ max: 200 }), fc.constantFrom('}', '"', "'", 'x', '\\', ',', '', '\n', 'NaN'), places, (args, at, junk, cuts) => {
      const broken = args.slice(0, at % args.length) + junk;
      const { text: out } = passed(cut(broken + secret, cuts));
      assert.ok(!out.endsWith(secret) || /\d$|\d-$|\d-\d\d-$/.test(broken) || isInEscape(broken), JSON.stringify(broken));
    }), { numRuns: 300, seed });
  });
});

/** The first digits of the secret become a part of an escape that was cut off: what is decoded is not a secret. */
const isInEscape = (broken: string): boolean => /\\u[0-9a-fA-F]{0,3}$/.test(broken);

const fixed = `{"a":"x \\u0031\\u00323-45-6789 \\ud83d\\ude00\\n\u{1f600}","${secret}":[123456789,-2.5e3,"",{"b":"\\"q\\" 1"}],"t":[true,false,null]}`;

test('a fixed example is the same at every two places where it may be cut', () => {
  const expected: unknown = JSON.parse(plain(fixed));
  assert.deepEqual(expected, { a: `x ${replacement} \u{1f600}\n\u{1f600}`, [replacement]: [replacement, -2500, '', { b: '"q" 1' }], t: [true, false, null] });
  for (let first = 0; first <= fixed.length; first += 1) {
    for (const second of [first, Math.min(fixed.length, first + 1), Math.min(fixed.length, first + 4), fixed.length]) {
      const { text: out, parts } = passed(cut(fixed, [first, second]));
      assert.deepEqual(JSON.parse(out), expected);
      for (const part of parts) assert.doesNotMatch(part, /(?<!\\)(?:\\\\)*\\(?:u[0-9a-f]{0,3})?$|\\ud83d$|[\ud800-\udbff]$/, part);
      assert.ok(out.includes('\\ud83d\\ude00\\n\u{1f600}'), 'what is not edited stays as it was written');
    }
  }
});

test('each value is a channel of its own, that begins without context and ends with its quote', () => {
  const { windows } = passed(['{"a":"on', 'e","b":[2', '0.50,"th', 'ree"]', '}']);
  assert.deepEqual(windows.map(({ channel, kind, before, text: given, isLast }) => [channel, kind, before, given, isLast]), [
    ['c/0', 'arguments', '', 'a', true], ['c/1', 'arguments', '', 'on', false], ['c/1', 'arguments', 'on', 'e', true], ['c/2', 'arguments', '', 'b', true],
    ['c/3', 'arguments', '', '20.5', true], ['c/4', 'arguments', '', 'th', false], ['c/4', 'arguments', 'th', 'ree', true],
  ]);
});

test('arguments that are cut off end their last value', () => {
  const { windows, text } = passed(['{"a":"on', 'e\\']);
  assert.deepEqual(windows.map(({ text: given, isLast }) => [given, isLast]), [['a', true], ['on', false], ['e', false], ['\\', true]]);
  assert.equal(text, '{"a":"one\\');
  assert.equal(passed(['[12345', '6789']).text, `[${JSON.stringify(replacement)}`);
});

test('a number that JavaScript would round is judged with all of its digits', () => {
  assert.deepEqual(judged('[4000000000000000006,1e400,1.50]', [9]), ['4000000000000000006', '1e400', '1.5']);
});

test('what is not JSON is one plain text, from where that shows', () => {
  const seen = (...pieces: string[]): unknown[] => passed(pieces).windows.filter(({ isLast }) => !isLast).map(({ channel, before, text: given }) => [channel, before, given]);
  assert.deepEqual(seen(' \n', 'rm -rf'), [['c', '', ' \nrm -rf']]);
  assert.deepEqual(seen('"top"'), [['c', '', '"top"']]);
  assert.deepEqual(seen('4111 1'), [['c', '', '4111 1']]);
  assert.deepEqual(seen('{"a":"b"', '}', ' and more'), [['c', '{"a":"b"} ', 'and more']]);
  assert.deepEqual(seen('{"a":'.repeat(nestingMax), '{"deep"'), [['c', '{"a":{"a":'.repeat(2).slice(-11), '{"deep"']]);
  assert.deepEqual(seen('[', '1'.repeat(numberCharactersMax + 1)), [['c', '[', '1'.repeat(numberCharactersMax + 1)]]);
  for (const broken of ["{'a':'", '{"a" "', '[1,,"', '{"a":tru "', '[01,"', '}']) assert.equal(passed([`${broken}${secret}"`]).text, `${broken}${replacement}"`, broken);
});

test('a check that throws in one value changes no byte of the others', () => {
  let calls = 0;
  const failing: StreamCheck = { push: ({ isLast, text: { length } }) => { calls += 1; if (calls === 2) throw new Error('no'); return { release: isLast ? length : 0 }; }, verdict: () => ({ pass: true }) };
  for (const endpoint of dialects) {
    calls = 0;
    const events = eventsOf(endpoint, [...fixed].map((args) => ({ tool: 0, args })));
    const result = run(endpoint, events, failing);
    assert.equal(Object.values(textsOf(endpoint, result.events))[0], fixed);
    assert.equal(result.stage.error?.message, 'no');
  }
});

test('a check that fails and denies lets nothing of the value go', () => {
  for (const endpoint of dialects) {
    const events = eventsOf(endpoint, [...fixed].map((args) => ({ tool: 0, args })));
    const denied = run(endpoint, events, { push: ({ text: given, isLast }) => (given.includes('123-') ? { release: 0, fails: true } : { release: isLast ? given.length : Math.max(0, given.length - 4) }), verdict: () => ({ pass: false }) }, { denies: true });
    assert.equal(denied.stage.isDenied, true);
    assert.equal(Object.values(textsOf(endpoint, denied.events)).join('').includes('2'), false);
  }
});

test('a check that changes nothing leaves every byte of the events that hold no half of a number or escape', () => {
  for (const endpoint of dialects) {
    const events = eventsOf(endpoint, ['{"a":"x \\u0031', ' two","b"', ':[12,', 'true],"c":"', '\u{1f600}"}'].map((args) => ({ tool: 0, args })));
    const result = run(endpoint, events, { push: ({ text: { length } }) => ({ release: length }), verdict: () => ({ pass: true }) });
    assert.equal(result.text, bytesOf(events));
  }
});
