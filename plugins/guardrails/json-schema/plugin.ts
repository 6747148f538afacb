import { defineGuardrail } from '@gateway/plugin-sdk';

/** References can multiply, and unique items are compared each with each: however short the text, only a thread that can be ended may judge by them. */
const mayMultiply = (schema: string): boolean => /"\$(?:ref|dynamicRef|recursiveRef)"|"uniqueItems"/.test(schema);

export default defineGuardrail({
  title: 'JSON schema',
  describe: 'Passes when each choice of the answer holds JSON that fits a schema.',
  stages: ['output'],
  needs: { request: 'json', response: 'json' },
  params: {
    type: 'object',
    required: ['schema'],
    properties: {
      schema: { type: 'object', properties: {}, additionalProperties: true, description: 'JSON Schema, draft 2020-12.' },
      not: { type: 'boolean', default: false, description: 'Pass when no JSON of the answer fits the schema.' },
    },
  },
  runs: 'either',
  runsFor: ({ schema }) => (mayMultiply(JSON.stringify(schema)) ? 'pool' : 'either'),
  create: async ({ schema, not }) => {
    const { JsonSchemaCheck } = await import('./json-schema.js');
    return new JsonSchemaCheck(schema, not);
  },
});
