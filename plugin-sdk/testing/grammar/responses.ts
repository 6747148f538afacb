import { isObject } from '../../src/json.js';
import type { JsonObject } from '../../src/chat/types.js';

/** One event of a stream, as a client reads it. */
export interface GrammarEvent {
  readonly event?: string;
  readonly data: unknown;
}

interface Part {
  type: string;
  text: string;
  /** The text as the `.done` event of the part's own kind gave it. */
  doneText: string | null;
  isDone: boolean;
}

interface Item {
  readonly type: string;
  readonly id: string;
  readonly added: JsonObject;
  readonly parts: Part[];
  readonly summary: Part[];
  arguments: string;
  doneArguments: string | null;
  isDone: boolean;
  final: JsonObject | null;
}

const finals = ['response.completed', 'response.incomplete', 'response.failed'];
const statuses: Readonly<Record<string, readonly string[]>> = { 'response.completed': ['completed'], 'response.incomplete': ['incomplete'], 'response.failed': ['failed'] };
const requiredMembers = [
  'id', 'object', 'created_at', 'error', 'incomplete_details', 'instructions', 'model', 'tools', 'output', 'parallel_tool_calls', 'metadata', 'tool_choice', 'temperature', 'top_p', 'status',
];

/** Checks the events of a streamed response against the documented order; gives what is wrong, nothing when all is well. */
export function checkResponsesEvents(events: readonly GrammarEvent[]): string[] {
  const checker = new ResponsesChecker();
  events.forEach((event, index) => checker.event(event, index));
  return checker.end();
}

class ResponsesChecker {
  readonly #faults: string[] = [];
  readonly #items: Item[] = [];
  #responseId = '';
  #stage: 'start' | 'created' | 'open' | 'over' = 'start';
  #at = '';

