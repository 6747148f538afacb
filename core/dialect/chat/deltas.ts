// Hot: runs for each chunk of a streamed chat completion that a check reads.
// The texts in the chunks of chat completions, and of legacy completions. Each choice has its content, its refusal, its reasoning under the
// names that providers gave it, and the arguments of each tool call. A chunk of which nothing is left is not written.

import { isHarmless, isList, isObject, type AnswerEvent, type Json, type JsonObject, type TextPiece } from '@gateway/plugin-sdk';
import { blockOf, hasMore, isChoiceShape, isEmptyCall, isEmptyDelta, isNothing, isShape, textOfBlocks } from './chunk-shape.js';
import { without, type Deltas, type Open } from '../common/deltas.js';
import type { Channel, TextGate } from '../common/text-gate.js';
import { editOthers, mayGo } from '../common/whole-texts.js';
import { tellsError } from '../common/told-error.js';

/** What is read as a text of its own, or holds such. */
const chunkNames: ReadonlySet<string> = new Set(['choices']);
const choiceNames: ReadonlySet<string> = new Set(['delta', 'message', 'text', 'logprobs']);
const callNames: ReadonlySet<string> = new Set(['function', 'custom']);
const functionNames: ReadonlySet<string> = new Set(['arguments']);
const customNames: ReadonlySet<string> = new Set(['input']);
const audioNames: ReadonlySet<string> = new Set(['transcript']);
const pieceNames: ReadonlySet<string> = new Set(['text', 'thinking']);
const detailNames: ReadonlySet<string> = new Set(['text', 'summary']);
const noNames: ReadonlySet<string> = new Set();

/** One text of a choice. */
interface Slot {
  readonly channel: Channel;
  /** The delta that holds a piece of this text. */
  readonly wrap: (text: string) => JsonObject;
}

/** The content of a delta, and what went in its place. */
interface Copied {
  readonly content: string;
  readonly released: string;
}

class Choice {
  readonly slots = new Map<string, Slot>();
  content: Slot | null = null;
  /** The content block that the content is part of, where the provider tells so. */
  block: Json = null;
  /** The provider tells the text in blocks only. */
  isInBlocks = false;
  hasLogprobs = false;
  lastTool: Json = null;

  constructor(readonly index: number) {}
}

export class ChatDeltas implements Deltas {
  readonly extra: AnswerEvent[] = [];
  readonly mayRest = true;
  readonly nextSequence = 0;
  readonly #choices = new Map<number, Choice>();
  /** The chunk that was read last: further ones are made in its likeness. */
  #last: JsonObject | null = null;
  #name: string | undefined = undefined;

  constructor(readonly gate: TextGate, readonly isLegacy: boolean) {}

  read(given: AnswerEvent, parsed: JsonObject): AnswerEvent | null {
    const data = editOthers(this.gate, 'chunk', parsed, chunkNames, 0);
    if (this.gate.isDenied) return null;
    const event = data === parsed ? given : { event: given.event, data };
    const { choices } = data;
    if (!isList(choices)) {
      // What a provider tells of an error ends the answer.
      if (tellsError(data)) this.end();
      return event;
    }
    if (choices.length === 0) return event;
    this.#last = data;
    this.#name = event.event;
    let changed: Json[] | null = null;
    let count = 0;
    for (let index = 0; index < choices.length; index += 1) {
      const choice = choices[index];
      if (choice === undefined) continue;
      const next = isObject(choice) ? this.#choice(choice, index) : choice;
      if (this.gate.isDenied) return null;
      if (next !== choice && changed === null) changed = choices.slice(0, index);
      if (next === null) continue;
      count += 1;
      if (changed !== null) changed.push(next);
    }
    if (changed === null) return event;
    if (count === 0) {
      if (!hasMore(data, isShape)) return null;
      const [first] = choices;
      if (isObject(first)) changed.push({ ...without(first, 'logprobs'), ...(this.isLegacy ? { text: '' } : { delta: {} }) });
    }
    return { event: event.event, data: { ...data, choices: changed } };
  }

