import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { languageSamples } from '../common/detectors/language-samples.js';
import { heldOut, tuning, type LabelledTexts } from './labelled.js';
import { judgeLetters } from './letter-judge.js';

/** The default of the plugin. */
const threshold = 0.5;

describe('quality of the gibberish check', () => {
  const assertFloors = (t: TestContext, { gibberish, real }: LabelledTexts, remainder: number, precisionMin: number, recallMin: number): void => {
    const sentences = Object.values(languageSamples).flatMap((texts) => texts.filter((_, index) => index % 2 === remainder));
    const isFound = (text: string): boolean => (judgeLetters(text).score ?? 0) >= threshold;
    const found = gibberish.filter(isFound).length;
    const wrong = [...real, ...sentences].filter(isFound);
    const precision = found / (found + wrong.length);
    t.diagnostic(`${found} of ${gibberish.length} found, ${wrong.length} of ${real.length + sentences.length} wrongly; precision ${precision.toFixed(3)}: ${wrong.join(' | ')}`);
    assert.ok(precision >= precisionMin, `precision ${precision}`);
    assert.ok(found / gibberish.length >= recallMin, `recall ${found / gibberish.length}`);
  };

  it('holds its floors on the texts it was never tuned on', (t) => assertFloors(t, heldOut, 1, 0.9, 0.93));
  it('holds its floors on the texts it was tuned on', (t) => assertFloors(t, tuning, 0, 0.95, 0.97));
});
