// Sends the events of all open streams from one timer: a wheel of 1 ms slots. A stream that falls
// behind (late timer, slow reader) gets all events it is due in one write, so the rate holds and
// nothing is queued beyond the socket's own buffer.
import type { Socket } from 'node:net';
import { contentEvent, eventTime, streamEnding, type Recipe } from './recipe.js';

const slotCount = 2048;
const eventsPerWriteMax = 64;

export interface Counters {
  requests: number;
  eventsSent: number;
  streamsOpened: number;
  streamsEnded: number;
  streamsAbandoned: number;
}

export class SentStream {
  sent = 0;
  isGone = false;
  isBlocked = false;
  readonly startedAtMs: number;
  constructor(
    readonly socket: Socket,
    readonly recipe: Recipe,
    nowMs: number,
  ) {
    this.startedAtMs = nowMs;
  }
}

export class StreamWheel {
  readonly #slots: SentStream[][] = Array.from({ length: slotCount }, () => []);
  readonly #counters: Counters;
  #lastSlotMs = 0;
  #open = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** Writes the opening and the first event at once, then keeps the stream on the wheel until it ends. */
  add(stream: SentStream): void {
    this.#counters.streamsOpened++;
    this.#open++;
    stream.socket.write(stream.recipe.opening);
    if (this.#timer === null) {
      this.#lastSlotMs = Math.floor(performance.now());
      this.#timer = setTimeout(this.#tick, 1);
    }
    this.#send(stream, performance.now(), eventTime());
  }

  /** The socket drained: the stream may be written to again. */
  resume(stream: SentStream): void {
    if (!stream.isBlocked || stream.isGone) return;
    stream.isBlocked = false;
    this.#send(stream, performance.now(), eventTime());
  }

  /** The reader went away before the end. A stream still in a slot is skipped when its slot comes. */
  abandon(stream: SentStream): void {
    if (stream.isGone) return;
    this.#counters.streamsAbandoned++;
    this.#leave(stream);
  }

  #leave(stream: SentStream): void {
    stream.isGone = true;
    this.#open--;
  }

  readonly #tick = (): void => {
    const nowMs = performance.now();
    const sentAt = eventTime();
    const nowSlot = Math.floor(nowMs);
    // After a stall longer than the wheel every slot is visited once, which serves every stream.
    let slotMs = Math.max(this.#lastSlotMs + 1, nowSlot - slotCount + 1);
    for (; slotMs <= nowSlot; slotMs++) {
      const slot = slotMs % slotCount;
      const streams = this.#slots[slot];
      if (streams === undefined || streams.length === 0) continue;
      this.#slots[slot] = [];
      for (const stream of streams) if (!stream.isGone) this.#send(stream, nowMs, sentAt);
    }
    this.#lastSlotMs = Math.max(this.#lastSlotMs, nowSlot);
    this.#timer = this.#open > 0 ? setTimeout(this.#tick, 1) : null;
  };

  #send(stream: SentStream, nowMs: number, sentAt: string): void {
    const { recipe, socket } = stream;
    const rate = recipe.eventsPerSecond;
    const dueNow = rate === 0 ? recipe.events : 1 + Math.floor(((nowMs - stream.startedAtMs) * rate) / 1000);
    const until = Math.min(dueNow, stream.sent + eventsPerWriteMax, recipe.events);
    let text = '';
    const before = stream.sent;
    while (stream.sent < until) {
      stream.sent++;
      text += contentEvent(stream.sent, sentAt);
      if (stream.sent === recipe.cutAfterEvents) break;
    }
    this.#counters.eventsSent += stream.sent - before;
    if (stream.sent === recipe.cutAfterEvents && stream.sent > before) {
      socket.write(text, 'latin1');
      this.#leave(stream);
      socket.destroySoon();
      return;
    }
    if (stream.sent === recipe.events) {
      socket.write(text + streamEnding(recipe.events), 'latin1');
      this.#counters.streamsEnded++;
      this.#leave(stream);
      return;
    }
    if (text !== '' && !socket.write(text, 'latin1')) {
      stream.isBlocked = true;
      return;
    }
    const dueAtMs = rate === 0 ? nowMs + 1 : stream.startedAtMs + (stream.sent * 1000) / rate;
    const slotMs = Math.min(Math.max(Math.ceil(dueAtMs), Math.floor(nowMs) + 1), Math.floor(nowMs) + slotCount - 1);
    this.#slots[slotMs % slotCount]?.push(stream);
  }
}
