import { defineGuardrail } from '@gateway/plugin-sdk';
import { countCheck } from '../common/text/count-check.js';
import { scopeParam } from '../common/text/groups.js';
import { CharacterCounter } from '../common/text/character-counter.js';

export default defineGuardrail({
  title: 'Character count',
  describe: 'Passes when the number of characters lies between two bounds.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'events' },
  params: {
    type: 'object',
    properties: {
      minCharacters: { type: 'integer', minimum: 0, default: 0, description: 'Fewest characters that pass.' },
      maxCharacters: { type: 'integer', minimum: 0, default: 9999999, description: 'Most characters that pass.' },
      not: { type: 'boolean', default: false, description: 'Pass when the number lies outside of the bounds.' },
      scope: scopeParam,
    },
  },
  lookBackMax: 0,
  create: ({ minCharacters, maxCharacters, not, scope }) => countCheck({
    least: minCharacters,
    most: maxCharacters,
    not,
    scope,
    unit: 'characters',
    makeCounter: () => new CharacterCounter(),
    names: { least: 'minCharacters', most: 'maxCharacters', count: 'characterCount' },
    leastParam: 'minCharacters',
  }),
});
