import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeCheckInput, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import { measureQuality } from '../common/spans/quality.js';
import { heldOut, tuning } from './labelled.js';
import plugin from './plugin.js';

const check = await plugin.create(withDefaults(plugin.params, { redact: true }) as never, fakeHost());

const find = async (text: string): Promise<{ from: number; to: number; category: string }[]> => {
  const verdict = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: text }] } }));
  return (verdict.edits ?? []).map(({ from, to, text: placeholder }) => ({ from, to, category: placeholder.slice('[SECRET_'.length, -1) }));
};

describe('quality of the secrets detector', () => {
  const floors = { precision: 0.95, recall: 0.95 };

  it('has enough examples', () => {
    assert.ok(tuning.positives.length + heldOut.positives.length >= 150, String(tuning.positives.length + heldOut.positives.length));
    assert.ok(tuning.negatives.length + heldOut.negatives.length >= 110);
  });

  for (const [name, set] of [['tuning', tuning], ['held out', heldOut]] as const) {
    it(`finds what is marked, and little else (${name})`, async (context) => {
      const quality = await measureQuality(set.positives, set.negatives, find);
      for (const line of quality.table) context.diagnostic(line);
      if (process.env.SHOW_MISTAKES === name) for (const line of quality.mistakes) context.diagnostic(line);
      assert.ok(quality.precision >= floors.precision, `precision ${quality.precision}`);
      assert.ok(quality.recall >= floors.recall, `recall ${quality.recall}`);
    });
  }
});
