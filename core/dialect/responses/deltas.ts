// Hot: runs for each event of a streamed response that a check reads.
// The texts in the events of OpenAI's Responses API: parts of messages, reasoning, what tools are called with. Each text is told again when
// it is done, in its part, its item and the whole response; these copies show what went. Numbers of events stay without a gap.

import { answerPieces, echoedNames, isList, isObject, type AnswerEvent, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { unseal } from './reasoning.js';
import { without, type Deltas, type Open } from '../common/deltas.js';
import { deltaKinds, doneKinds, isFilled, itemKinds, keyOf, likenessOf, mcpArguments, partKinds, textOfOutput, type Kind } from './response-texts.js';
import type { Channel, TextGate } from '../common/text-gate.js';
import { editOthers, editWhole, mayGo } from '../common/whole-texts.js';

/** What is read as a text of its own, or holds such. */
const deltaNames: ReadonlySet<string> = new Set(['delta', 'logprobs']);
const partEventNames: ReadonlySet<string> = new Set(['part']);
const itemEventNames: ReadonlySet<string> = new Set(['item']);
const responseEventNames: ReadonlySet<string> = new Set(['response']);
const untoldNames: ReadonlySet<string> = new Set(['output', ...echoedNames]);
/** Where the text of the response is that of its output. */
const responseNames: ReadonlySet<string> = new Set(['output_text', ...untoldNames]);
const noNames: ReadonlySet<string> = new Set();
const messageNames: ReadonlySet<string> = new Set(['content']);
const reasoningNames: ReadonlySet<string> = new Set(['content', 'summary']);
/** What is read as the text of a kind, and need not be read as another. */
const namesOf = (list: readonly string[]): ReadonlyMap<Kind, ReadonlySet<string>> => new Map([...deltaKinds.values()].map((kind) => [kind, new Set([...list, kind.copy])]));
const copyNames = namesOf([]);
const partNames = namesOf(['logprobs']);
const mcpNames: ReadonlySet<string> = new Set(['arguments', 'output']);

interface Slot {
  readonly channel: Channel;
  readonly kind: Kind;
  readonly output: Json;
  /** The event of its last piece: a further one is made in its likeness. */
  like: JsonObject;
  /** A copy that differs from the pieces, and what was made of it. */
  other: string | null;
  otherResult: string;
}

export class ResponsesDeltas implements Deltas {
  readonly extra: AnswerEvent[] = [];
  readonly #slots = new Map<string, Slot>();
  /** Items whose texts come whole only: the texts, and the members that changed. */
  readonly #wholes = new Map<string, { readonly given: string; readonly left: JsonObject | null }>();
  #last: Slot | null = null;
  #lastIndex: Json = null;
  #isNamed = true;
  #isNumbered = false;
  /** Of the event that is read, as it came; the next one, when it has none. */
  #number = 0;
  #lastNumber = -1;
  /** Events that were added, less those that were left out. */
  #shift = 0;
  /** Every event is read for its number. */
  readonly mayRest = false;
  nextSequence = 0;

  constructor(readonly gate: TextGate) {}

  read(event: AnswerEvent, data: JsonObject): AnswerEvent | null {
    const { sequence_number: own } = data;
    if (typeof own === 'number') {
      this.#isNumbered = true;
      this.#number = own;
    } else {
      this.#number = this.#lastNumber + 1;
    }
    this.nextSequence = this.#isNumbered ? this.#number + this.#shift : 0;
    const next = this.#changed(event, data);
    // Of what a denied call leads to, nothing is written.
    if (this.gate.isDenied) return null;
    if (typeof own !== 'number') {
      if (this.#isNumbered) this.nextSequence = this.#number + this.#shift;
      return next === null ? null : next === data ? event : { event: event.event, data: next };
    }
    this.#lastNumber = own;
    if (next === null) this.#shift -= 1;
    this.nextSequence = own + this.#shift + 1;
    if (next === null) return null;
    if (this.#shift === 0) return next === data ? event : { event: event.event, data: next };
    return { event: event.event, data: { ...next, sequence_number: own + this.#shift } };
  }

  end(): void {
    this.#number = this.#lastNumber + 1;
    this.#flush(null);
    if (this.#isNumbered && !this.gate.isDenied) this.nextSequence = this.#number + this.#shift;
  }

  #changed(event: AnswerEvent, data: JsonObject): JsonObject | null {
    const { type } = data;
    const kind = deltaKinds.get(type);
    if (kind !== undefined) {
      this.#isNamed = event.event !== undefined;
      return this.#delta(kind, editOthers(this.gate, 'event', data, typeof data.delta === 'string' ? deltaNames : noNames, 0));
    }
    switch (type) {
      case 'response.content_part.added': case 'response.reasoning_summary_part.added': return this.#part(data, false);
      case 'response.content_part.done': case 'response.reasoning_summary_part.done': return this.#part(data, true);
      case 'response.output_item.added': return this.#itemEvent(data, false);
      case 'response.output_item.done': return this.#itemEvent(data, true);
      case 'response.completed': case 'response.incomplete': case 'response.failed': case 'response.cancelled':
        this.#flush(null);
        return this.#response(data);
      case 'error':
        this.#flush(null);
        return editOthers(this.gate, 'event', data, noNames, 0);
      default: {
        const done = doneKinds.get(type);
        if (done !== undefined) return this.#done(done, editOthers(this.gate, 'event', data, copyNames.get(done) ?? noNames, 0));
        return this.#response(data);
      }
    }
  }

  #delta(kind: Kind, data: JsonObject): JsonObject | null {
    const { delta } = data;
    if (typeof delta !== 'string') return data;
    const slot = this.#slot(kind, data, data);
    slot.like = data;
    const released = this.gate.pass(slot.channel, delta);
    if (released === '' && delta !== '') return null;
    const { logprobs } = data;
    const hasLogprobs = isFilled(logprobs) && (this.gate.changes || released !== delta || !mayGo(this.gate, slot.channel.key, logprobs ?? null, delta, 0));
    if (released === delta && !hasLogprobs) return data;
    // They show the words that were there.
    return hasLogprobs ? { ...data, delta: released, logprobs: [] } : { ...data, delta: released };
  }

  #done(kind: Kind, data: JsonObject): JsonObject {
    const slot = this.#slot(kind, data, null);
    this.#flushSlot(slot);
    const given = data[kind.copy];
    const left = typeof given === 'string' ? this.#copy(slot, given) : given;
    return this.#told(data, kind.copy, given, left);
  }

  #part(given: JsonObject, isDone: boolean): JsonObject {
    const data = editOthers(this.gate, 'event', given, partEventNames, 0);
    const { part } = data;
    if (!isObject(part)) return editOthers(this.gate, 'event', data, noNames, 0);
    const left = this.#anyPart(part, data, isDone);
    return left === part ? data : { ...data, part: left };
  }

  #anyPart(part: JsonObject, place: JsonObject, isDone: boolean): JsonObject {
    const kind = partKinds.get(part.type);
    const key = `output.${String(place.output_index ?? place.item_id ?? 0)}.part`;
    if (kind === undefined) return editOthers(this.gate, key, part, noNames, 0);
    const left = this.#partOf(kind, editOthers(this.gate, key, part, partNames.get(kind) ?? noNames, 0), place, isDone);
    const { logprobs } = left;
    return isFilled(logprobs) && !mayGo(this.gate, key, logprobs ?? null, left[kind.copy], 0) ? { ...left, logprobs: [] } : left;
  }

  /** The part with its text as it went; one that begins may have the first piece of it. */
  #partOf(kind: Kind, part: JsonObject, place: JsonObject, isDone: boolean): JsonObject {
    const given = part[kind.copy];
    if (typeof given !== 'string') return part;
    if (given === '' && !this.#has(kind, place)) return part;
    const slot = this.#slot(kind, place, null);
    if (!isDone) return this.#told(part, kind.copy, given, this.gate.pass(slot.channel, given));
    this.#flushSlot(slot);
    return this.#told(part, kind.copy, given, this.#copy(slot, given));
  }

  #itemEvent(given: JsonObject, isDone: boolean): JsonObject {
    const data = editOthers(this.gate, 'event', given, itemEventNames, 0);
    const { item } = data;
    if (!isObject(item)) return editOthers(this.gate, 'event', data, noNames, 0);
    const output = data.output_index ?? item.id ?? 0;
    if (isDone) this.#flush(output);
    const left = this.#item(item, output, isDone);
    return left === item ? data : { ...data, item: left };
  }

  #response(given: JsonObject): JsonObject {
    const told = given.response;
    const data = editOthers(this.gate, 'event', given, isObject(told) ? responseEventNames : noNames, 0);
    if (!isObject(told)) return data;
    const output = isList(told.output) ? told.output : [];
    const response = editOthers(this.gate, 'response', told, told.output_text === textOfOutput(output) ? responseNames : untoldNames, 0);
    let changed: Json[] | null = null;
    for (let index = 0; index < output.length; index += 1) {
      const item = output[index];
      if (!isObject(item)) continue;
      const left = this.#item(item, this.#outputOf(item, index), true);
      if (left === item) continue;
      changed ??= output.slice();
      changed[index] = left;
    }
    if (changed === null) return response === told ? data : { ...data, response };
    const next: Open = { ...response, output: changed };
    if (typeof response.output_text === 'string') next.output_text = textOfOutput(changed);
    return { ...data, response: next };
  }

  /** Providers without output indexes name their items by the id. */
  #outputOf(item: JsonObject, index: number): Json {
    for (const { output } of this.#slots.values()) if (typeof output === 'string' && output === item.id) return output;
    return index;
  }

  /** The item with its texts as they went. */
  #item(told: JsonObject, output: Json, isDone: boolean): JsonObject {
    const place = { item_id: told.id ?? null, output_index: output };
    const known = knownOf(told.type);
    const item = known === undefined ? told : editOthers(this.gate, `output.${String(output)}`, told, known, 0);
    if (item.type === 'message' || item.type === undefined) return this.#listOf(item, 'content', 'content_index', place, isDone);
    if (item.type === 'reasoning') {
      const left = this.#listOf(this.#listOf(item, 'summary', 'summary_index', place, isDone), 'content', 'content_index', place, isDone);
      // A signature fits only the thought as it was.
      return left !== item && isDone && this.#isThoughtEdited(output) && unseal(item.encrypted_content)?.type === 'signature' ? without(left, 'encrypted_content') : left;
    }
    const kind = itemKinds.get(item.type);
    if (kind === undefined) return this.#wholeItem(item, output, isDone);
    let left = item;
    const given = item[kind.copy];
    if (typeof given === 'string' && (given !== '' || this.#has(kind, place))) {
      const slot = this.#slot(kind, place, null);
      if (isDone) this.#flushSlot(slot);
      left = this.#told(item, kind.copy, given, isDone ? this.#copy(slot, given) : this.gate.pass(slot.channel, given));
    }
    if (kind !== mcpArguments || typeof item.output !== 'string') return left;
    const result = this.#wholeItem({ type: 'mcp_call', output: item.output }, output, isDone);
    return result.output === item.output ? left : { ...left, output: result.output ?? null };
  }

  #isThoughtEdited(output: Json): boolean {
    for (const slot of this.#slots.values()) if (slot.output === output && slot.channel.isEdited) return true;
    return false;
  }

  #listOf(item: JsonObject, member: 'content' | 'summary', index: Exclude<Kind['index'], ''>, place: JsonObject, isDone: boolean): JsonObject {
    const parts = item[member];
    if (!isList(parts)) return item;
    let changed: Json[] | null = null;
    for (let at = 0; at < parts.length; at += 1) {
      const part = parts[at];
      if (!isObject(part)) continue;
      const left = this.#anyPart(part, { ...place, [index]: at }, isDone);
      if (left === part) continue;
      changed ??= parts.slice();
      changed[at] = left;
    }
    return changed === null ? item : { ...item, [member]: changed };
  }

  /** Items whose texts come whole only. What was made of one is kept for the copies that follow. */
  #wholeItem(item: JsonObject, output: Json, isDone: boolean): JsonObject {
    const body = { output: [item] };
    const pieces = answerPieces('responses', body);
    if (pieces.length === 0) return item;
    const given = JSON.stringify(pieces.map((piece) => piece.text));
    const key = String(output);
    const known = this.#wholes.get(key);
    if (known !== undefined && known.given === given) return known.left === null ? item : { ...item, ...known.left };
    const left = editWhole(this.gate, `output.${key}${isDone ? '' : '.added'}`, body, pieces, 'output');
    const changed = isObject(left) ? left : null;
    this.#wholes.set(key, { given, left: changed === null ? null : membersThatDiffer(item, changed) });
    return changed ?? item;
  }

  /** What went of a text, for one of its copies. */
  #copy(slot: Slot, given: string): string {
    const { channel } = slot;
    const { gate } = this;
    if (given === '') return given;
    // Told here for the first time.
    if (channel.seen === 0) return gate.whole(channel, given);
    if (given.length === channel.seen) return channel.isEdited ? channel.written : given;
    if (slot.other !== given) {
      slot.other = given;
      slot.otherResult = gate.whole(gate.passing(`${channel.key}.copy`, channel.kind, channel.group, slot.kind.isJson), given);
    }
    return slot.otherResult;
  }

  #told(object: JsonObject, member: string, given: Json | undefined, left: Json | undefined): JsonObject {
    const hasLogprobs = this.gate.changes && isFilled(object.logprobs);
    if (left === given && !hasLogprobs) return object;
    const copy: Open = { ...object, [member]: left ?? null };
    if (hasLogprobs) copy.logprobs = [];
    return copy;
  }

  #has(kind: Kind, place: JsonObject): boolean {
    return this.#slots.has(keyOf(kind, place));
  }

  #slot(kind: Kind, place: JsonObject, like: JsonObject | null): Slot {
    const output = place.output_index ?? place.item_id ?? 0;
    const index = kind.index === '' ? 0 : place[kind.index] ?? 0;
    const last = this.#last;
    if (last !== null && last.kind === kind && last.output === output && this.#lastIndex === index) return last;
    const key = keyOf(kind, place);
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      slot = { channel: this.gate.open(key, kind.kind, 0, kind.isJson), kind, output, like: like ?? likenessOf(kind, place), other: null, otherResult: '' };
      this.#slots.set(key, slot);
    }
    this.#last = slot;
    this.#lastIndex = index;
    return slot;
  }

  /** The texts of one item end, or all. */
  #flush(output: Json): void {
    for (const slot of this.#slots.values()) if (output === null || slot.output === output) this.#flushSlot(slot);
  }

  #flushSlot({ channel, like }: Slot): void {
    if (channel.seen === 0) return;
    const text = this.gate.flush(channel);
    if (text === '') return;
    const data: Open = {};
    for (const name in like) {
      const value = like[name];
      if (value !== undefined && name !== 'obfuscation') data[name] = value;
    }
    data.delta = text;
    if (data.logprobs !== undefined) data.logprobs = [];
    if (this.#isNumbered) data.sequence_number = this.#number + this.#shift;
    this.#shift += 1;
    this.extra.push({ event: this.#isNamed && typeof like.type === 'string' ? like.type : undefined, data });
  }
}

/** The members of an item that are read one by one; undefined: it is read as a whole. */
function knownOf(type: Json | undefined): ReadonlySet<string> | undefined {
  if (type === undefined || type === 'message') return messageNames;
  if (type === 'reasoning') return reasoningNames;
  const kind = itemKinds.get(type);
  return kind === undefined ? undefined : kind === mcpArguments ? mcpNames : copyNames.get(kind);
}

function membersThatDiffer(before: JsonObject, after: JsonObject): JsonObject {
  const differing: Open = {};
  for (const name in after) {
    const value = after[name];
    if (value !== undefined && value !== before[name]) differing[name] = value;
  }
  return differing;
}