  end(): void {
    for (const choice of this.#choices.values()) this.#finish(choice);
  }

  /** The same choice, a changed one, or null when nothing is left of it. */
  #choice(choice: JsonObject, place: number): JsonObject | null {
    const index = typeof choice.index === 'number' ? choice.index : place;
    let state = this.#choices.get(index);
    if (state === undefined) {
      state = new Choice(index);
      this.#choices.set(index, state);
    }
    const isLast = typeof choice.finish_reason === 'string' && choice.finish_reason !== '';
    if (choice.logprobs !== undefined) state.hasLogprobs = true;
    // Some send the last chunk, or the only one, as a whole message.
    const member = this.isLegacy ? 'text' : choice.delta === undefined || choice.delta === null ? 'message' : 'delta';
    const given = choice[member];
    const left = this.#given(state, given);
    let next = editOthers(this.gate, `choices.${index}`, left === given || left === undefined ? choice : { ...choice, [member]: left }, choiceNames, index);
    // They show the words that were there, and those that could have been.
    const { logprobs } = choice;
    if (logprobs !== undefined && logprobs !== null && (this.gate.changes || left !== given || !mayGo(this.gate, `choices.${index}`, logprobs, isObject(given) ? given.content ?? given.refusal : given, index))) next = { ...next, logprobs: null };
    if (isLast) return this.#lastChunk(state, next, member, left);
    return left !== given && isEmptyDelta(left) && !hasMore(next, isChoiceShape) ? null : next;
  }

