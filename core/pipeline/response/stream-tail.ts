// Hot: runs for each event of a stream that hooks or a cache have to do with.
// The end of such a stream: assembles the answer beside it, keeps back the events that end it (or all of them) until the hooks have spoken,
// and adds their results. Sits behind the stages, so it sees what the client sees.

import { isObject, ProviderError, type AnswerEvent, type JsonObject, type Maybe } from '@gateway/plugin-sdk';
import { assembler, type Assembler } from '../../dialect/common/assembler.js';
import { isLastEvent, membersOf } from '../../dialect/common/event-members.js';
import { replay } from '../../dialect/common/replay.js';
import { isErrorEvent } from '../../dialect/common/told-error.js';
import type { Dialect } from '../../dialect/dialect.js';
import { fail } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { EventTail, StreamCut } from '../../stream/stages.js';

export interface TailOptions {
  /** Nothing may go before the hooks have spoken. */
  readonly holdsAll: boolean;
  /** The whole answer is asked for at the end. */
  readonly assembles: boolean;
  readonly bytesMax: number;
  /** The client asked for the usage chunk; for an answer that is written anew. */
  readonly includesUsage: boolean;
  /** The stream has ended; `answer` is null when it could not be assembled. Gives the body to answer with when it was changed, or what cuts the stream. Throws what ends it. */
  readonly onWhole: (answer: JsonObject | null) => Maybe<JsonObject | StreamCut | null>;
}

export class StreamTail implements EventTail {
  readonly #assembler: Assembler | null;
  readonly #held: AnswerEvent[] = [];
  #heldBytes = 0;
  /** Says what the chunks of this stream are called. */
  #first: AnswerEvent | null = null;
  /** The provider told of an error inside the stream. */
  #error: AnswerEvent | null = null;

  constructor(readonly exchange: Exchange, readonly dialect: Dialect, readonly options: TailOptions) {
    this.#assembler = options.assembles ? assembler(dialect, options.bytesMax) : null;
  }

  take(event: AnswerEvent): boolean {
    this.#first ??= event;
    if (this.#assembler !== null) this.#assembler.push(event);
    if (isErrorEvent(event, this.dialect.errorEvents)) this.#error ??= event;
    if (!this.options.holdsAll && this.#held.length === 0 && !isLastEvent(event, this.dialect)) return false;
    if (this.options.holdsAll) {
      this.#heldBytes += eventBytes + (typeof event.data === 'string' ? event.data.length : objectBytes);
      if (this.#heldBytes > this.options.bytesMax) throw fail('UPSTREAM_TOO_LARGE', { provider: this.exchange.provider, maximum: this.options.bytesMax });
    }
    this.#held.push(event);
    return true;
  }

  /** The provider's own error, for a stream nothing of which has gone to the client. */
  get providerError(): ProviderError | null {
    if (this.#error === null) return null;
    const data = membersOf(this.#error);
    const inner = isObject(data.error) ? data.error : isObject(data.response) && isObject(data.response.error) ? data.response.error : data;
    const { message, type, code } = inner;
    return new ProviderError(typeof message === 'string' ? message : 'the provider ended its stream with an error', {
      status: 502, ...(typeof type === 'string' ? { type } : {}), ...(typeof code === 'string' ? { code } : {}),
    });
  }

  /** The events that end the stream have come, and are held here. */
  get hasEnd(): boolean {
    return this.#held.length > 0;
  }

  end(): Maybe<readonly AnswerEvent[] | StreamCut> {
    const changed = this.options.onWhole(this.#assembler === null ? null : this.#assembler.answer());
    return changed instanceof Promise ? changed.then((body) => this.#ending(body)) : this.#ending(changed);
  }

  #ending(changed: JsonObject | StreamCut | null): readonly AnswerEvent[] | StreamCut {
    if (typeof changed === 'string') return changed;
    let events: readonly AnswerEvent[] = this.#held;
    if (changed !== null) {
      const { closing } = this.dialect;
      // Whoever held the events closes the stream itself when its provider does not.
      const wasClosed = closing === '' || this.#held.at(-1)?.data === closing;
      events = [...replay(this.dialect, changed, { includesUsage: this.options.includesUsage })].filter((event) => wasClosed || event.data !== closing);
    }
    // Nothing comes behind an error.
    return this.#error === null ? withResults(events, this.exchange, this.dialect, this.#first) : events;
  }
}

/** About what an event takes beside its data, and data that is an object. */
const eventBytes = 128;
const objectBytes = 256;

/** The events with the hooks' results where the dialect has a place for them. */
export function withResults(events: readonly AnswerEvent[], exchange: Exchange, dialect: Dialect, first: AnswerEvent | null = events[0] ?? null): readonly AnswerEvent[] {
  const { hooks } = exchange;
  return hooks === null || hooks.isEmpty ? events : dialect.withResults(events, hooks.wire(), first, exchange);
}
