import { isObject, type JsonObject } from '../../src/index.js';

/** One event of a stream; `data` is an object, or the JSON text of one. */
export interface MessagesEvent {
  readonly event?: string | undefined;
  readonly data: unknown;
}

const stopReasons: ReadonlySet<unknown> = new Set([
  'end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal', 'model_context_window_exceeded',
]);

/** What may come in a block, by its type; blocks of other types come whole. */
const deltasOf: ReadonlyMap<unknown, ReadonlySet<unknown>> = new Map([
  ['text', new Set(['text_delta', 'citations_delta'])],
  ['thinking', new Set(['thinking_delta', 'signature_delta'])],
  ['tool_use', new Set(['input_json_delta'])],
  ['server_tool_use', new Set(['input_json_delta'])],
  ['mcp_tool_use', new Set(['input_json_delta'])],
]);

/** The member of a delta that holds its piece of text. */
const pieceOf: ReadonlyMap<unknown, string> = new Map([
  ['text_delta', 'text'], ['thinking_delta', 'thinking'], ['signature_delta', 'signature'], ['input_json_delta', 'partial_json'],
]);

/**
 * Checks a whole stream of Anthropic's Messages API against the documented order of events, and gives the faults; none for a sound one.
 * message_start; content blocks one after another, each of start, deltas of its type, stop; message_delta; message_stop. `ping` anywhere
 * behind message_start, and events of unknown types anywhere; an `error` event ends the stream wherever it comes.
 */
export function checkMessagesEvents(events: readonly MessagesEvent[]): string[] {
  const checker = new Checker();
  events.forEach((event, place) => checker.next(event, place));
  return checker.end();
}

class Checker {
  readonly #faults: string[] = [];
  readonly #ids = new Set<string>();
  #state: 'before' | 'message' | 'ending' | 'stopped' | 'failed' = 'before';
  #open: JsonObject | null = null;
  #json = '';
  #nextIndex = 0;
  #isSigned = false;
  #hasToolUse = false;
  #place = '';

