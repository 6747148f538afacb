import { defineGuardrail, type Json, type Verdict } from '@gateway/plugin-sdk';
import { choicesOf } from './choice-content.js';

export default defineGuardrail({
  title: 'Not null',
  describe: 'Passes when every choice of the answer has content: text that is not blank, a tool call, an image, audio.',
  stages: ['output'],
  needs: { request: 'json', response: 'json' },
  params: {
    type: 'object',
    properties: { not: { type: 'boolean', default: false, description: 'Pass when no choice has content.' } },
  },
  create: ({ not }) => ({
    evaluate: (input): Verdict => {
      const choices = choicesOf(input.exchange.endpoint, input.json());
      const wrong = choices.findIndex(({ isEmpty }) => isEmpty !== not);
      const shown = choices[Math.max(0, wrong)] ?? { isEmpty: true, content: null };
      const pass = choices.length === 0 ? not : wrong < 0;
      const where = !pass && choices.length > 1 ? `choice ${wrong}` : 'the answer';
      const explanation = `${where} ${shown.isEmpty ? 'has no content' : 'has content'}`;
      const data: Json = {
        isNull: shown.isEmpty,
        contentType: contentType(shown.content),
        ...(Array.isArray(shown.content) ? { textArrayLength: shown.content.length } : {}),
        ...(!pass && choices.length > 1 ? { choice: wrong } : {}),
        explanation,
      };
      return pass ? { pass, data } : { pass, why: explanation, data };
    },
  }),
});

const contentType = (content: Json | undefined): string => (content === undefined ? 'undefined' : content === null ? 'null' : Array.isArray(content) ? 'array' : typeof content);
