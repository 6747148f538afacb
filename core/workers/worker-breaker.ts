// Keeps a module whose calls end workers again and again from burning the machine with restarts: it is refused for a while.

export interface WorkerBreakerLimits {
  /** Ended workers within `windowMs` after which a module is refused. */
  readonly endedMax: number;
  readonly windowMs: number;
  readonly refusedMs: number;
}

interface Ending {
  readonly atMs: number;
  readonly weight: number;
}

interface Record {
  readonly endings: Ending[];
  refusedUntilMs: number;
}

/** So many modules are remembered; of more, the first ones are forgotten. */
const modulesMax = 1000;

export class WorkerBreaker {
  readonly #records = new Map<string, Record>();

  constructor(readonly limits: WorkerBreakerLimits) {}

  /** A worker ended. When several modules may be to blame, each has a share. */
  blame(modules: ReadonlySet<string>, nowMs: number): void {
    for (const module of modules) this.#add(module, 1 / modules.size, nowMs);
  }

  /** How long `module` is refused from now on; 0 when it may be called. */
  refusedForMs(module: string, nowMs: number): number {
    if (this.#records.size === 0) return 0;
    const record = this.#records.get(module);
    return record === undefined ? 0 : Math.max(0, record.refusedUntilMs - nowMs);
  }

  #add(module: string, weight: number, nowMs: number): void {
    const { endedMax, windowMs, refusedMs } = this.limits;
    let record = this.#records.get(module);
    if (record === undefined) {
      record = { endings: [], refusedUntilMs: 0 };
      this.#records.set(module, record);
      const first = this.#records.size > modulesMax ? this.#records.keys().next().value : undefined;
      if (first !== undefined) this.#records.delete(first);
    }
    const { endings } = record;
    // What was refused in the meantime does not make the window shorter: the first ending after a refusal refuses again.
    while (endings[0] !== undefined && endings[0].atMs < nowMs - windowMs) endings.shift();
    endings.push({ atMs: nowMs, weight });
    // Shares of one third and the like do not add up exactly.
    if (endings.reduce((sum, ending) => sum + ending.weight, 0) >= endedMax - 0.001) record.refusedUntilMs = nowMs + refusedMs;
  }
}
