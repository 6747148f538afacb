const usualTriesMax = 20;

/**
 * Of what `measure` says in several tries the least; the first one below the limit ends them. A busy machine makes any one try slow, and hardly all
 * of them; what is slow by itself is slow in each. Fewer tries for what may be slow by itself for a while only.
 */
export async function quickest(limitMs: number, measure: () => Promise<number>, triesMax = usualTriesMax): Promise<number> {
  let leastMs = Infinity;
  for (let tries = 0; tries < triesMax && leastMs >= limitMs; tries += 1) leastMs = Math.min(leastMs, await measure());
  return leastMs;
}
