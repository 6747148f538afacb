import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { judge } from './judgement.js';
import { evasive, heldOut, tuning, unseen, type LabelledSet } from './labelled.js';

/** The default of the plugin. */
const threshold = 0.5;

interface Quality {
  readonly precision: number;
  readonly recall: number;
  readonly table: string;
}

function measure({ attacks, benign }: LabelledSet): Quality {
  const isFound = (family: string) => (text: string): boolean => judge(text, family === 'tool' ? 'tool' : 'user').score >= threshold;
  const rows: string[] = [];
  let found = 0;
  let all = 0;
  let wrong = 0;
  for (const [family, texts] of Object.entries(attacks)) {
    const hits = texts.filter(isFound(family)).length;
    rows.push(`${family}: ${hits} of ${texts.length} found`);
    found += hits;
    all += texts.length;
  }
  for (const [family, texts] of Object.entries(benign)) {
    const hits = texts.filter(isFound(family)).length;
    rows.push(`${family}: ${hits} of ${texts.length} wrongly`);
    wrong += hits;
  }
  return { precision: found / (found + wrong), recall: found / all, table: rows.join('; ') };
}

describe('quality of the prompt injection check', () => {
  const assertFloors = (t: TestContext, set: LabelledSet, precisionMin: number, recallMin: number): void => {
    const { precision, recall, table } = measure(set);
    t.diagnostic(`precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}; ${table}`);
    assert.ok(precision >= precisionMin, `precision ${precision}`);
    assert.ok(recall >= recallMin, `recall ${recall}`);
  };

  it('holds its floors on the texts it was never tuned on', (t) => assertFloors(t, heldOut, 0.96, 0.92));
  it('holds its floors on a second set it was never tuned on', (t) => assertFloors(t, unseen, 0.9, 0.36));
  it('holds its floors on evasive texts', (t) => assertFloors(t, evasive, 0.9, 0.5));
  it('holds its floors on the texts it was tuned on', (t) => assertFloors(t, tuning, 0.96, 0.93));
});
