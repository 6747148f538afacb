// Hot: runs for each event of a streamed message that a check reads.
// The texts in the events of Anthropic's Messages API: one for each content block. A block's text ends with the block, that of thinking
// with its signature, which is left out when the thinking was edited.

import { answerPieces, isObject, type AnswerEvent, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { isList, type Deltas } from './deltas.js';
import type { Channel, TextGate } from './text-gate.js';
import { editWhole } from './whole-texts.js';

interface Block {
  readonly channel: Channel;
  readonly index: Json;
  readonly type: 'text_delta' | 'thinking_delta' | 'input_json_delta';
}

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

  read(event: AnswerEvent, data: JsonObject): AnswerEvent | null {
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
    const { delta } = data;
    if (!isObject(delta)) return event;
    const { type } = delta;
    this.#isNamed = event.event !== undefined;
    if (type === 'signature_delta') {
      const block = this.#open.get(data.index ?? 0);
      if (block === undefined) return event;
      this.#flush(block);
      return block.channel.isEdited ? null : event;
    }
    if (type !== 'text_delta' && type !== 'thinking_delta' && type !== 'input_json_delta') return event;
    const member = memberOf[type];
    const text = delta[member];
    if (typeof text !== 'string' || text === '') return event;
    const released = this.gate.pass(this.#block(data.index ?? 0, type).channel, text);
    if (released === text) return event;
    return released === '' ? null : { event: event.event, data: { ...data, delta: { ...delta, [member]: released } } };
  }

  /** A block may begin with text, and those without deltas come whole. */
  #start(event: AnswerEvent, data: JsonObject): AnswerEvent {
    const block = data.content_block;
    if (!isObject(block)) return event;
    this.#isNamed = event.event !== undefined;
    const index = data.index ?? 0;
    let left: Json = block;
    if (block.type === 'text' || block.type === 'thinking') {
      const type = block.type === 'text' ? 'text_delta' : 'thinking_delta';
      const text = block[block.type];
      if (typeof text === 'string' && text !== '') {
        const { channel } = this.#block(index, type);
        const isSigned = typeof block.signature === 'string' && block.signature !== '';
        const released = this.gate.pass(channel, text) + (isSigned ? this.gate.flush(channel) : '');
        if (released !== text) left = { ...block, [block.type]: released };
        if (isSigned && channel.isEdited && isObject(left)) left = { ...left, signature: '' };
      }
    } else {
      left = this.#whole(block, index);
    }
    return left === block ? event : { event: event.event, data: { ...data, content_block: left } };
  }

  /** Some begin with a message that has content already. */
  #message(event: AnswerEvent, data: JsonObject): AnswerEvent {
    const { message } = data;
    if (!isObject(message) || !isList(message.content) || message.content.length === 0) return event;
    let isChanged = false;
    const content = message.content.map((block, index) => {
      const left = this.#whole(block, `start.${index}`);
      if (left !== block) isChanged = true;
      return left;
    });
    return isChanged ? { event: event.event, data: { ...data, message: { ...message, content } } } : event;
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
