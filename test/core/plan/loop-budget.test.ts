import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { budgetMs, LoopBudget } from '../../../core/plan/loop-budget.js';

const after = (verdicts: number, characters: number, tookMs: number, budget = new LoopBudget()): LoopBudget => {
  for (let count = 0; count < verdicts; count += 1) budget.note(characters, tookMs);
  return budget;
};

describe('the budget of a check on the loop', () => {
  it('lets quick verdicts stay, long texts too', () => {
    const budget = after(100, 1000, 0.01);
    assert.equal(budget.isBeyond(1000), false);
    assert.equal(budget.isBeyond(100_000), false);
  });

  it('sends texts away that would take longer than the budget, and keeps the short ones', () => {
    const budget = after(100, 10_000, 2);
    assert.equal(budget.isBeyond(10_000), false);
    assert.equal(budget.isBeyond(30_000), true);
    assert.equal(budget.isBeyond(3_000), false);
  });

  it('is not misled by cold code or a pause of the machine', () => {
    const cold = after(10, 1000, 30);
    assert.equal(after(200, 1000, 0.02, cold).isBeyond(20_000), false);
    const paused = after(200, 1000, 0.02);
    paused.note(1000, 500);
    assert.equal(paused.isBeyond(20_000), false);
  });

  it('moves a check that breaks it by far again and again, at that length', () => {
    const budget = after(3, 500, budgetMs * 20);
    assert.equal(budget.isBeyond(500), true);
    assert.equal(budget.isBeyond(400), false);
    // Strikes far apart are forgiven.
    const rare = new LoopBudget();
    for (let round = 0; round < 10; round += 1) {
      rare.note(500, budgetMs * 20);
      after(150, 500, 0.01, rare);
    }
    assert.equal(rare.isBeyond(500), false);
  });

  it('tries the loop again now and then, unless it would take far too long', () => {
    const budget = after(100, 10_000, 5);
    const here = (characters: number): number => Array.from({ length: 1000 }, () => budget.isBeyond(characters)).filter((isBeyond) => !isBeyond).length;
    assert.equal(here(10_000), 5);
    assert.equal(here(100_000), 0);
  });
});
