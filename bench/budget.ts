// Compares ratios with bench/budget.json. The bounds are wide: shared machines are noisy, and this gate
// is there for a change that makes something several times slower, not for a few per cent.
import { readFileSync } from 'node:fs';
import type { Ratio } from './report.js';

export interface Bound {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

export function readBudget(file: string): Bound[] {
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (typeof value !== 'object' || value === null) throw new Error(`${file}: must be an object of ratio names`);
  return Object.entries(value).map(([name, bound]: [string, unknown]) => {
    const min = typeof bound === 'object' && bound !== null && 'min' in bound ? bound.min : -Infinity;
    const max = typeof bound === 'object' && bound !== null && 'max' in bound ? bound.max : Infinity;
    if (typeof min !== 'number' || typeof max !== 'number' || (min === -Infinity && max === Infinity)) {
      throw new Error(`${file}: ${name} must be {"min": number} or {"max": number}`);
    }
    return { name, min, max };
  });
}

/** One sentence for each bound; `isBroken` when any ratio that was measured is outside. */
export function checkBudget(bounds: readonly Bound[], ratios: readonly Ratio[]): { readonly lines: string[]; readonly isBroken: boolean } {
  const lines: string[] = [];
  let isBroken = false;
  for (const bound of bounds) {
    const ratio = ratios.find((candidate) => candidate.name === bound.name);
    const limit = bound.min > -Infinity ? `at least ${bound.min}` : `at most ${bound.max}`;
    if (ratio === undefined) {
      lines.push(`${bound.name}: not measured in this run`);
    } else if (Number.isNaN(ratio.median)) {
      lines.push(`${bound.name}: not judged, the reference's own figure is too small to divide by`);
    } else {
      const isOutside = ratio.median < bound.min || ratio.median > bound.max;
      isBroken ||= isOutside;
      lines.push(`${bound.name}: ${ratio.median.toFixed(2)}, ${isOutside ? 'BROKEN, must be' : 'within'} ${limit}`);
    }
  }
  return { lines, isBroken };
}
