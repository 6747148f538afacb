/** The changes of an entry, one after the other in the order in which they were asked for; those of different entries beside one another. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  run(key: string, work: () => Promise<void>): Promise<void> {
    const before = this.#last.get(key);
    const running = before === undefined ? work() : before.then(work);
    const over = running.then(nothing, nothing).then(() => { if (this.#last.get(key) === over) this.#last.delete(key); });
    this.#last.set(key, over);
    return running;
  }
}

const nothing = (): void => undefined;