  next(event: MessagesEvent, place: number): void {
    const data = this.#read(event, place);
    if (data === null) return;
    if (event.event !== undefined && event.event !== data.type) this.#fault(`the event is named ${event.event}, its data ${String(data.type)}`);
    if (this.#state === 'stopped' || this.#state === 'failed') return this.#fault(`comes after the end of the stream`);
    switch (data.type) {
      case 'message_start': return this.#messageStart(data);
      case 'content_block_start': return this.#blockStart(data);
      case 'content_block_delta': return this.#blockDelta(data);
      case 'content_block_stop': return this.#blockStop(data);
      case 'message_delta': return this.#messageDelta(data);
      case 'message_stop': return this.#messageStop();
      case 'ping': if (this.#state === 'before') this.#fault('comes before message_start'); return;
      case 'error': return this.#error(data);
      default: if (typeof data.type !== 'string') this.#fault('has no type');
    }
  }

  end(): string[] {
    this.#place = 'the stream';
    if (this.#state === 'before') this.#fault('has no message_start');
    else if (this.#state !== 'stopped' && this.#state !== 'failed') this.#fault('has no message_stop');
    return this.#faults;
  }

  #read(event: MessagesEvent, place: number): JsonObject | null {
    this.#place = `event ${place}`;
    let data = event.data;
    if (typeof data === 'string') {
      try {
        data = JSON.parse(data);
      } catch {
        this.#fault('is not JSON');
        return null;
      }
    }
    if (!isObject(data)) {
      this.#fault('is not an object');
      return null;
    }
    this.#place = `event ${place} (${String(data.type)})`;
    return data;
  }

  #fault(text: string): void {
    this.#faults.push(`${this.#place}: ${text}`);
  }

  #messageStart(data: JsonObject): void {
    if (this.#state !== 'before') return this.#fault('comes a second time');
    this.#state = 'message';
    const { message } = data;
    if (!isObject(message)) return this.#fault('has no message');
    if (typeof message.id !== 'string' || message.id === '') this.#fault('the message has no id');
    if (message.type !== 'message') this.#fault('message.type must be message');
    if (message.role !== 'assistant') this.#fault('message.role must be assistant');
    if (typeof message.model !== 'string') this.#fault('the message has no model');
    if (!Array.isArray(message.content) || message.content.length > 0) this.#fault('message.content must be an empty list');
    if (message.stop_reason !== null) this.#fault('message.stop_reason must be null');
    if (message.stop_sequence !== null) this.#fault('message.stop_sequence must be null');
    this.#usage(message.usage, ['input_tokens', 'output_tokens']);
  }

  #inMessage(): boolean {
    if (this.#state === 'message') return true;
    this.#fault(this.#state === 'before' ? 'comes before message_start' : 'comes after message_delta');
    return false;
  }

  #blockStart(data: JsonObject): void {
    if (!this.#inMessage()) return;
    if (this.#open !== null) this.#fault(`comes while block ${this.#nextIndex} is open`);
    if (data.index !== this.#nextIndex) this.#fault(`index is ${String(data.index)}, must be ${this.#nextIndex}`);
    const block = data.content_block;
    this.#open = isObject(block) ? block : {};
    this.#json = '';
    this.#isSigned = false;
    if (!isObject(block)) return this.#fault('has no content_block');
    switch (block.type) {
      case 'text': if (typeof block.text !== 'string') this.#fault('the block has no text'); break;
      case 'thinking':
        if (typeof block.thinking !== 'string') this.#fault('the block has no thinking');
        if (typeof block.signature !== 'string') this.#fault('the block has no signature');
        break;
      case 'redacted_thinking': if (typeof block.data !== 'string' || block.data === '') this.#fault('the block has no data'); break;
      case 'tool_use': case 'server_tool_use': case 'mcp_tool_use':
        if (block.type === 'tool_use') this.#hasToolUse = true;
        if (typeof block.id !== 'string' || block.id === '') this.#fault('the block has no id');
        else if (this.#ids.has(block.id)) this.#fault(`the id ${block.id} was given before`);
        else this.#ids.add(block.id);
        if (typeof block.name !== 'string' || block.name === '') this.#fault('the block has no name');
        if (!isObject(block.input)) this.#fault('the input of the block is not an object');
        break;
      default: if (typeof block.type !== 'string') this.#fault('the block has no type');
    }
  }

  #blockDelta(data: JsonObject): void {
    if (!this.#inMessage()) return;
    if (this.#open === null) return this.#fault('comes while no block is open');
    if (data.index !== this.#nextIndex) this.#fault(`index is ${String(data.index)}, but block ${this.#nextIndex} is open`);
    const { delta } = data;
    if (!isObject(delta)) return this.#fault('has no delta');
    const fitting = deltasOf.get(this.#open.type);
    if (fitting === undefined || !fitting.has(delta.type)) return this.#fault(`a ${String(delta.type)} does not belong into a block of type ${String(this.#open.type)}`);
    const member = pieceOf.get(delta.type);
    if (member !== undefined && typeof delta[member] !== 'string') this.#fault(`the delta has no ${member}`);
    if (delta.type === 'thinking_delta' && this.#isSigned) this.#fault('thinking goes on behind its signature');
    if (delta.type === 'signature_delta') this.#isSigned = true;
    if (typeof delta.partial_json === 'string') this.#json += delta.partial_json;
  }

  #blockStop(data: JsonObject): void {
    if (!this.#inMessage()) return;
    if (this.#open === null) return this.#fault('comes while no block is open');
    if (data.index !== this.#nextIndex) this.#fault(`index is ${String(data.index)}, but block ${this.#nextIndex} is open`);
    this.#open = null;
    this.#nextIndex += 1;
  }

  #messageDelta(data: JsonObject): void {
    if (this.#state === 'before') return this.#fault('comes before message_start');
    if (this.#open !== null) this.#fault(`comes while block ${this.#nextIndex} is open`);
    this.#state = 'ending';
    const { delta } = data;
    if (!isObject(delta)) return this.#fault('has no delta');
    if (!stopReasons.has(delta.stop_reason)) this.#fault(`stop_reason is ${String(delta.stop_reason)}, which the API does not know`);
    // Not every provider says which of them it was.
    if (delta.stop_sequence !== null && (delta.stop_reason !== 'stop_sequence' || typeof delta.stop_sequence !== 'string')) {
      this.#fault('stop_sequence must be null, or a text for the stop reason stop_sequence');
    }
    if (delta.stop_reason === 'tool_use' && !this.#hasToolUse) this.#fault('stop_reason is tool_use, but there is no tool to use');
    // Cut-off arguments are not JSON; all others are.
    if (delta.stop_reason === 'tool_use' && this.#json !== '' && !isJson(this.#json)) this.#fault('the last input is not JSON');
    this.#usage(data.usage, ['output_tokens']);
  }

  #messageStop(): void {
    if (this.#open !== null) this.#fault(`comes while block ${this.#nextIndex} is open`);
    if (this.#state !== 'ending') this.#fault('comes without message_delta');
    this.#state = 'stopped';
  }

  #error(data: JsonObject): void {
    if (!isObject(data.error) || typeof data.error.type !== 'string' || typeof data.error.message !== 'string') this.#fault('error must have type and message');
    this.#state = 'failed';
  }

  #usage(usage: unknown, required: readonly string[]): void {
    if (!isObject(usage)) return this.#fault('has no usage');
    for (const name of required) {
      if (typeof usage[name] !== 'number') this.#fault(`usage.${name} must be a number`);
    }
    for (const [name, value] of Object.entries(usage)) {
      if (typeof value === 'number' && (!Number.isInteger(value) || value < 0)) this.#fault(`usage.${name} must be a whole number, not below 0`);
    }
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
