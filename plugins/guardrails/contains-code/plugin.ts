import { defineGuardrail, type Json, type Verdict } from '@gateway/plugin-sdk';
import { codeFences } from '../common/text/code-fences.js';
import { formatNames, formatOfTag } from './code-formats.js';

export default defineGuardrail({
  title: 'Contains code',
  describe: 'Passes when the text holds a fenced block of code in a language, or with `not` when it holds none.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'json' },
  params: {
    type: 'object',
    required: ['format'],
    properties: {
      format: { type: 'string', enum: formatNames, description: 'The language.' },
      not: { type: 'boolean', default: false, description: 'Pass when there is no block in this language.' },
    },
  },
  runs: 'either',
  create: ({ format, not }) => ({
    evaluate: (input): Verdict => {
      const found = new Set<string>();
      for (const text of input.text()) {
        for (const { tag } of codeFences(text)) {
          const language = formatOfTag(tag);
          if (language !== undefined) found.add(language);
        }
      }
      const has = found.has(format);
      const explanation = `${has ? 'a' : 'no'} fenced block of ${format} was found`;
      const data: Json = { foundFormats: [...found], searchedFormat: format, not, explanation };
      return has === not ? { pass: false, why: explanation, data } : { pass: true, data };
    },
  }),
});
