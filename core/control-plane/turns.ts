// Control calls that change something run side by side. A call runs alone if the rows it has checked must stay as they are until its own change is written:
// one that removes a row checks that no other row names it, and none may begin to meanwhile; one that adds to rows that are limited in number has counted
// them. Works within one process.

/** How long a call waits for its turn. Then it runs beside the others, as calls of other processes do. */
const patienceMs = 5_000;

interface Waiting {
  readonly isAlone: boolean;
  readonly start: () => void;
}

export class Turns {
  #running = 0;
  #isAlone = false;
  /** In the order they came. */
  #waiting: Waiting[] = [];

  /** Resolves with a function that ends the turn, to be called once. Never rejects. */
  async take(isAlone: boolean): Promise<() => void> {
    if (this.#mayStart(isAlone) && this.#waiting.length === 0) this.#begin(isAlone);
    else await this.#wait(isAlone);
    return () => {
      this.#running -= 1;
      if (isAlone) this.#isAlone = false;
      this.#startWaiting();
    };
  }

  #mayStart(isAlone: boolean): boolean {
    return isAlone ? this.#running === 0 : !this.#isAlone;
  }

  #begin(isAlone: boolean): void {
    this.#running += 1;
    if (isAlone) this.#isAlone = true;
  }

  #wait(isAlone: boolean): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        waiting.start();
        this.#startWaiting();
      }, patienceMs);
      const waiting: Waiting = {
        isAlone,
        start: () => {
          clearTimeout(timer);
          this.#begin(isAlone);
          resolve();
        },
      };
      this.#waiting.push(waiting);
    });
  }

  #startWaiting(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#mayStart(next.isAlone); [next] = this.#waiting) {
      this.#waiting.shift();
      next.start();
    }
  }
}
