// Percentiles without sorting all: what stands at a rank is selected (Floyd and Rivest, "Algorithm 489: SELECT").

/** Smaller ranges are cut by their middle. */
const sampledFrom = 600;
/** Cuts that get nowhere end in a sort. */
const cutsMax = 64;

/** By nearest rank, for shares in ascending order. Orders `values` in part. */
export function nearestRanks(values: Float64Array, shares: readonly number[]): readonly number[] {
  let from = 0;
  return shares.map((share) => {
    const rank = Math.max(0, Math.ceil(values.length * share) - 1);
    if (values.length === 0) return 0;
    // What stands before the last rank is smaller.
    if (rank >= from) select(values, rank, from, values.length - 1);
    from = Math.max(from, rank + 1);
    return values[rank] as number;
  });
}

/** Puts at `rank` what would stand there if all were sorted, and nothing larger before it. */
function select(values: Float64Array, rank: number, first: number, last: number, cuts = 0): void {
  let [left, right] = [first, last];
  let count = cuts;
  while (right > left) {
    count += 1;
    if (count > cutsMax) {
      values.subarray(left, right + 1).sort();
      return;
    }
    if (right - left > sampledFrom) {
      // The rank within a sample of them is nearly the rank among all.
      const all = right - left + 1;
      const at = rank - left + 1;
      const log = Math.log(all);
      const sample = 0.5 * Math.exp((2 * log) / 3);
      const spread = 0.5 * Math.sqrt((log * sample * (all - sample)) / all) * Math.sign(at - all / 2);
      select(values, rank, Math.max(left, Math.floor(rank - (at * sample) / all + spread)), Math.min(right, Math.floor(rank + ((all - at) * sample) / all + spread)), count);
    }
    const pivot = values[rank] as number;
    let [low, high] = [left, right];
    swap(values, left, rank);
    if ((values[right] as number) > pivot) swap(values, left, right);
    while (low < high) {
      swap(values, low, high);
      low += 1;
      high -= 1;
      while ((values[low] as number) < pivot) low += 1;
      while ((values[high] as number) > pivot) high -= 1;
    }
    if (values[left] === pivot) swap(values, left, high);
    else {
      high += 1;
      swap(values, high, right);
    }
    if (high <= rank) left = high + 1;
    if (rank <= high) right = high - 1;
  }
}

function swap(values: Float64Array, left: number, right: number): void {
  const value = values[left] as number;
  values[left] = values[right] as number;
  values[right] = value;
}
