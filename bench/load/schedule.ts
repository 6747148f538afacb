// The times at which requests of an open loop fall due: evenly, from the start, for so many seconds.
export class Schedule {
  taken = 0;
  readonly #all: number;

  constructor(readonly perSecond: number, seconds: number) {
    this.#all = Math.floor(perSecond * seconds);
  }

  get isOver(): boolean {
    return this.taken >= this.#all;
  }

  dueAtMs(index: number): number {
    return (index * 1000) / this.perSecond;
  }

  /** How many more have fallen due by `nowMs` after the start: however late the question, none is left out. */
  takeDue(nowMs: number): number {
    const due = Math.min(this.#all, Math.floor((nowMs * this.perSecond) / 1000) + 1);
    const more = Math.max(0, due - this.taken);
    this.taken += more;
    return more;
  }
}
