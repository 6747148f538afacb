// What one check costs on the loop, learned while it runs: a verdict that would take longer than the budget goes to the worker pool. The cost is
// taken for each character, over many verdicts, so that one pause of the machine moves nothing; a check that breaks the budget by far, again
// and again, is moved for texts of that length whatever the average says.

import type { CheckBudget } from './hooks.js';

/** What is known of the worst before anything was measured. */
export interface WorstCost {
  isTooLong(characters: number): boolean;
}

const noWorst: WorstCost = { isTooLong: () => false };

/** So long a verdict may keep the loop busy. Milliseconds. */
export const budgetMs = 4;
/** A verdict that takes this many budgets is a strike; after so many of them its texts go to the pool. */
const strikeBudgets = 12;
const strikesMax = 3;
/** A strike is forgiven after a hundred verdicts without one. */
const forgiveness = 0.01;
/** The first verdicts are slow because the code is cold. */
const coldVerdicts = 20;
/** Shorter texts stay: the way to the pool and back costs more than they do. */
const charactersMin = 4_000;
/** How fast the average follows. */
const weight = 0.1;
/** One verdict counts for at most so many times the average. */
const outlierMax = 4;
/** Of the verdicts that would go to the pool, one in so many runs here: the cost may have been a mistake. */
const probeEvery = 200;
/** Nothing is tried here that would take this many budgets. */
const probeBudgetsMax = 5;

export class LoopBudget implements CheckBudget {
  #verdicts = 0;
  /** Milliseconds for each character. */
  #cost = 0;
  #strikes = 0;
  #pooledFrom = Infinity;
  #pooled = 0;

  constructor(readonly worst: WorstCost = noWorst) {}

  isBeyond(characters: number): boolean {
    if (characters >= this.#pooledFrom) return true;
    // What harmless texts have cost says nothing about one that is made to take long.
    if (this.worst.isTooLong(characters)) return true;
    if (characters < charactersMin || this.#cost * characters <= budgetMs) return false;
    this.#pooled += 1;
    return this.#pooled % probeEvery !== 0 || this.#cost * characters > budgetMs * probeBudgetsMax;
  }

  note(characters: number, tookMs: number): void {
    if (tookMs >= budgetMs * strikeBudgets) {
      this.#strikes += 1;
      if (this.#strikes >= strikesMax) this.#pooledFrom = Math.min(this.#pooledFrom, characters);
    } else if (this.#strikes > 0) {
      this.#strikes = Math.max(0, this.#strikes - forgiveness);
    }
    this.#verdicts += 1;
    if (this.#verdicts <= coldVerdicts && characters < charactersMin) return;
    const sample = tookMs / Math.max(characters, charactersMin / 4);
    this.#cost += (Math.min(sample, this.#cost === 0 ? sample : this.#cost * outlierMax) - this.#cost) * (this.#cost === 0 ? 1 : weight);
  }
}
