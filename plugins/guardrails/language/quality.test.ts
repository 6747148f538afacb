import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LanguageDetector } from '../common/detectors/language-detector.js';
import { languageSamples } from '../common/detectors/language-samples.js';

describe('quality of the language check', () => {
  for (const [part, remainder] of [['tuned on', 0], ['never tuned on', 1]] as const) {
    it(`detects at least 94 of 100 short sentences it was ${part}, and the right language is never far behind`, async (t) => {
      const detector = await LanguageDetector.load();
      let all = 0;
      let right = 0;
      let close = 0;
      const wrong: string[] = [];
      for (const [language, texts] of Object.entries(languageSamples)) {
        texts.forEach((text, index) => {
          if (index % 2 !== remainder) return;
          all += 1;
          const found = detector.detect(text);
          if (found?.language === language) right += 1;
          else wrong.push(`${language} taken for ${found?.language ?? 'none'}`);
          if (found !== undefined && (found.scores[language] ?? 0) >= found.confidence * 0.93) close += 1;
        });
      }
      t.diagnostic(`${right} of ${all} right, ${close} right or as good as right; ${wrong.join(', ')}`);
      assert.ok(right / all >= 0.94, `${right} of ${all}`);
      assert.ok(close / all >= 0.97, `${close} of ${all}`);
    });
  }
});
