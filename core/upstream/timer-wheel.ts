// Hot: runs for each call.
// Time-outs of a thread on one wheel, in place of a Node timer for each call. A time-out fires at the earliest when it is due and, on an idle
// loop, at most one tick and the loop's own delay later. Starting, extending and stopping one is a few writes: what was only extended or
// stopped stays where it hangs and is looked at when its slot comes round. One Node timer drives the wheel while anything is registered.

export const tickMs = 10;
const slotCount = 1024;
/** Longest sleep of the timer that drives the wheel: as long as this the last time-out may keep the process alive that was stopped. */
const sleepMsMax = 500;
const never = Number.POSITIVE_INFINITY;

export interface TimeoutOwner {
  /** May start the same time-out again; what it throws is the process's to deal with, as with Node's own timers. */
  onTimeout(): void;
}

/** One time-out: made once by its owner, started any number of times. */
export class WheelTimeout {
  /** Never: it is not running. */
  dueAt = never;
  /** The tick of the slot it hangs in; -1: in none. */
  tick = -1;
  next: WheelTimeout | null = null;
  previous: WheelTimeout | null = null;

  constructor(readonly wheel: TimerWheel, readonly owner: TimeoutOwner) {}

  get isRunning(): boolean {
    return this.dueAt !== never;
  }

  /** Begins, or begins anew. */
  start(delayMs: number, now = performance.now()): void {
    this.wheel.start(this, now + delayMs, now);
  }

  stop(): void {
    this.wheel.stop(this);
  }

  /** Stops it and takes it off the wheel, which holds on to what was only stopped until its slot comes round. */
  remove(): void {
    this.wheel.remove(this);
  }
}

export class TimerWheel {
  readonly #slots: (WheelTimeout | null)[] = new Array<WheelTimeout | null>(slotCount).fill(null);
  #running = 0;
  /** The last tick that was looked at. */
  #tick = Math.floor(performance.now() / tickMs);
  #timer: NodeJS.Timeout | null = null;
  #wakeAt = never;
  readonly #onWake = (): void => this.#wake();

  /** Time-outs that are running. */
  get running(): number {
    return this.#running;
  }

  /** Starts `timeout` for the time `dueAt` of performance.now(). */
  start(timeout: WheelTimeout, dueAt: number, now: number): void {
    if (timeout.dueAt === never) this.#running += 1;
    timeout.dueAt = dueAt;
    const tick = Math.ceil(dueAt / tickMs);
    // Later than where it hangs: it is moved on when that comes round.
    if (timeout.tick === -1 || tick < timeout.tick) this.#hang(timeout, tick);
    if (this.#timer === null || dueAt < this.#wakeAt) this.#sleep(now, dueAt);
  }

  stop(timeout: WheelTimeout): void {
    if (timeout.dueAt === never) return;
    timeout.dueAt = never;
    this.#running -= 1;
  }

  remove(timeout: WheelTimeout): void {
    this.stop(timeout);
    if (timeout.tick !== -1) this.#unhang(timeout);
  }

  /** Nothing fires any more that is not started again. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#wakeAt = never;
  }

  #hang(timeout: WheelTimeout, dueTick: number): void {
    if (timeout.tick !== -1) this.#unhang(timeout);
    // A tick that has passed would only come round with the next turn of the wheel.
    const tick = dueTick > this.#tick ? dueTick : this.#tick + 1;
    const slot = tick % slotCount;
    const first = this.#slots[slot] ?? null;
    timeout.tick = tick;
    timeout.previous = null;
    timeout.next = first;
    if (first !== null) first.previous = timeout;
    this.#slots[slot] = timeout;
  }

  #unhang(timeout: WheelTimeout): void {
    const { next, previous } = timeout;
    if (next !== null) next.previous = previous;
    if (previous !== null) previous.next = next;
    else this.#slots[timeout.tick % slotCount] = next;
    timeout.tick = -1;
    timeout.next = null;
    timeout.previous = null;
  }

  #sleep(now: number, dueAt: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    // A Node timer may come up to a millisecond early.
    const delayMs = Math.min(sleepMsMax, Math.max(1, Math.ceil(dueAt / tickMs) * tickMs - now + 1));
    this.#wakeAt = now + delayMs;
    this.#timer = setTimeout(this.#onWake, delayMs);
  }

  #wake(): void {
    this.#timer = null;
    this.#wakeAt = never;
    const now = performance.now();
    const last = Math.floor(now / tickMs);
    // After a long sleep each slot is looked at once.
    let tick = Math.max(this.#tick, last - slotCount);
    this.#tick = last;
    try {
      for (; tick < last; tick += 1) if (this.#slots[(tick + 1) % slotCount] !== null) this.#turn((tick + 1) % slotCount, now);
    } finally {
      if (this.#running > 0 && this.#timer === null) this.#sleep(performance.now(), this.#nextDue(last));
    }
  }

  /** Fires what is due of a slot and moves on what was extended. */
  #turn(slot: number, now: number): void {
    let timeout = this.#slots[slot] ?? null;
    while (timeout !== null) {
      const { next } = timeout;
      if (timeout.dueAt === never) {
        this.#unhang(timeout);
      } else if (timeout.dueAt <= now) {
        this.#unhang(timeout);
        this.stop(timeout);
        timeout.owner.onTimeout();
        // The owner may have taken others off: those behind it are found anew.
        timeout = this.#slots[slot] ?? null;
        continue;
      } else {
        const tick = Math.ceil(timeout.dueAt / tickMs);
        if (tick !== timeout.tick) this.#hang(timeout, tick);
      }
      timeout = next;
    }
  }

  /** When the next slot comes round in which anything hangs. */
  #nextDue(from: number): number {
    const ticks = Math.ceil(sleepMsMax / tickMs);
    for (let tick = from + 1; tick <= from + ticks; tick += 1) {
      // Others may hang in the slot for a later turn of the wheel.
      for (let timeout = this.#slots[tick % slotCount] ?? null; timeout !== null; timeout = timeout.next) if (timeout.tick === tick) return tick * tickMs;
    }
    return (from + ticks) * tickMs;
  }
}
