// Hot: runs for each event of a stream that hooks or a cache have to do with.
// The end of such a stream: assembles the answer beside it, keeps back the events that end it (or all of them) until the hooks have spoken,
// and adds their results. Sits behind the stages, so it sees what the client sees.

import { isObject, ProviderError, type AnswerEvent, type Json, type JsonObject, type Maybe } from '@gateway/plugin-sdk';
import { assembler, type Assembler } from '../../dialect/common/assembler.js';
import { replay } from '../../dialect/common/replay.js';
import { beginsWithError, tellsError } from '../../dialect/chat/told-error.js';
import { fail } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { EventTail, StreamCut } from '../../stream/stages.js';

export type StreamedEndpoint = 'chatCompletions' | 'completions' | 'messages' | 'responses';

const streamedEndpoints: ReadonlySet<string> = new Set<StreamedEndpoint>(['chatCompletions', 'completions', 'messages', 'responses']);
export const isStreamedEndpoint = (name: string): name is StreamedEndpoint => streamedEndpoints.has(name);

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

  constructor(readonly exchange: Exchange, readonly endpoint: StreamedEndpoint, readonly options: TailOptions) {
    this.#assembler = options.assembles ? assembler(endpoint, options.bytesMax) : null;
  }

  take(event: AnswerEvent): boolean {
    this.#first ??= event;
    if (this.#assembler !== null) this.#assembler.push(event);
    if (isError(event)) this.#error ??= event;
    if (!this.options.holdsAll && this.#held.length === 0 && !this.#isLast(event)) return false;
    if (this.options.holdsAll) {
      this.#heldBytes += eventBytes + (typeof event.data === 'string' ? event.data.length : objectBytes);
      if (this.#heldBytes > this.options.bytesMax) throw fail('UPSTREAM_TOO_LARGE', { provider: this.exchange.provider, maximum: this.options.bytesMax });
    }
    this.#held.push(event);
    return true;
  }

  /** What the provider said of its error, for a stream nothing of which has gone to the client. */
  get providerError(): ProviderError | null {
    if (this.#error === null) return null;
    const data = membersOf(this.#error);
    const inner = isObject(data.error) ? data.error : isObject(data.response) && isObject(data.response.error) ? data.response.error : data;
    const { message, type, code } = inner;
    return new ProviderError(typeof message === 'string' ? message : 'the provider ended its stream with an error', {
      status: 502, ...(typeof type === 'string' ? { type } : {}), ...(typeof code === 'string' ? { code } : {}),
    });
  }

  /** What ends the stream has come, and is held here. */
  get hasEnd(): boolean {
    return this.#held.length > 0;
  }

  end(): Maybe<readonly AnswerEvent[] | StreamCut> {
    const changed = this.options.onWhole(this.#assembler === null ? null : this.#assembler.answer());
    return changed instanceof Promise ? changed.then((body) => this.#ending(body)) : this.#ending(changed);
  }

  /** What ends a stream of this dialect; the results of hooks go before it, or into it. */
  #isLast(event: AnswerEvent): boolean {
    switch (this.endpoint) {
      case 'messages': return event.event === 'message_stop';
      case 'responses': return event.event === 'response.completed' || event.event === 'response.incomplete';
      default: return event.data === '[DONE]';
    }
  }

  #ending(changed: JsonObject | StreamCut | null): readonly AnswerEvent[] | StreamCut {
    if (typeof changed === 'string') return changed;
    let events: readonly AnswerEvent[] = this.#held;
    if (changed !== null) {
      // Whoever held the events closes the stream itself when its provider does not.
      const hadDone = this.#held.at(-1)?.data === '[DONE]';
      events = [...replay(this.endpoint, changed, { includesUsage: this.options.includesUsage })].filter((event) => hadDone || event.data !== '[DONE]');
    }
    // Nothing comes behind an error.
    return this.#error === null ? withResults(events, this.exchange, this.endpoint, this.#first) : events;
  }
}

/** About what an event takes beside its data, and data that is an object. */
const eventBytes = 128;
const objectBytes = 256;

/** An error event in any of the dialects, told without parsing the others. */
function isError({ event, data }: AnswerEvent): boolean {
  if (event === 'error' || event === 'response.failed') return true;
  return typeof data === 'string' ? beginsWithError(data) || data.startsWith('{"type":"error"') : tellsError(data);
}

function membersOf({ data }: AnswerEvent): JsonObject {
  if (typeof data !== 'string') return data;
  try {
    const parsed: unknown = JSON.parse(data);
    return isObject(parsed) ? parsed : noMembers;
  } catch {
    return noMembers;
  }
}

const noMembers: JsonObject = Object.freeze({});

/** The events with the hooks' results where the dialect has a place for them: a chunk without choices, an event of its own, or the response. */
export function withResults(events: readonly AnswerEvent[], exchange: Exchange, endpoint: StreamedEndpoint, first: AnswerEvent | null = events[0] ?? null): readonly AnswerEvent[] {
  const { hooks } = exchange;
  if (hooks === null || hooks.isEmpty) return events;
  const results = hooks.wire();
  const isLast = (event: AnswerEvent): boolean => (endpoint === 'messages' ? event.event === 'message_stop' : event.data === '[DONE]');
  if (endpoint === 'responses') return events.map((event) => (event.event === 'response.completed' || event.event === 'response.incomplete' ? withMember(event, results) : event));
  const extra: AnswerEvent = endpoint === 'messages'
    ? { event: 'hook_results', data: { type: 'hook_results', hook_results: results } }
    : { event: undefined, data: { ...chunkOf(first, exchange, endpoint), choices: [], hook_results: results } };
  const at = events.findIndex(isLast);
  return at === -1 ? [...events, extra] : [...events.slice(0, at), extra, ...events.slice(at)];
}

/** Clients put a stream together member by member: this chunk says of itself what the others do. */
function chunkOf(first: AnswerEvent | null, exchange: Exchange, endpoint: StreamedEndpoint): JsonObject {
  const { id, created, model } = first === null ? noMembers : membersOf(first);
  return {
    id: typeof id === 'string' ? id : exchange.id,
    object: endpoint === 'chatCompletions' ? 'chat.completion.chunk' : 'text_completion',
    created: typeof created === 'number' ? created : Math.floor(exchange.startedAtMs / 1000),
    ...(typeof model === 'string' ? { model } : {}),
  };
}

function withMember(event: AnswerEvent, results: Json): AnswerEvent {
  const data = typeof event.data === 'string' ? JSON.parse(event.data) as JsonObject : event.data;
  const { response } = data;
  if (typeof response !== 'object' || response === null || Array.isArray(response)) return event;
  return { event: event.event, data: { ...data, response: { ...response, hook_results: results } } };
}
