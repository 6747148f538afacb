import { defineGuardrail, placeOf, type Json } from '@gateway/plugin-sdk';

export default defineGuardrail({
  title: 'Gibberish',
  describe: 'Fails on keyboard mash, random letters and repeated syllables. Judges words in Latin letters by how likely their letters follow each other.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'json' },
  runs: 'either',
  params: {
    type: 'object',
    properties: {
      threshold: { type: 'number', minimum: 0.05, maximum: 1, default: 0.5, description: 'A text is gibberish from this score on.' },
      scope: { type: 'string', enum: ['all', 'last'], default: 'all', description: 'Of a request: every user message, or the last one.' },
      not: { type: 'boolean', default: false, description: 'Inverts the verdict.' },
    },
  },
  create: async ({ threshold, scope, not }) => {
    // The model is loaded with the first check, not when the catalogue reads this definition.
    const { judgeLetters, lettersMin } = await import('./letter-judge.js');
    return {
      evaluate(input) {
        const pieces = input.pieces().filter(({ kind, role }) => kind === 'text' && (input.stage === 'output' || role === 'user'));
        const last = pieces.at(-1)?.group;
        const texts = new Map<number, { text: string; readonly place: string }>();
        for (const piece of pieces) {
          if (scope === 'last' && input.stage === 'input' && piece.group !== last) continue;
          const before = texts.get(piece.group);
          if (before === undefined) texts.set(piece.group, { text: piece.text, place: placeOf(piece) });
          else before.text += `\n${piece.text}`;
        }
        let score = 0;
        let isJudged = false;
        const places: string[] = [];
        for (const { text, place } of texts.values()) {
          const found = judgeLetters(text);
          if (found.score === undefined) continue;
          isJudged = true;
          score = Math.max(score, found.score);
          if (found.score >= threshold && places.length < placesMax) places.push(place);
        }
        const isGibberish = places.length > 0;
        const pass = isGibberish === not;
        const explanation = !isJudged
          ? `there is nothing to judge: fewer than ${lettersMin} letters of prose in Latin script`
          : isGibberish ? `the text is gibberish (score ${score}, threshold ${threshold})` : `the text is not gibberish (score ${score}, threshold ${threshold})`;
        const data: Json = { score: isJudged ? score : null, threshold, places, not, explanation };
        return pass ? { pass, data } : { pass, why: explanation, data };
      },
    };
  },
});

/** Places listed in the result. */
const placesMax = 20;
