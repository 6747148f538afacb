// What the probe makes of its samples.

export interface Collection {
  readonly kind: string;
  readonly tookMs: number;
  readonly usedBefore: number;
  readonly usedAfter: number;
  readonly externalBefore: number;
  readonly externalAfter: number;
}

/** Between one collection and the next, use grows by what was allocated: the sum of those steps. Sweeping in between may hide a little. */
export function allocationOf(collections: readonly Collection[], first: number, last: number, what: 'used' | 'external'): number {
  let allocated = 0;
  let level = first;
  for (const collection of collections) {
    allocated += Math.max(0, (what === 'used' ? collection.usedBefore : collection.externalBefore) - level);
    level = what === 'used' ? collection.usedAfter : collection.externalAfter;
  }
  return allocated + Math.max(0, last - level);
}

const halvings = 50;

/** How many of `count` samples lie above `limit`, found from percentiles, which is all that the histogram tells. */
export function countAbove(count: number, percentile: (percent: number) => number, limit: number): number {
  if (count === 0 || percentile(100) <= limit) return 0;
  let below = 0;
  let above = 100;
  for (let turn = 0; turn < halvings; turn += 1) {
    const middle = (below + above) / 2;
    if (middle > 0 && percentile(middle) > limit) above = middle;
    else below = middle;
  }
  return Math.round((1 - above / 100) * count) + (above === 100 ? 1 : 0);
}
