import { defineGuardrail, type Verdict } from '@gateway/plugin-sdk';
import { measuredGroups, scopeParam } from '../common/text/groups.js';

export default defineGuardrail({
  title: 'Ends with',
  describe: 'Passes when the text ends with a suffix, or with the suffix and a full stop.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'json' },
  params: {
    type: 'object',
    required: ['suffix'],
    properties: {
      suffix: { type: 'string', minLength: 1, maxLength: 10_000, description: 'What the text has to end with, letter by letter.' },
      not: { type: 'boolean', default: false, description: 'Pass when the text does not end so.' },
      scope: scopeParam,
    },
  },
  create: ({ suffix, not, scope }) => ({
    evaluate: (input): Verdict => {
      const groups = measuredGroups(input, scope);
      const wrong = groups.find(({ texts }) => endsWith(texts, suffix) === not);
      const where = wrong !== undefined && groups.length > 1 ? ` of choice ${wrong.group}` : '';
      const explanation = `the text${where} ${(wrong === undefined) !== not ? 'ends' : 'does not end'} with the suffix`;
      const data = { suffix, not, ...(where === '' || wrong === undefined ? {} : { choice: wrong.group }), explanation };
      return wrong === undefined ? { pass: true, data } : { pass: false, why: explanation, data };
    },
  }),
});

/** A suffix may lie across parts: only as much is joined as it needs. White space at the very end does not count unless the suffix ends with some. */
function endsWith(texts: readonly string[], suffix: string): boolean {
  let tail = '';
  for (let index = texts.length - 1; index >= 0; index -= 1) {
    tail = (texts[index] ?? '') + tail;
    const trimmed = tail.trimEnd();
    if (tail.endsWith(suffix) || trimmed.endsWith(suffix) || trimmed.endsWith(`${suffix}.`)) return true;
    if (trimmed.length > suffix.length) return false;
  }
  return false;
}
