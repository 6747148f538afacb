import { defineGuardrail, ParameterError, type Json, type TextPiece } from '@gateway/plugin-sdk';
import { LanguageDetector, letterCount, type DetectedLanguage } from '../common/detectors/language-detector.js';
import { knownLanguages, languageOfCode } from './codes.js';

export default defineGuardrail({
  title: 'Language',
  describe: 'Passes when the user texts of the request, or each choice of the answer, are in one of the given languages. Judged locally, 60 languages.',
  stages: ['input', 'output'],
  needs: { request: 'json', response: 'json' },
  params: {
    type: 'object',
    required: ['language'],
    properties: {
      language: {
        type: 'array',
        items: { type: 'string', minLength: 2 },
        minItems: 1,
        description: 'Languages that pass: ISO 639-1 codes (en), or ISO 639-3 codes with or without a script (eng_Latn, eng).',
      },
      minCharacters: { type: 'integer', minimum: 1, default: 20, description: 'Texts with fewer letters are not judged and pass. A letter of Chinese, Japanese or Korean counts as 2.5.' },
      scope: { type: 'string', enum: ['all', 'last'], default: 'all', description: 'Of a request: all user texts together, or those of the last user message.' },
      not: { type: 'boolean', default: false, description: 'Inverts the verdict: the given languages do not pass.' },
    },
  },
  create: async ({ language, minCharacters, scope, not }) => {
    const allowed = new Set([language].flat().map((code, index) => {
      const known = languageOfCode(code);
      if (known === undefined) throw new ParameterError(`language[${index}]`, `is not a language that can be told; use one of ${knownLanguages.join(', ')}`);
      return known;
    }));
    const detector = await LanguageDetector.load();
    const names = [...allowed];

    const fits = ({ language: best, confidence, scores }: DetectedLanguage): boolean =>
      allowed.has(best) || (!not && names.some((name) => (scores[name] ?? 0) >= confidence * twinRatio));

    return {
      evaluate(input) {
        let first: { readonly found: DetectedLanguage; readonly isFit: boolean } | undefined;
        for (const text of textsOf(input.stage, input.pieces(), scope)) {
          const found = letterCount(text, minCharacters) < minCharacters ? undefined : detector.detect(text);
          if (found === undefined) continue;
          const isFit = fits(found);
          first ??= { found, isFit };
          if (isFit !== not) continue;
          const why = not
            ? `the text is in a language that is not allowed: ${found.language}`
            : `the text is in the language ${found.language}, which is not among the allowed ones: ${names.join(', ')}`;
          return { pass: false, why, data: dataOf(found, names, not, why) };
        }
        if (first === undefined) {
          return { pass: true, data: { detected: null, confidence: 0, reliable: false, language: names, not, explanation: 'the text is too short to tell its language' } };
        }
        return { pass: true, data: dataOf(first.found, names, not, `the text is in the language ${first.found.language}, which is allowed`) };
      },
    };
  },
});

/** Languages as alike as Norwegian and Danish differ less than this in a short text: then the allowed one has the benefit of the doubt. */
const twinRatio = 0.93;

const dataOf = ({ language: detected, confidence, isReliable }: DetectedLanguage, language: readonly string[], not: boolean, explanation: string): Json =>
  ({ detected, confidence, reliable: isReliable, language, not, explanation });

/** Of a request the user's texts, joined; of an answer each choice. */
function textsOf(stage: 'input' | 'output', pieces: readonly TextPiece[], scope: string): string[] {
  const texts = pieces.filter(({ kind, role }) => kind === 'text' && (stage === 'output' || role === 'user'));
  if (stage === 'input') {
    const last = texts.at(-1)?.group;
    return [(scope === 'last' ? texts.filter(({ group }) => group === last) : texts).map(({ text }) => text).join('\n')];
  }
  const choices = new Map<number, string>();
  for (const { group, text } of texts) {
    const before = choices.get(group);
    choices.set(group, before === undefined ? text : `${before}\n${text}`);
  }
  return [...choices.values()];
}
