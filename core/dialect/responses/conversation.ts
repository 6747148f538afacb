// Items of a response's input -> messages of a chat. Runs once for each translated request.
// Everything that one turn of the assistant consists of (texts, reasoning, parallel tool calls) is gathered in one message, because
// providers want the answers to tool calls right behind the message with all of the calls. May not drop an item that it does not know.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { TranslateContext } from '../context.js';
import { cacheMark, chatContent, chatPart, compact, type Open } from './parts.js';
import { unseal } from './reasoning.js';

interface Turn {
  readonly texts: string[];
  /** Reasoning and the texts between, in order. */
  readonly blocks: Json[];
  readonly toolCalls: Open[];
  refusal: string;
  hasReasoning: boolean;
  cacheMark: JsonObject;
}

const textIn = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

export class Conversation {
  readonly #messages: Json[] = [];
  readonly #known = new Set<string>();
  readonly #calls = new Map<string, Open>();
  readonly #unanswered = new Map<string, string>();
  readonly #signatures = new Map<string, string>();
  /** The message that each call is in. */
  readonly #homes = new Map<string, JsonObject>();
  #turn: Turn | null = null;
  /** What tools gave beside text; told behind the last of their messages. */
  #media: Json[] = [];

  constructor(readonly context: TranslateContext) {}

  system(text: string): void {
    this.#flush();
    this.#messages.push({ role: 'system', content: text });
  }

  /** Ids of items that `item_reference` may name: they are in the conversation already. */
  know(items: readonly Json[]): void {
    for (const item of items) if (isObject(item) && typeof item.id === 'string') this.#known.add(item.id);
  }

  add(item: Json, place: string): void {
    const { context } = this;
    if (!isObject(item)) return context.refuse(place, 'must be an object with a type');
    switch (typeOf(item)) {
      case 'message': return this.#message(item, place);
      case 'reasoning': return this.#reasoning(item);
      case 'function_call': return this.#functionCall(item, place);
      case 'function_call_output': return this.#functionOutput(item, place);
      case 'item_reference': {
        const id = textIn(item.id) ?? context.refuse(`${place}.id`, 'must be the id of an item');
        if (!this.#known.has(id)) context.refuse(`${place}.id`, `no item ${id} is known in this conversation; send the item itself`);
        return;
      }
      case '': return context.refuse(`${place}.type`, 'must be a text');
      default: return context.refuse(`${place}.type`, `items of type ${typeOf(item)} belong to a tool or feature that this provider does not have`);
    }
  }

  messages(): Json[] {
    for (const [id, place] of this.#unanswered) this.context.refuse(place, `there is no function_call_output for the function call ${id}; add one`);
    this.#flush();
    return this.#messages;
  }

  #message(item: JsonObject, place: string): void {
    const { context } = this;
    switch (item.role) {
      case 'user':
        this.#flush();
        this.#messages.push({ role: 'user', content: chatContent(item.content, `${place}.content`, context), ...cacheMark(item, context) });
        return;
      case 'system': case 'developer': {
        const content = chatContent(item.content, `${place}.content`, context);
        if (Array.isArray(content)) {
          content.forEach((part: Json, index) => {
            if (isObject(part) && part.type !== 'text') context.refuse(`${place}.content[${index}].type`, `a ${String(item.role)} message holds text only`);
          });
        }
        this.#flush();
        this.#messages.push({ role: 'system', content, ...cacheMark(item, context) });
        return;
      }
      case 'assistant': return this.#assistant(item, place);
      default: return context.refuse(`${place}.role`, 'must be user, assistant, system or developer');
    }
  }

  #assistant(item: JsonObject, place: string): void {
    const { context } = this;
    const turn = this.#assistantTurn();
    const { content } = item;
    let text = '';
    if (typeof content === 'string') text = content;
    else if (!Array.isArray(content)) context.refuse(`${place}.content`, 'must be a text or a list of parts');
    else {
      content.forEach((part: Json, index) => {
        const at = `${place}.content[${index}]`;
        if (isObject(part) && part.type === 'refusal') {
          turn.refusal += textIn(part.refusal) ?? context.refuse(`${at}.refusal`, 'must be a text');
          return;
        }
        const wire = chatPart(part, at, context);
        if (typeof wire.text !== 'string') context.refuse(`${at}.type`, 'an assistant message holds output_text and refusal only');
        else text += wire.text;
      });
    }
    turn.cacheMark = { ...turn.cacheMark, ...cacheMark(item, context) };
    if (text === '') return;
    turn.texts.push(text);
    turn.blocks.push({ type: 'text', text });
  }

