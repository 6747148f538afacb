// Waiting for a number in shared memory without holding up the thread. Wakes across threads within a fraction of a millisecond.

/** Resolves when the first number of `cells` is not `seen` any more, at once when it is not; and now and then for nothing, so look again. */
export async function whenMoved(cells: Int32Array, seen: number): Promise<void> {
  const { value } = Atomics.waitAsync(cells, 0, seen);
  await value;
}

export function notifyAll(cells: Int32Array): void {
  Atomics.notify(cells, 0);
}
