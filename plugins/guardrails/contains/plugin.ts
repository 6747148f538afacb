import { defineGuardrail, ParameterError } from '@gateway/plugin-sdk';
import { Contains } from './contains.js';

const wordLengthMax = 1024;
/** Characters of all words together: what a character of text may cost at worst. */
const charactersMax = 20_000;

export default defineGuardrail({
  title: 'Contains',
  describe: 'Passes when any, all or none of a list of words stand somewhere in the text.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'events' },
  params: {
    type: 'object',
    required: ['words'],
    properties: {
      words: {
        type: 'array',
        minItems: 1,
        maxItems: 1000,
        items: { type: 'string', minLength: 1, maxLength: wordLengthMax },
        description: 'Words or phrases, looked for as parts of the text.',
      },
      operator: { type: 'string', enum: ['any', 'all', 'none'], default: 'any', description: 'How many of the words have to be there.' },
      caseSensitive: { type: 'boolean', default: true, description: 'Whether upper and lower case differ.' },
    },
  },
  // Of tool arguments, where one character may be an escape of six.
  lookBackMax: wordLengthMax * 6,
  runs: 'either',
  create: ({ words, operator, caseSensitive }) => {
    words.forEach((word, index) => {
      if (word === '') throw new ParameterError(`words[${index}]`, 'is empty and would be found everywhere; give a word');
    });
    if (words.reduce((sum, word) => sum + word.length, 0) > charactersMax) throw new ParameterError('words', `have more than ${charactersMax} characters together; use fewer or shorter words`);
    return new Contains({ words, operator, caseSensitive });
  },
});
