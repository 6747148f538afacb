import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeCheckInput, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import { measureQuality, textOf, type Quality } from '../common/spans/quality.js';
import { categories } from './categories.js';
import { heldOut, tuning } from './labelled.js';
import plugin from './plugin.js';

const check = await plugin.create(withDefaults(plugin.params, { redact: true, placeholder: '\u2039{category}\u203a' }) as never, fakeHost());

/** What the detector found, as places in the text. */
const find = async (text: string): Promise<{ from: number; to: number; category: string }[]> => {
  const verdict = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: text }] } }));
  return (verdict.edits ?? []).map(({ from, to, text: placeholder }) => ({ from, to, category: placeholder.slice(1, -1) }));
};

describe('quality of the personal data detector', () => {
  /** A little under what was measured: held out 0.98 and 0.91. */
  const floors = { precision: 0.95, recall: 0.86 };

  it('has enough examples of each category in both parts', () => {
    for (const set of [tuning, heldOut]) {
      const marked = new Set(set.positives.flatMap((text) => textOf(text).spans.map(({ category }) => category)));
      for (const category of categories) assert.ok(marked.has(category), `no example of ${category}`);
    }
    assert.ok(tuning.positives.length + heldOut.positives.length >= 150);
    assert.ok(tuning.negatives.length + heldOut.negatives.length >= 150);
  });

  for (const [name, set] of [['tuning', tuning], ['held out', heldOut]] as const) {
    it(`finds what is marked, and little else (${name})`, async (context) => {
      const quality: Quality = await measureQuality(set.positives, set.negatives, find);
      for (const line of quality.table) context.diagnostic(line);
      if (process.env.SHOW_MISTAKES !== undefined && name === process.env.SHOW_MISTAKES) for (const line of quality.mistakes) context.diagnostic(line);
      assert.ok(quality.precision >= floors.precision, `precision ${quality.precision}`);
      assert.ok(quality.recall >= floors.recall, `recall ${quality.recall}`);
    });
  }
});