  /** The last chunk of a choice: what was held goes before it, behind the text that is in the chunk itself. */
  #lastChunk(state: Choice, next: JsonObject, member: string, left: Json | undefined): JsonObject {
    const { extra } = this;
    const before = extra.length;
    this.#finish(state);
    if (extra.length === before || left === undefined || isEmptyDelta(left)) return next;
    const flushed = extra.splice(before);
    this.#emit(state, { [member]: left });
    for (const event of flushed) extra.push(event);
    return { ...next, [member]: member === 'text' ? '' : {} };
  }

  #given(state: Choice, given: Json | undefined): Json | undefined {
    if (this.isLegacy) return typeof given === 'string' ? this.#content(state, given) : given;
    return isObject(given) ? this.#delta(state, given) : given;
  }

  /** The same delta, or one with what may go. */
  #delta(state: Choice, delta: JsonObject): JsonObject {
    const { content } = delta;
    const isText = typeof content === 'string' && content !== '';
    // Where a text is in a content block as well, it is a copy of the content.
    if (isText && isList(delta.content_blocks)) state.block = blockOf(delta.content_blocks) ?? state.block;
    const released = isText ? this.#content(state, content) : '';
    if (isText) state.isInBlocks = false;
    let result = delta;
    for (const name in delta) {
      const value = delta[name];
      if (value === undefined || value === null || value === '') continue;
      const left = name === 'content' ? (isText ? released : this.#parts(state, value)) : this.#member(state, name, value, isText ? { content, released } : null);
      if (left === value) continue;
      result = left === undefined ? without(result, name) : { ...result, [name]: left };
    }
    return result;
  }

  /** What is left of one member of a delta; undefined: nothing. */
  #member(state: Choice, name: string, value: Json, copied: Copied | null): Json | undefined {
    switch (name) {
      case 'role': return value;
      case 'refusal': return typeof value === 'string' ? this.#plain(state, name, 'text', value) : this.#other(state, name, value);
      case 'reasoning_content': case 'reasoning': return typeof value === 'string' ? this.#plain(state, name, 'thinking', value) : this.#other(state, name, value);
      case 'tool_calls': return isList(value) ? this.#list(value, (entry, place) => this.#toolCall(state, entry, place)) : this.#other(state, name, value);
      case 'content_blocks': return isList(value) ? this.#blocks(state, value, copied) : this.#other(state, name, value);
      case 'reasoning_details': return isList(value) ? this.#list(value, (entry, place) => this.#detail(state, entry, place)) : this.#other(state, name, value);
      case 'function_call': {
        if (!isObject(value)) return this.#other(state, name, value);
        const left = this.#arguments(state, name, value.arguments, true, (text) => ({ function_call: { arguments: text } }));
        const named = editOthers(this.gate, `choices.${state.index}.function_call`, value, functionNames, state.index);
        return left === value.arguments ? named : left === '' && value.name === undefined ? undefined : { ...named, arguments: left ?? '' };
      }
      case 'audio': {
        if (!isObject(value)) return this.#other(state, name, value);
        const told = editOthers(this.gate, `choices.${state.index}.audio`, value, audioNames, state.index);
        if (typeof value.transcript !== 'string') return told;
        const left = this.gate.pass(this.#slot(state, name, 'text', false, (text) => ({ audio: { transcript: text } })).channel, value.transcript);
        return left === value.transcript ? told : { ...told, transcript: left };
      }
      default: return this.#other(state, name, value);
    }
  }

  /** A member that no dialect has a place for: a text goes on from delta to delta. */
  #other(state: Choice, name: string, value: Json): Json | undefined {
    if (typeof value !== 'string') return editOthers(this.gate, `choices.${state.index}.delta`, { [name]: value }, noNames, state.index)[name];
    return isHarmless(name, '', value) ? value : this.#plain(state, name, 'field', value);
  }

  #content(state: Choice, text: string): string {
    let slot = state.content;
    if (slot === null) {
      slot = this.#slot(state, 'content', 'text', false, (held) => {
        if (this.isLegacy) return { text: held };
        if (state.block === null) return { content: held };
        const blocks = [{ index: state.block, delta: { text: held } }];
        return state.isInBlocks ? { content_blocks: blocks } : { content: held, content_blocks: blocks };
      });
      state.content = slot;
    }
    return this.gate.pass(slot.channel, text);
  }

  /** Content as a list of parts, as some providers stream it. */
  #parts(state: Choice, value: Json): Json | undefined {
    if (!isList(value)) return this.#other(state, 'content', value);
    return this.#list(value, (part) => {
      let left = editOthers(this.gate, `choices.${state.index}.content`, part, pieceNames, state.index);
      if (typeof part.text === 'string') {
        const text = this.#content(state, part.text);
        if (text !== part.text) left = { ...left, text };
      }
      const thinking = part.thinking;
      if (typeof thinking === 'string') {
        const text = this.#plain(state, 'reasoning_content', 'thinking', thinking);
        if (text !== thinking) left = { ...left, thinking: text ?? '' };
      } else if (isList(thinking)) {
        const list = this.#list(thinking, (entry) => {
          const text = typeof entry.text === 'string' ? this.#plain(state, 'reasoning_content', 'thinking', entry.text) : undefined;
          return typeof entry.text !== 'string' || text === entry.text ? entry : { ...entry, text: text ?? '' };
        });
        if (list !== thinking) left = { ...left, thinking: list ?? [] };
      }
      return left;
    });
  }

  #plain(state: Choice, name: string, kind: TextPiece['kind'], text: string): string | undefined {
    const left = this.gate.pass(this.#slot(state, name, kind, false, (held) => ({ [name]: held })).channel, text);
    return left === '' ? undefined : left;
  }

  #toolCall(state: Choice, call: JsonObject, place: number): JsonObject | null {
    // Some providers leave the index out, and tell the id once.
    const tool = call.index ?? call.id ?? (typeof state.lastTool === 'string' ? state.lastTool : place);
    state.lastTool = tool;
    const at: Open = call.index === undefined && typeof tool === 'string' ? { id: tool } : { index: tool };
    const key = `choices.${state.index}.tool_calls.${String(tool)}`;
    let left = editOthers(this.gate, key, call, callNames, state.index);
    const { function: called, custom } = call;
    if (isObject(called)) {
      const named = editOthers(this.gate, key, called, functionNames, state.index);
      if (named !== called) left = { ...left, function: named };
      const given = this.#arguments(state, `tool_calls.${String(tool)}`, called.arguments, true, (text) => ({ tool_calls: [{ ...at, function: { arguments: text } }] }));
      if (given !== called.arguments) left = { ...left, function: { ...named, arguments: given ?? '' } };
    }
    if (isObject(custom)) {
      const named = editOthers(this.gate, key, custom, customNames, state.index);
      if (named !== custom) left = { ...left, custom: named };
      const given = this.#arguments(state, `tool_calls.${String(tool)}.custom`, custom.input, false, (text) => ({ tool_calls: [{ ...at, custom: { input: text } }] }));
      if (given !== custom.input) left = { ...left, custom: { ...named, input: given ?? '' } };
    }
    return left !== call && isEmptyCall(left) ? null : left;
  }

  /** Some write whole arguments as an object. */
  #arguments(state: Choice, key: string, value: Json | undefined, isJson: boolean, wrap: Slot['wrap']): Json | undefined {
    if (value === undefined || value === null) return value;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const left = this.gate.pass(this.#slot(state, key, 'arguments', isJson, wrap).channel, text);
    return left === text ? value : left;
  }

  #blocks(state: Choice, list: readonly Json[], copied: Copied | null): Json | undefined {
    const { gate } = this;
    let copy = copied?.released ?? null;
    const isCopied = copied !== null && copied.released === copied.content && textOfBlocks(list) === copied.content;
    const result: Json[] = [];
    let isChanged = false;
    for (let place = 0; place < list.length; place += 1) {
      const entry = list[place];
      if (entry === undefined) continue;
      const name = isObject(entry) ? (isObject(entry.delta) ? 'delta' : 'content_block') : '';
      const piece = isObject(entry) ? entry[name] : undefined;
      if (!isObject(entry) || !isObject(piece)) {
        result.push(entry);
        continue;
      }
      let left = editOthers(gate, `choices.${state.index}.content_blocks.${String(entry.index ?? 0)}`, piece, pieceNames, state.index);
      if (!isCopied && typeof piece.text === 'string' && piece.text !== '') {
        let text: string;
        if (copy === null) {
          state.block = entry.index ?? 0;
          state.isInBlocks = true;
          text = this.#content(state, piece.text);
        } else {
          text = copy;
          copy = '';
        }
        if (text !== piece.text) left = { ...left, text };
      }
      const hasSignature = typeof piece.signature === 'string' && piece.signature !== '';
      const key = `content_blocks.${String(entry.index ?? 0)}`;
      if (typeof piece.thinking === 'string' && piece.thinking !== '') {
        const wrap = (held: string): JsonObject => ({ content_blocks: [{ index: entry.index ?? 0, delta: { thinking: held } }] });
        const { channel } = this.#slot(state, key, 'thinking', false, wrap);
        const text = gate.pass(channel, piece.thinking) + (hasSignature ? gate.flush(channel) : '');
        if (text !== piece.thinking) left = { ...left, thinking: text };
      }
      if (hasSignature) {
        // It ends the thought, and fits only the thought as it was.
        const slot = state.slots.get(key);
        if (slot !== undefined) {
          const held = gate.flush(slot.channel);
          if (held !== '') {
            result.push({ index: entry.index ?? 0, delta: { thinking: held } });
            isChanged = true;
          }
          if (slot.channel.isEdited) left = name === 'delta' ? without(left, 'signature') : { ...left, signature: '' };
        }
      }
      if (left === piece) {
        result.push(entry);
        continue;
      }
      isChanged = true;
      if (name === 'content_block' || hasMore(left, isNothing)) result.push({ ...entry, [name]: left });
    }
    return !isChanged ? list : result.length === 0 ? undefined : result;
  }

  /** Reasoning as OpenRouter tells it: `text`, `summary`, and the signature of a text, which ends it and fits it only as it was. */
  #detail(state: Choice, detail: JsonObject, place: number): JsonObject {
    const { gate } = this;
    const index = String(detail.index ?? place);
    const shape = without(without(detail, 'signature'), 'id');
    let left = editOthers(gate, `choices.${state.index}.reasoning_details.${index}`, detail, detailNames, state.index);
    const { text, summary } = detail;
    if (typeof summary === 'string') {
      const slot = this.#slot(state, `reasoning_details.${index}.summary`, 'thinking', false, (held) => ({ reasoning_details: [{ ...shape, summary: held }] }));
      const released = gate.pass(slot.channel, summary);
      if (released !== summary) left = { ...left, summary: released };
    }
    const isSigned = typeof detail.signature === 'string' && detail.signature !== '';
    if (typeof text !== 'string' && !isSigned) return left;
    const { channel } = this.#slot(state, `reasoning_details.${index}.text`, 'thinking', false, (held) => ({ reasoning_details: [{ ...shape, text: held }] }));
    const given = typeof text === 'string' ? text : '';
    const released = gate.pass(channel, given) + (isSigned ? gate.flush(channel) : '');
    if (released !== given) left = { ...left, text: released };
    return isSigned && channel.isEdited ? { ...left, signature: null } : left;
  }

  /** The list with what is left of its entries; undefined when that is none. */
  #list(list: readonly Json[], visit: (entry: JsonObject, place: number) => JsonObject | null): Json | undefined {
    let result: Json[] | null = null;
    for (let place = 0; place < list.length; place += 1) {
      const entry = list[place];
      if (entry === undefined) continue;
      const left = isObject(entry) ? visit(entry, place) : entry;
      if (left !== entry && result === null) result = list.slice(0, place);
      if (result !== null && left !== null) result.push(left);
    }
    return result === null ? list : result.length === 0 ? undefined : result;
  }

  #slot(state: Choice, name: string, kind: TextPiece['kind'], isJson: boolean, wrap: Slot['wrap']): Slot {
    let slot = state.slots.get(name);
    if (slot === undefined) {
      slot = { channel: this.gate.open(`choices.${state.index}.${name}`, kind, state.index, isJson), wrap };
      state.slots.set(name, slot);
    }
    return slot;
  }

  /** All texts of the choice end. */
  #finish(choice: Choice): void {
    for (const { channel, wrap } of choice.slots.values()) {
      const text = this.gate.flush(channel);
      if (this.gate.isDenied) return;
      if (text === '') continue;
      this.#emit(choice, this.isLegacy ? wrap(text) : { delta: wrap(text) });
    }
  }

  #emit({ index, hasLogprobs }: Choice, told: JsonObject): void {
    const choice: JsonObject = hasLogprobs ? { index, ...told, logprobs: null, finish_reason: null } : { index, ...told, finish_reason: null };
    const like = this.#last ?? {};
    const data: Open = {};
    for (const name in like) {
      const value = like[name];
      if (name === 'choices') data.choices = [choice];
      else if (name === 'usage') data.usage = null;
      else if (value !== undefined && name !== 'obfuscation' && isShape(name)) data[name] = value;
    }
    this.extra.push({ event: this.#name, data });
  }
}