  /** Only what came from a provider by way of this gateway means anything to a provider; reasoning of others is left out. */
  #reasoning(item: JsonObject): void {
    const { accepts } = this.context;
    const sealed = unseal(item.encrypted_content);
    if (sealed === undefined) return;
    if (sealed.type === 'thought_signature') {
      if (!accepts.has('thought_signature')) return;
      this.#signatures.set(sealed.call_id, sealed.signature);
      const call = this.#calls.get(sealed.call_id);
      if (call !== undefined) call.thought_signature = sealed.signature;
      return;
    }
    if (!accepts.has('thinking')) return;
    const turn = this.#assistantTurn();
    turn.hasReasoning = true;
    turn.blocks.push(sealed.type === 'redacted'
      ? { type: 'redacted_thinking', data: sealed.data }
      : { type: 'thinking', thinking: summaryText(item), signature: sealed.signature });
  }

  #functionCall(item: JsonObject, place: string): void {
    const { context } = this;
    const id = textIn(item.call_id) ?? context.refuse(`${place}.call_id`, 'must be a text');
    const name = textIn(item.name) ?? context.refuse(`${place}.name`, 'must be a text');
    const call: Open = { id, type: 'function', function: { name, arguments: textIn(item.arguments) ?? context.refuse(`${place}.arguments`, 'must be a text') } };
    const signature = this.#signatures.get(id);
    if (signature !== undefined) call.thought_signature = signature;
    this.#assistantTurn().toolCalls.push(call);
    this.#calls.set(id, call);
    this.#unanswered.set(id, place);
  }

  #functionOutput(item: JsonObject, place: string): void {
    const { context } = this;
    const id = textIn(item.call_id) ?? context.refuse(`${place}.call_id`, 'must be a text');
    if (!this.#calls.has(id)) context.refuse(`${place}.call_id`, `there is no function call ${id} before this output`);
    this.#unanswered.delete(id);
    this.#flushTurn();
    const texts: Json[] = [];
    const media: Json[] = [];
    const { output } = item;
    if (typeof output === 'string') texts.push({ type: 'text', text: output });
    else if (!Array.isArray(output)) context.refuse(`${place}.output`, 'must be a text or a list of parts');
    else {
      output.forEach((part: Json, index) => {
        const wire = chatPart(part, `${place}.output[${index}]`, context);
        (wire.type === 'text' ? texts : media).push(wire);
      });
    }
    if (media.length > 0) this.#media.push({ type: 'text', text: `Output of the tool call ${id}:` }, ...media);
    const content = texts.length === 0 ? (media.length === 0 ? '' : 'The output follows in the next message.') : compact(texts);
    this.#answer(id, { role: 'tool', tool_call_id: id, content });
  }

  /** Right behind the call and the answers to its neighbours, though the client may have put something else between. */
  #answer(id: string, message: JsonObject): void {
    const home = this.#homes.get(id);
    let at = home === undefined ? this.#messages.length : this.#messages.lastIndexOf(home) + 1;
    for (let next = this.#messages[at]; isObject(next) && next.role === 'tool'; next = this.#messages[at]) at += 1;
    this.#messages.splice(at, 0, message);
  }

  #assistantTurn(): Turn {
    if (this.#turn === null) {
      this.#flush();
      this.#turn = { texts: [], blocks: [], toolCalls: [], refusal: '', hasReasoning: false, cacheMark: {} };
    }
    return this.#turn;
  }

  #flush(): void {
    this.#flushTurn();
    if (this.#media.length === 0) return;
    this.#messages.push({ role: 'user', content: this.#media });
    this.#media = [];
  }

  #flushTurn(): void {
    const turn = this.#turn;
    if (turn === null) return;
    this.#turn = null;
    const text = turn.texts.join('\n\n');
    // Nothing was said, or nothing but reasoning before the answer was cut off: providers refuse such a message.
    if (text === '' && turn.toolCalls.length === 0 && turn.refusal === '') return;
    const message: Open = { role: 'assistant', content: text === '' ? null : text };
    if (turn.refusal !== '') message.refusal = turn.refusal;
    if (turn.hasReasoning) message.content_blocks = turn.blocks;
    if (turn.toolCalls.length > 0) message.tool_calls = turn.toolCalls;
    Object.assign(message, turn.cacheMark);
    for (const { id } of turn.toolCalls) if (typeof id === 'string') this.#homes.set(id, message);
    this.#messages.push(message);
  }
}

/** The type may be left out of messages and of references. */
export function typeOf(item: JsonObject): string {
  if (typeof item.type === 'string') return item.type;
  if (typeof item.role === 'string') return 'message';
  return typeof item.id === 'string' ? 'item_reference' : '';
}

function summaryText(item: JsonObject): string {
  if (!Array.isArray(item.summary)) return '';
  return item.summary.map((part: Json) => (isObject(part) ? textIn(part.text) ?? '' : '')).join('');
}
