import type { TokenCounter } from '../common/detectors/token-counter.js';

interface Channel {
  readonly group: number;
  /** Characters whose tokens can still change with what follows. */
  tail: string;
  tokens: number;
  isExact: boolean;
}

/** Characters of a tail that are worth counting. */
const tailLengthMin = 512;
/** A run without a place to cut is counted in parts from here on. */
const tailLengthMax = 4096;

/**
 * Counts a streamed answer as it passes. What has been settled by a word boundary is encoded once; near the limit after each window, else in
 * batches. The end result is that of the whole text, however it was cut.
 */
export class StreamedTokens {
  readonly #counter: TokenCounter;
  readonly #max: number;
  readonly #channels = new Map<string, Channel>();
  readonly #settled = new Map<number, number>();

  constructor(counter: TokenCounter, max: number) {
    this.#counter = counter;
    this.#max = max;
  }

  /** Whether the settled tokens of the choice are more than allowed. */
  add(name: string, group: number, text: string): boolean {
    let channel = this.#channels.get(name);
    if (channel === undefined) this.#channels.set(name, channel = { group, tail: '', tokens: 0, isExact: true });
    channel.tail += text;
    const settled = this.#settled.get(group) ?? 0;
    if (settled > this.#max) return true;
    const { tail } = channel;
    // A character is at most three bytes, and a token at least one: with less than this the limit cannot be passed.
    const isNear = settled + tail.length * 3 > this.#max && tail.length > 16;
    if (tail.length < tailLengthMin && !isNear) return false;
    const to = this.#counter.settled(tail);
    if (to === 0 && tail.length < tailLengthMax) return false;
    if (to === 0) channel.isExact = false;
    return this.#settle(channel, to === 0 ? tail.length : to) > this.#max;
  }

  /** Of each choice, with the tails. */
  measures(): { readonly tokens?: number; readonly isExact?: boolean; readonly atLeast?: number }[] {
    const exact = new Map<number, boolean>();
    for (const channel of this.#channels.values()) {
      this.#settle(channel, channel.tail.length);
      exact.set(channel.group, (exact.get(channel.group) ?? true) && channel.isExact);
    }
    if (exact.size === 0) return [{ tokens: 0, isExact: true }];
    return [...exact].map(([group, isExact]) => {
      const tokens = this.#settled.get(group) ?? 0;
      return tokens > this.#max ? { atLeast: tokens } : { tokens, isExact };
    });
  }

  #settle(channel: Channel, to: number): number {
    const text = channel.tail.slice(0, to);
    channel.tail = channel.tail.slice(to);
    const count = this.#counter.count(text, Number.MAX_SAFE_INTEGER);
    const tokens = (this.#settled.get(channel.group) ?? 0) + (count?.tokens ?? 0);
    if (count?.isExact === false) channel.isExact = false;
    this.#settled.set(channel.group, tokens);
    return tokens;
  }
}
