import { defineGuardrail, type Json, type Verdict } from '@gateway/plugin-sdk';
import { withPrefix } from './prefix.js';

export default defineGuardrail({
  title: 'Add prefix',
  describe: 'Puts a text before the first message of a role; never fails.',
  stages: ['input'],
  needs: { request: 'json', changes: 'request' },
  when: { endpoints: ['chatCompletions', 'messages', 'countTokens', 'responses', 'completions'] },
  params: {
    type: 'object',
    required: ['prefix'],
    properties: {
      prefix: { type: 'string', minLength: 1, maxLength: 100_000, description: 'The text, put in as it is: end it with a space or a line break where one is wanted.' },
      applyToRole: { type: 'string', enum: ['user', 'system', 'assistant'], default: 'user', description: 'Whose first message gets the prefix.' },
      addToExisting: { type: 'boolean', default: true, description: 'Into the message that is there; else as a message of its own before it.' },
      onlyIfEmpty: { type: 'boolean', default: false, description: 'Only when the role has no message, or its first one is empty.' },
    },
  },
  create: ({ prefix, applyToRole, addToExisting, onlyIfEmpty }) => ({
    evaluate: (input): Verdict => {
      const body = withPrefix(input.exchange.endpoint, input.json(), { prefix, role: applyToRole, addToExisting, onlyIfEmpty });
      const explanation = body === undefined
        ? `nothing was added: there is no ${applyToRole} message that takes the prefix`
        : `the prefix was put before the ${applyToRole} message`;
      const data: Json = { prefix, applyToRole, addToExisting, onlyIfEmpty, applied: body !== undefined, explanation };
      return body === undefined ? { pass: true, data } : { pass: true, data, body };
    },
  }),
});
