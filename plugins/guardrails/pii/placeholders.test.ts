import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Numbering, PlaceholderStyle, Restoration, type Mapping } from './placeholders.js';

describe('placeholders', () => {
  it('are never one that stands in the texts already, whole or as the begin of another', () => {
    for (const [template, text, expected] of [
      ['[{category}_{number}]', 'a [SSN_1] b [SSN_3] [IBAN_2]', ['[SSN_2]', '[SSN_4]', '[SSN_5]']],
      ['<{number}:{category}>', '<<1:SSN> 2:SSN>', ['<2:SSN>', '<3:SSN>', '<4:SSN>']],
      ['x{number}', 'x12 x4', ['x2', 'x3', 'x5']],
      ['({number}-{number})', '(1-1) (2-3)', ['(2-2)', '(3-3)', '(4-4)']],
      ['$.{category}|{number}^', '$.SSN|1^', ['$.SSN|2^', '$.SSN|3^', '$.SSN|4^']],
    ] as const) {
      const numbering = new Numbering(new PlaceholderStyle(template, true), new Map(), ['', text]);
      assert.deepEqual(['a', 'b', 'c'].map((value) => numbering.placeholderOf('SSN', value)), expected, template);
    }
  });

  it('are given without looking through the texts for each', () => {
    let reads = 0;
    const text = Object.assign(Object('mail [SSN_9] '.repeat(100)) as string, { matchAll: (pattern: RegExp) => { reads += 1; return 'mail [SSN_9] '.matchAll(pattern); }, includes: () => assert.fail('looked through') });
    const numbering = new Numbering(new PlaceholderStyle('[{category}_{number}]', true), new Map(), [text]);
    const given = Array.from({ length: 2000 }, (_, index) => numbering.placeholderOf('SSN', `value ${index}`));
    assert.equal(reads, 1);
    assert.ok(!given.includes('[SSN_9]') && new Set(given).size === 2000);
  });

  it('are put back without comparing each with each place', () => {
    const mapping: Mapping = new Map(Array.from({ length: 3000 }, (_, index) => [`[SSN_${index}]`, `v${index}`]));
    let compared = 0;
    const text = '[['.repeat(2000) + '[SSN_2999][SSN_12]';
    const counted = Object.assign(Object(text) as string, { startsWith: () => { compared += 1; return false; }, charCodeAt: (at: number) => { compared += 1; return text.charCodeAt(at); } });
    const { places } = new Restoration(mapping).find(counted, true);
    assert.deepEqual(places.map(({ value }) => value), ['v2999', 'v12']);
    assert.ok(compared < text.length * 4, `${compared} characters compared for ${text.length}`);
  });

  it('that begin another wait for it where a text is cut', () => {
    const restoration = new Restoration(new Map([['x1', 'one'], ['x12', 'twelve'], ['y', 'why']]));
    assert.deepEqual(restoration.find('a x1', false), { places: [], settled: 2 });
    assert.deepEqual(restoration.find('a x1', true).places.map(({ value }) => value), ['one']);
    assert.deepEqual(restoration.find('x12x1yx', false), { places: [{ from: 0, to: 3, value: 'twelve' }, { from: 3, to: 5, value: 'one' }, { from: 5, to: 6, value: 'why' }], settled: 6 });
  });
});
