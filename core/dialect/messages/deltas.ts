// Hot: runs for each event of a streamed message that a check reads.
// The texts in the events of Anthropic's Messages API: one for each content block. A block's text ends with the block, that of thinking
// with its signature, which is left out when the thinking was edited.

import { answerPieces, isList, isObject, type AnswerEvent, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { Deltas } from '../common/deltas.js';
import type { Channel, TextGate } from '../common/text-gate.js';
import { editOthers, editWhole } from '../common/whole-texts.js';

interface Block {
  readonly channel: Channel;
  readonly index: Json;
  readonly type: 'text_delta' | 'thinking_delta' | 'input_json_delta';
}

/** What is read as a text of its own, or holds such: of an event, of a delta and of a block, by their types. */
const eventNames: ReadonlyMap<Json | undefined, ReadonlySet<string>> = new Map([
  ['content_block_delta', new Set(['delta'])], ['content_block_start', new Set(['content_block'])], ['message_start', new Set(['message'])],
]);
const deltaNames: ReadonlyMap<Json | undefined, ReadonlySet<string>> = new Map([
  ['text_delta', new Set(['text'])], ['thinking_delta', new Set(['thinking'])], ['input_json_delta', new Set(['partial_json'])],
]);
const blockNames: ReadonlyMap<Json, ReadonlySet<string>> = new Map([['text', new Set(['text'])], ['thinking', new Set(['thinking'])]]);
const messageNames: ReadonlySet<string> = new Set(['content']);
const noNames: ReadonlySet<string> = new Set();

/** The member of a delta, or of a block, that holds the text. */
const memberOf = { text_delta: 'text', thinking_delta: 'thinking', input_json_delta: 'partial_json' } as const;
const kindOf = { text_delta: 'text', thinking_delta: 'thinking', input_json_delta: 'arguments' } as const;

export class MessagesDeltas implements Deltas {
  readonly extra: AnswerEvent[] = [];
  readonly mayRest = true;
  readonly nextSequence = 0;
  /** Those whose text may go on. */
  readonly #open = new Map<Json, Block>();
  #isNamed = true;

  constructor(readonly gate: TextGate) {}

  read(given: AnswerEvent, parsed: JsonObject): AnswerEvent | null {
    const { gate } = this;
    const data = editOthers(gate, 'event', parsed, eventNames.get(parsed.type) ?? noNames, 0);
    if (gate.isDenied) return null;
    const event = data === parsed ? given : { event: given.event, data };
    switch (data.type) {
      case 'content_block_delta': return this.#delta(event, data);
      case 'content_block_start': return this.#start(event, data);
      case 'content_block_stop': {
        const block = this.#open.get(data.index ?? 0);
        if (block !== undefined) this.#flush(block);
        this.#open.delete(data.index ?? 0);
        return event;
      }
      // Blocks that were not stopped end here.
      case 'message_delta': case 'message_stop': case 'error': this.end(); return event;
      case 'message_start': return this.#message(event, data);
      default: return event;
    }
  }

  end(): void {
    if (this.#open.size === 0) return;
    for (const block of this.#open.values()) this.#flush(block);
    this.#open.clear();
  }

  #delta(event: AnswerEvent, data: JsonObject): AnswerEvent | null {
    const told = data.delta;
    if (!isObject(told)) return this.#bare(event, data);
    const delta = editOthers(this.gate, `content.${String(data.index ?? 0)}.delta`, told, deltaNames.get(told.type) ?? noNames, 0);
    if (this.gate.isDenied) return null;
    const { type } = delta;
    const same = delta === told ? event : { event: event.event, data: { ...data, delta } };
    this.#isNamed = event.event !== undefined;
    if (type === 'signature_delta') {
      const block = this.#open.get(data.index ?? 0);
      if (block === undefined) return same;
      this.#flush(block);
      return block.channel.isEdited ? null : same;
    }
    if (type !== 'text_delta' && type !== 'thinking_delta' && type !== 'input_json_delta') return same;
    const member = memberOf[type];
    const text = delta[member];
    if (typeof text !== 'string' || text === '') return same;
    const released = this.gate.pass(this.#block(data.index ?? 0, type).channel, text);
    if (released === text) return same;
    return released === '' ? null : { event: event.event, data: { ...data, delta: { ...delta, [member]: released } } };
  }

  /** What is not an object where one should be. */
  #bare(event: AnswerEvent, data: JsonObject): AnswerEvent {
    const left = editOthers(this.gate, 'event', data, noNames, 0);
    return left === data ? event : { event: event.event, data: left };
  }

  /** A block may begin with text, and those without deltas come whole. */
  #start(event: AnswerEvent, data: JsonObject): AnswerEvent {
    const block = data.content_block;
    if (!isObject(block)) return this.#bare(event, data);
    this.#isNamed = event.event !== undefined;
    const index = data.index ?? 0;
    let left: Json = block;
    if (block.type === 'text' || block.type === 'thinking') {
      left = editOthers(this.gate, `content.${String(index)}`, block, blockNames.get(block.type) ?? noNames, 0);
      const type = block.type === 'text' ? 'text_delta' : 'thinking_delta';
      const text = block[block.type];
      if (typeof text === 'string' && text !== '') {
        const { channel } = this.#block(index, type);
        const isSigned = typeof block.signature === 'string' && block.signature !== '';
        const released = this.gate.pass(channel, text) + (isSigned ? this.gate.flush(channel) : '');
        if (released !== text) left = { ...left, [block.type]: released };
        if (isSigned && channel.isEdited && isObject(left)) left = { ...left, signature: '' };
      }
    } else {
      left = this.#whole(block, index);
    }
    return left === block ? event : { event: event.event, data: { ...data, content_block: left } };
  }

  /** Some begin with a message that has content already. */
  #message(event: AnswerEvent, data: JsonObject): AnswerEvent {
    if (!isObject(data.message)) return this.#bare(event, data);
    const message = editOthers(this.gate, 'message', data.message, messageNames, 0);
    let isChanged = message !== data.message;
    const told = isList(message.content) ? message.content : [];
    const content = told.map((block, index) => {
      const left = this.#whole(block, `start.${index}`);
      if (left !== block) isChanged = true;
      return left;
    });
    return isChanged ? { event: event.event, data: { ...data, message: told.length === 0 ? message : { ...message, content } } } : event;
  }

  #whole(block: Json, index: Json): Json {
    const pieces = answerPieces('messages', { content: [block] });
    return editWhole(this.gate, `content.${String(index)}`, { content: [block] }, pieces, 'content') ?? block;
  }

  #block(index: Json, type: Block['type']): Block {
    let block = this.#open.get(index);
    if (block === undefined || block.type !== type) {
      if (block !== undefined) this.#flush(block);
      block = { channel: this.gate.open(`content.${String(index)}.${memberOf[type]}`, kindOf[type], 0, type === 'input_json_delta'), index, type };
      this.#open.set(index, block);
    }
    return block;
  }

  #flush({ channel, index, type }: Block): void {
    const text = this.gate.flush(channel);
    if (text === '') return;
    const data = { type: 'content_block_delta', index, delta: { type, [memberOf[type]]: text } };
    this.extra.push({ event: this.#isNamed ? data.type : undefined, data });
  }
}
