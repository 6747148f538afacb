// Hot: runs for each call.
// Keeps the event loop awake for a moment after an event, when experience says that the next one is near. A sleeping core costs more to wake
// than a short call takes, so back-to-back calls to a fast upstream are answered sooner. It pays for itself or stops: spins in which nothing
// happened switch it off, but for a probe now and then, and with more than a few calls open it does nothing, since the loop is awake anyway.

/** With more calls open than this, throughput counts and waking up does not. */
const openMax = 2;
const scoreMax = 8;
/** What a spin in vain costs of the score; one that paid adds 1. */
const failureCost = 2;
/** Events without a spin before another try. */
const probeEvery = 64;

export class BusyPoll {
  #untilMs = 0;
  #isSpinning = false;
  #hasPaid = false;
  #score = 1;
  #skipped = 0;
  readonly #spin = (): void => this.#turn();

  /** `spinMs` 0: never. */
  constructor(readonly spinMs: number, readonly now: () => number = () => performance.now(), readonly later: (work: () => void) => void = setImmediate) {}

  get isSpinning(): boolean {
    return this.#isSpinning;
  }

  /** Something happened; `open` calls are being served. */
  touch(open: number): void {
    if (this.spinMs === 0) return;
    if (this.#isSpinning) {
      this.#hasPaid = true;
      this.#untilMs = this.now() + this.spinMs;
      return;
    }
    if (open > openMax) return;
    if (this.#score <= 0 && (this.#skipped += 1) < probeEvery) return;
    this.#skipped = 0;
    this.#isSpinning = true;
    this.#hasPaid = false;
    this.#untilMs = this.now() + this.spinMs;
    this.later(this.#spin);
  }

  #turn(): void {
    if (this.now() < this.#untilMs) {
      this.later(this.#spin);
      return;
    }
    this.#isSpinning = false;
    this.#score = this.#hasPaid ? Math.min(this.#score + 1, scoreMax) : Math.max(this.#score - failureCost, 0);
  }
}