  event({ event, data }: GrammarEvent, index: number): void {
    this.#at = `event ${index}`;
    if (!isObject(data)) return this.#fault('data is not an object');
    const type = typeof data.type === 'string' ? data.type : '';
    this.#at = `event ${index} (${type})`;
    if (event !== type) this.#fault(`the event is named ${String(event)}`);
    if (data.sequence_number !== index) this.#fault(`sequence_number is ${String(data.sequence_number)}, expected ${index}`);
    if (this.#stage === 'over') this.#fault('comes after the last event');
    if (this.#stage === 'start' && type !== 'response.created') this.#fault('comes before response.created');
    if (type === 'response.created' || type === 'response.in_progress' || finals.includes(type)) this.#envelope(type, data);
    else if (type === 'response.output_item.added') this.#added(data);
    else this.#inside(type, data);
  }

  end(): string[] {
    this.#at = 'the end';
    if (this.#stage !== 'over') this.#fault('no final event');
    return this.#faults;
  }

  #envelope(type: string, { response }: JsonObject): void {
    if (!isObject(response)) return this.#fault('has no response');
    for (const member of requiredMembers) if (!(member in response)) this.#fault(`the response lacks ${member}`);
    if (response.object !== 'response') this.#fault('object is not response');
    if (type === 'response.created') {
      if (this.#stage !== 'start') this.#fault('comes twice');
      this.#stage = 'created';
      this.#responseId = String(response.id);
    }
    if (response.id !== this.#responseId) this.#fault('the id of the response changed');
    if (!finals.includes(type)) {
      if (response.status !== 'in_progress') this.#fault(`status is ${String(response.status)}`);
      if (Array.isArray(response.output) && response.output.length > 0) this.#fault('has output already');
      if (type === 'response.in_progress') {
        if (this.#stage !== 'created') this.#fault('does not come right after response.created');
        this.#stage = 'open';
      }
      return;
    }
    this.#stage = 'over';
    if (!(statuses[type] ?? []).includes(String(response.status))) this.#fault(`status is ${String(response.status)}`);
    if (type === 'response.incomplete' && !(isObject(response.incomplete_details) && typeof response.incomplete_details.reason === 'string')) this.#fault('has no incomplete_details.reason');
    if (type === 'response.completed' && response.incomplete_details !== null) this.#fault('has incomplete_details');
    for (const [index, item] of this.#items.entries()) if (!item.isDone) this.#fault(`item ${index} is still open`);
    this.#compare('output', response.output, this.#items.map(({ final }) => final));
  }

  #added({ item, output_index: index }: JsonObject): void {
    if (this.#stage !== 'open') this.#fault('comes before response.in_progress');
    if (index !== this.#items.length) this.#fault(`output_index is ${String(index)}, expected ${this.#items.length}`);
    if (!isObject(item) || typeof item.id !== 'string' || typeof item.type !== 'string') return this.#fault('the item has no id or no type');
    if (this.#items.some(({ id }) => id === item.id)) this.#fault(`the id ${item.id} is taken`);
    if (item.status !== 'in_progress') this.#fault(`the item's status is ${String(item.status)}`);
    if (item.type === 'message' && (!Array.isArray(item.content) || item.content.length > 0 || item.role !== 'assistant')) this.#fault('a message begins as an empty message of the assistant');
    if (item.type === 'reasoning' && (!Array.isArray(item.summary) || item.summary.length > 0)) this.#fault('reasoning begins with an empty summary');
    if (item.type === 'function_call') {
      if (item.arguments !== '') this.#fault('a function call begins without arguments');
      if (typeof item.call_id !== 'string' || item.call_id === '') this.#fault('a function call needs a call_id');
      if (typeof item.name !== 'string' || item.name === '') this.#fault('a function call needs a name');
    }
    this.#items.push({ type: item.type, id: item.id, added: item, parts: [], summary: [], arguments: '', doneArguments: null, isDone: false, final: null });
  }

  /** Events that belong to one item. */
  #inside(type: string, data: JsonObject): void {
    const item = typeof data.output_index === 'number' ? this.#items[data.output_index] : undefined;
    if (item === undefined) return this.#fault(`there is no item ${String(data.output_index)}`);
    if (item.isDone) this.#fault('the item is done already');
    if (type === 'response.output_item.done') return this.#done(item, data);
    if (data.item_id !== item.id) this.#fault(`item_id is ${String(data.item_id)}, expected ${item.id}`);
    switch (type) {
      case 'response.content_part.added': return this.#partAdded(item, item.parts, data.content_index, data.part, 'message');
      case 'response.content_part.done': return this.#partDone(item, item.parts, data.content_index, data.part);
      case 'response.output_text.delta': case 'response.refusal.delta':
        if (type === 'response.output_text.delta' && !Array.isArray(data.logprobs)) this.#fault('has no logprobs');
        return this.#textDelta(item.parts, data.content_index, data.delta, type === 'response.refusal.delta' ? 'refusal' : 'output_text');
      case 'response.output_text.done':
        if (!Array.isArray(data.logprobs)) this.#fault('has no logprobs');
        return this.#textDone(item.parts, data.content_index, data.text, 'output_text');
      case 'response.refusal.done': return this.#textDone(item.parts, data.content_index, data.refusal, 'refusal');
      case 'response.output_text.annotation.added':
        this.#openPart(item.parts, data.content_index, 'output_text');
        return isObject(data.annotation) ? undefined : this.#fault('has no annotation');
      case 'response.reasoning_summary_part.added': return this.#partAdded(item, item.summary, data.summary_index, data.part, 'reasoning');
      case 'response.reasoning_summary_part.done': return this.#partDone(item, item.summary, data.summary_index, data.part);
      case 'response.reasoning_summary_text.delta': return this.#textDelta(item.summary, data.summary_index, data.delta, 'summary_text');
      case 'response.reasoning_summary_text.done': return this.#textDone(item.summary, data.summary_index, data.text, 'summary_text');
      case 'response.function_call_arguments.delta':
        if (item.type !== 'function_call' || item.doneArguments !== null) this.#fault('arguments for an item that takes none');
        if (typeof data.delta !== 'string') return this.#fault('delta is not a text');
        item.arguments += data.delta;
        return;
      case 'response.function_call_arguments.done':
        if (item.type !== 'function_call' || item.doneArguments !== null) this.#fault('arguments for an item that takes none');
        if (data.arguments !== item.arguments) this.#fault('arguments differ from their deltas');
        if (data.name !== item.added.name) this.#fault('name differs from the item');
        item.doneArguments = item.arguments;
        return;
      default: return this.#fault('is not a known event');
    }
  }

  #partAdded(item: Item, parts: Part[], index: unknown, part: unknown, itemType: string): void {
    if (item.type !== itemType) this.#fault(`a part for an item of type ${item.type}`);
    if (index !== parts.length) this.#fault(`the index is ${String(index)}, expected ${parts.length}`);
    if (parts.some(({ isDone }) => !isDone)) this.#fault('the part before is still open');
    if (!isObject(part) || typeof part.type !== 'string') return this.#fault('has no part');
    if (textIn(part) !== '') this.#fault('a part begins empty');
    parts.push({ type: part.type, text: '', doneText: null, isDone: false });
  }

  #partDone(item: Item, parts: Part[], index: unknown, part: unknown): void {
    const open = this.#openPart(parts, index, null);
    if (open === null) return;
    if (open.doneText === null) this.#fault('the text of the part is not done');
    if (!isObject(part) || part.type !== open.type || textIn(part) !== open.text) this.#fault(`the part differs from its deltas in item ${item.id}`);
    open.isDone = true;
  }

  #textDelta(parts: Part[], index: unknown, delta: unknown, type: string): void {
    const part = this.#openPart(parts, index, type);
    if (typeof delta !== 'string') return this.#fault('delta is not a text');
    if (part === null) return;
    if (part.doneText !== null) this.#fault('the text is done already');
    part.text += delta;
  }

  #textDone(parts: Part[], index: unknown, text: unknown, type: string): void {
    const part = this.#openPart(parts, index, type);
    if (part === null) return;
    if (part.doneText !== null) this.#fault('the text is done already');
    if (text !== part.text) this.#fault('the text differs from its deltas');
    part.doneText = part.text;
  }

  #openPart(parts: Part[], index: unknown, type: string | null): Part | null {
    const part = typeof index === 'number' ? parts[index] : undefined;
    if (part === undefined || part.isDone || (type !== null && part.type !== type)) {
      this.#fault(`there is no open part ${String(index)}${type === null ? '' : ` of type ${type}`}`);
      return null;
    }
    return part;
  }

  #done(item: Item, { item: final }: JsonObject): void {
    item.isDone = true;
    if (!isObject(final)) return this.#fault('has no item');
    item.final = final;
    if (final.id !== item.id || final.type !== item.type) this.#fault('the item changed its id or type');
    if (final.status !== 'completed' && final.status !== 'incomplete') this.#fault(`the item's status is ${String(final.status)}`);
    for (const part of [...item.parts, ...item.summary]) if (!part.isDone) this.#fault('a part of the item is still open');
    if (item.type === 'message') this.#compareParts(item.parts, final.content);
    if (item.type === 'reasoning') this.#compareParts(item.summary, final.summary);
    if (item.type === 'function_call') {
      if (item.doneArguments === null) this.#fault('the arguments are not done');
      if (final.arguments !== item.arguments) this.#fault('arguments differ from their deltas');
      if (final.call_id !== item.added.call_id || final.name !== item.added.name) this.#fault('the call changed its call_id or name');
    }
  }

  #compareParts(parts: readonly Part[], given: unknown): void {
    const list: readonly unknown[] = Array.isArray(given) ? given : [];
    if (list.length !== parts.length) return this.#fault(`the item has ${list.length} parts, its events told of ${parts.length}`);
    list.forEach((part, index) => {
      const told = parts[index];
      if (told === undefined || !isObject(part) || part.type !== told.type || textIn(part) !== told.text) this.#fault(`part ${index} differs from its events`);
    });
  }

  #compare(what: string, given: unknown, expected: unknown): void {
    if (JSON.stringify(given) !== JSON.stringify(expected)) this.#fault(`${what} differs from the items of the events`);
  }

  #fault(text: string): void {
    this.#faults.push(`${this.#at}: ${text}`);
  }
}

const textIn = (part: JsonObject): unknown => (part.type === 'refusal' ? part.refusal : part.text);
