/** Does `work` for every item, at most `atOnce` at the same time; results in the order of the items. The first rejection rejects the whole. */
export async function eachLimited<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  const queue = items.entries();
  const runner = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, runner));
  return results;
}
