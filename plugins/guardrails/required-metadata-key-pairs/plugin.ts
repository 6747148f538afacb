import { defineGuardrail, ParameterError } from '@gateway/plugin-sdk';
import { verdictOf } from '../common/request/verdict.js';
import { compileWanted, matchTypes, type WantedValue } from '../common/request/wanted-value.js';
import { PatternBudget } from '../common/text/pattern-size.js';

export default defineGuardrail({
  title: 'Required metadata pairs',
  describe: 'Passes when all, any or none of the metadata keys have the values that are wanted.',
  stages: ['input'],
  needs: { request: 'head' },
  params: {
    type: 'object',
    properties: {
      metadataPairs: {
        type: 'object', properties: {}, additionalProperties: true,
        description: 'Wanted values by metadata key: a text, a number, true or false, or a list of these.',
      },
      operator: { type: 'string', enum: ['all', 'any', 'none'], default: 'all', description: 'How many of the pairs must match.' },
      matchType: {
        type: 'string', enum: matchTypes, default: 'exact',
        description: 'exact: is one of the wanted values. contains: has one of them as an item or within its text. containsAll: has all of them. regex: one pattern is found.',
      },
    },
    required: ['metadataPairs'],
  },
  create: async ({ metadataPairs, operator, matchType }) => {
    const budget = new PatternBudget();
    const pairs: { readonly key: string; readonly fits: WantedValue }[] = [];
    for (const [key, wanted] of Object.entries(metadataPairs)) pairs.push({ key, fits: await compileWanted(wanted, matchType, `metadataPairs.${key}`, budget) });
    if (pairs.length === 0) throw new ParameterError('metadataPairs', 'must have at least one key');
    return {
      weight: budget.weight,
      evaluate({ exchange: { metadata } }) {
        const matched: string[] = [];
        const unmatched: string[] = [];
        for (const { key, fits } of pairs) (Object.hasOwn(metadata, key) && fits(metadata[key]) ? matched : unmatched).push(key);
        const pass = operator === 'all' ? unmatched.length === 0 : operator === 'any' ? matched.length > 0 : matched.length === 0;
        const explanation = operator === 'none'
          ? pass ? 'no metadata key has a value that must not be' : `the metadata has values that must not be, under ${matched.join(', ')}`
          : pass ? `the metadata has the wanted values under ${matched.join(', ')}`
            : operator === 'any' ? `none of the metadata keys ${unmatched.join(', ')} has the wanted value`
              : `the metadata lacks the wanted values under ${unmatched.join(', ')}`;
        return verdictOf(pass, explanation, { matched_metadata_keys: matched, unmatched_metadata_keys: unmatched, operator, matchType });
      },
    };
  },
});
