// Questions to another thread, by message: each has a number, and an answer or an end. Whoever asks sees to it that few wait at once.

export class Questions<T> {
  readonly #waiting = new Map<number, (answer: T) => void>();
  #number = 0;

  /** Never rejects: `late` stands for an answer that does not come in time. The timer does not keep the process alive. */
  ask(send: (number: number) => void, timeoutMs: number, late: T): Promise<T> {
    return new Promise((resolve) => {
      const number = this.#number += 1;
      const end = (answer: T): void => {
        clearTimeout(timer);
        this.#waiting.delete(number);
        resolve(answer);
      };
      const timer = setTimeout(() => end(late), timeoutMs).unref();
      this.#waiting.set(number, end);
      send(number);
    });
  }

  /** Of a question that waits no more: nothing happens. */
  answer(number: number, value: T): void {
    this.#waiting.get(number)?.(value);
  }
}
