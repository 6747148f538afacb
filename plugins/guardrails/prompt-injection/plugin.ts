import { defineGuardrail, placeOf, type Json, type TextPiece } from '@gateway/plugin-sdk';

export default defineGuardrail({
  title: 'Prompt injection',
  describe: 'Looks for attempts to override instructions, extract the system prompt, switch roles or leak data, in user texts and tool results. Heuristic, local.',
  stages: ['input'],
  needs: { request: 'json' },
  runs: 'either',
  params: {
    type: 'object',
    properties: {
      threshold: { type: 'number', minimum: 0.05, maximum: 1, default: 0.5, description: 'The check fails from this score on. Lower finds more, and is wrong more often.' },
      roles: {
        type: 'array',
        items: { type: 'string', enum: ['system', 'user', 'assistant', 'tool'] },
        minItems: 1,
        default: ['user', 'tool'],
        description: 'Whose texts are judged.',
      },
      not: { type: 'boolean', default: false, description: 'Inverts the verdict.' },
    },
  },
  create: async ({ threshold, roles, not }) => {
    // The lexicon is built when it is first loaded, not when the catalogue reads this definition.
    const { judge } = await import('./judgement.js');
    const judged = new Set<TextPiece['role']>(roles);
    return {
      evaluate(input) {
        let score = 0;
        const signals: Json[] = [];
        const look = (piece: TextPiece, text: string): void => {
          const found = judge(text, piece.role === 'tool' ? 'tool' : piece.role === 'user' ? 'user' : 'other');
          if (found.score === 0) return;
          score = Math.max(score, found.score);
          if (signals.length < signalsMax) for (const { name, weight } of found.signals) signals.push({ name, place: placeOf(piece), weight });
        };
        let first: TextPiece | undefined;
        let joined = '';
        let parts = 0;
        // What was cut into the parts of one message is read as one, too.
        const endMessage = (): void => {
          if (first !== undefined && parts > 1 && joined.length <= joinedLengthMax) look(first, joined);
        };
        for (const piece of input.pieces()) {
          if (!judged.has(piece.role)) continue;
          look(piece, piece.text);
          if (piece.kind === 'field') continue;
          if (first?.group === piece.group && first.role === piece.role) {
            parts += 1;
            if (joined.length <= joinedLengthMax) joined += ` ${piece.text}`;
            continue;
          }
          endMessage();
          first = piece;
          joined = piece.text;
          parts = 1;
        }
        endMessage();
        const isFound = score >= threshold;
        const pass = isFound === not;
        const explanation = isFound
          ? `the request looks like a prompt injection (score ${score}, threshold ${threshold})`
          : `the request does not look like a prompt injection (score ${score}, threshold ${threshold})`;
        const data: Json = { score, threshold, signals, not, explanation };
        return pass ? { pass, data } : { pass, why: explanation, data };
      },
    };
  },
});

/** Longer messages are read part by part only. */
const joinedLengthMax = 16_384;

/** Places listed in the result; what the verdict rests on is among them, or many like it. */
const signalsMax = 50;
