import { defineGuardrail, ParameterError } from '@gateway/plugin-sdk';
import { readNames } from '../common/request/names.js';
import { verdictOf } from '../common/request/verdict.js';

export default defineGuardrail({
  title: 'Required metadata keys',
  describe: 'Passes when the metadata of the request has all, any or none of the keys.',
  stages: ['input'],
  needs: { request: 'head' },
  params: {
    type: 'object',
    properties: {
      metadataKeys: { type: 'array', items: { type: 'string' }, minItems: 1, description: 'Names of metadata keys, letter by letter.' },
      operator: { type: 'string', enum: ['all', 'any', 'none'], default: 'all', description: 'How many of the keys the metadata must have.' },
    },
    required: ['metadataKeys'],
  },
  create: ({ metadataKeys, operator }) => {
    const keys = readNames(metadataKeys, 'metadataKeys') ?? [];
    if (keys.length === 0) throw new ParameterError('metadataKeys', 'must name at least one key');
    return {
      evaluate({ exchange: { metadata } }) {
        const found: string[] = [];
        const missing: string[] = [];
        for (const key of keys) (Object.hasOwn(metadata, key) && metadata[key] !== null ? found : missing).push(key);
        const pass = operator === 'all' ? missing.length === 0 : operator === 'any' ? found.length > 0 : found.length === 0;
        const explanation = operator === 'none'
          ? pass ? 'the metadata has none of the keys' : `the metadata must not have ${found.join(', ')}`
          : pass ? `the metadata has ${found.join(', ')}`
            : operator === 'any' ? `the metadata needs one of ${missing.join(', ')}` : `the metadata lacks ${missing.join(', ')}`;
        return verdictOf(pass, explanation, { missing_metadata_keys: missing, found_metadata_keys: found, operator });
      },
    };
  },
});
