// Checks that measure a text: how long it is, how it is written, how it ends.

import type { CheckCases } from './check-case.js';

export const textMeasures: CheckCases = {
  'word-count': [
    { name: 'three of at most three words', outcome: 'pass', params: { maxWords: 3 }, text: 'one two three', data: { wordCount: 3, maxWords: 3 } },
    { name: 'four of at most three words', outcome: 'fail', params: { maxWords: 3 }, text: 'one two three four' },
    { name: 'two of at least three words', outcome: 'fail', params: { minWords: 3 }, text: 'one two', data: { wordCount: 2 } },
    { name: 'outside of the bounds, inverted', outcome: 'pass', params: { minWords: 3, maxWords: 9, not: true }, text: 'one two' },
  ],
  'character-count': [
    { name: 'an emoji is one character', outcome: 'pass', params: { maxCharacters: 6 }, text: 'Köln 🙂', data: { characterCount: 6 } },
    { name: 'seven of at most six', outcome: 'fail', params: { maxCharacters: 6 }, text: 'Köln 🙂!' },
    { name: 'too few', outcome: 'fail', params: { minCharacters: 20 }, text: 'short', data: { characterCount: 5 } },
  ],
  'sentence-count': [
    { name: 'two sentences with a number in one', outcome: 'pass', params: { maxSentences: 2 }, text: 'Pi is 3.14 or so. Mr. Smith agrees.', data: { sentenceCount: 2 } },
    { name: 'three of at most two', outcome: 'fail', params: { maxSentences: 2 }, text: 'One is here. Two is here. Three is here. And so on.' },
    { name: 'one of at least two', outcome: 'fail', params: { minSentences: 2 }, text: 'Only one is here.', data: { sentenceCount: 1 } },
  ],
  alllowercase: [
    { name: 'small letters', outcome: 'pass', params: {}, text: 'all of it is small: straße, 42' },
    { name: 'a capital letter', outcome: 'fail', params: {}, text: 'not all Of it' },
    { name: 'small letters, inverted', outcome: 'fail', params: { not: true }, text: 'all of it' },
  ],
  'is-all-lower-case': [
    { name: 'small letters', outcome: 'pass', params: { format: 'lowercase' }, text: 'all of it is small' },
    { name: 'a capital letter', outcome: 'fail', params: {}, text: 'not all of it, É' },
  ],
  alluppercase: [
    { name: 'capital letters', outcome: 'pass', params: {}, text: 'ALL OF IT, ÄÖÜ 42' },
    { name: 'a small letter', outcome: 'fail', params: {}, text: 'NOT ALL of IT' },
    { name: 'a small letter, inverted', outcome: 'pass', params: { not: true }, text: 'NOT ALL of IT' },
  ],
  'ends-with': [
    { name: 'the suffix and a full stop', outcome: 'pass', params: { suffix: 'the end' }, text: 'This is the end.\n', data: { suffix: 'the end' } },
    { name: 'another ending', outcome: 'fail', params: { suffix: 'the end' }, text: 'the end is not here' },
    { name: 'the suffix, inverted', outcome: 'fail', params: { suffix: 'the end', not: true }, text: 'This is the end' },
  ],
  'token-limit': [
    { name: 'counted, within', outcome: 'pass', params: { maxTokens: 14, tokensPerMessage: 0 }, text: 'The quick brown fox jumps over the lazy dog' },
    { name: 'counted, above', outcome: 'fail', params: { maxTokens: 4, tokensPerMessage: 0 }, text: 'The quick brown fox jumps over the lazy dog' },
    { name: 'too few', outcome: 'fail', params: { minTokens: 50, tokensPerMessage: 0 }, text: 'The quick brown fox' },
    { name: 'in the encoding of older models', outcome: 'pass', params: { maxTokens: 14, tokensPerMessage: 0, encoding: 'cl100k_base' }, text: 'The quick brown fox jumps over the lazy dog', data: { encoding: 'cl100k_base' } },
  ],
};
