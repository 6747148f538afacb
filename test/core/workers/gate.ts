// Shared memory that holds up worker functions until a test opens it.

/** Number 0: open. Number 1: how many functions have come to it. */
export const closedGate = (): SharedArrayBuffer => new SharedArrayBuffer(8);

export function open(gate: SharedArrayBuffer): void {
  Atomics.store(new Int32Array(gate), 0, 1);
  Atomics.notify(new Int32Array(gate), 0);
}

/** Resolves when `count` functions have come to the gate. */
export async function arrivals(gate: SharedArrayBuffer, count: number): Promise<void> {
  for (;;) {
    const arrived = Atomics.load(new Int32Array(gate), 1);
    if (arrived >= count) return;
    // The typings of this Node version do not know it.
    const { value } = (Atomics as unknown as { waitAsync(view: Int32Array, index: number, value: number): { value: unknown } }).waitAsync(new Int32Array(gate), 1, arrived);
    // A waiting promise alone does not keep the process alive.
    const alive = setInterval(() => undefined, 1000);
    await value;
    clearInterval(alive);
  }
}
