// Hot: runs for each piece of a translated answer.
// Builds the output items of a response from the pieces of a chat answer and tells each step as an event of the streamed form. Plain and
// streamed answers go through here alike, which is why they end as the same items. May not know where the pieces come from.

import type { Json } from '@gateway/plugin-sdk';
import { seal } from './reasoning.js';

type Open = Record<string, Json>;

/** Gets each event without its `sequence_number`, which it may add: the object is made for it. */
export type Emit = (event: Open & { readonly type: string }) => void;

interface OpenMessage {
  readonly kind: 'message';
  readonly index: number;
  readonly id: string;
  readonly parts: Json[];
  part: 'text' | 'refusal' | '';
  text: string;
  logprobs: Json[];
  annotations: Json[];
}

interface OpenReasoning {
  readonly kind: 'reasoning';
  readonly index: number;
  readonly id: string;
  /** The provider's number of the block; another one is another item. */
  readonly block: number;
  text: string;
}

interface Call {
  /** Of the output; -1: not told yet, because its id or its name is not known. */
  index: number;
  id: string;
  callId: string;
  name: string;
  arguments: string;
  signature: string;
}

export class ResponseOutput {
  readonly #suffix: string;
  /** By output index; a hole is an item that is still open. */
  readonly #done: Json[] = [];
  readonly #calls: Call[] = [];
  #count = 0;
  #open: OpenMessage | OpenReasoning | null = null;
  #annotations: Json[] = [];

  /** Ids of items are the response's, with another prefix and a count. `emit` null: nobody listens. */
  constructor(responseId: string, readonly emit: Emit | null) {
    this.#suffix = responseId.startsWith('resp_') ? responseId.slice(5) : responseId;
  }

  text(piece: string, logprobs: readonly Json[] | null = null): void {
    const message = this.#part('text');
    message.text += piece;
    if (logprobs !== null) for (const entry of logprobs) message.logprobs.push(entry);
    this.emit?.({
      type: 'response.output_text.delta', item_id: message.id, output_index: message.index, content_index: message.parts.length, delta: piece, logprobs: logprobs ?? [],
    });
  }

  refusal(piece: string): void {
    const message = this.#part('refusal');
    message.text += piece;
    this.emit?.({ type: 'response.refusal.delta', item_id: message.id, output_index: message.index, content_index: message.parts.length, delta: piece });
  }

  /** In the shape of responses. Waits for a text when none is open. */
  annotation(annotation: Json): void {
    const open = this.#open;
    if (open === null || open.kind !== 'message' || open.part !== 'text') {
      this.#annotations.push(annotation);
      return;
    }
    this.#annotate(open, annotation);
  }

  reasoning(piece: string, block: number): void {
    const open = this.#reasoning(block);
    if (open.text === '') this.emit?.({ type: 'response.reasoning_summary_part.added', item_id: open.id, output_index: open.index, summary_index: 0, part: { type: 'summary_text', text: '' } });
    open.text += piece;
    this.emit?.({ type: 'response.reasoning_summary_text.delta', item_id: open.id, output_index: open.index, summary_index: 0, delta: piece });
  }

  /** Of the reasoning before it; ends that item. */
  signature(signature: string, block: number): void {
    this.#closeReasoning(this.#reasoning(block), seal({ type: 'signature', signature }), false);
  }

  redacted(data: string): void {
    this.#sealed(seal({ type: 'redacted', data }));
  }

  /** Begins a tool call, to be named by the number that this returns. */
  newCall(): number {
    return this.#calls.push({ index: -1, id: '', callId: '', name: '', arguments: '', signature: '' }) - 1;
  }

  /** More of a tool call; '' for what this piece does not tell. The item is told as soon as its id and its name are known. */
  call(number: number, callId: string, name: string, piece: string, signature: string): void {
    const call = this.#calls[number];
    if (call === undefined) return;
    if (call.callId === '') call.callId = callId;
    if (call.name === '') call.name = name;
    call.arguments += piece;
    if (call.index === -1) {
      if (signature !== '') call.signature = signature;
      if (call.callId !== '' && call.name !== '') this.#openCall(call);
      return;
    }
    // Too late to stand before the call: it names the call, so that it is understood behind it as well.
    if (signature !== '' && call.signature === '') {
      call.signature = signature;
      this.#sealed(seal({ type: 'thought_signature', call_id: call.callId, signature }));
    }
    if (piece !== '') this.emit?.({ type: 'response.function_call_arguments.delta', item_id: call.id, output_index: call.index, delta: piece });
  }

  callCount(): number {
    return this.#calls.length;
  }

  callIdOf(number: number): string {
    return this.#calls[number]?.callId ?? '';
  }

  callNameOf(number: number): string {
    return this.#calls[number]?.name ?? '';
  }

  callArgumentsOf(number: number): string {
    return this.#calls[number]?.arguments ?? '';
  }

  /** Closes what is open and gives all items. `isIncomplete`: the answer was cut off, and with it the last item. */
  close(isIncomplete: boolean): readonly Json[] {
    for (const [number, call] of this.#calls.entries()) {
      if (call.index !== -1) continue;
      if (call.callId === '') call.callId = `call_${this.#suffix}_${number}`;
      this.#openCall(call);
    }
    if (this.#count === 0) this.#part('text');
    const last = this.#count - 1;
    const open = this.#open;
    if (open !== null) this.#closeOpen(isIncomplete && open.index === last);
    for (const call of this.#calls) this.#closeCall(call, isIncomplete && call.index === last);
    return this.#done;
  }

  #next(): number {
    const index = this.#count;
    this.#count += 1;
    return index;
  }

  #added(index: number, item: Json): void {
    this.emit?.({ type: 'response.output_item.added', output_index: index, item });
  }

  #finished(index: number, item: Json): void {
    this.#done[index] = item;
    this.emit?.({ type: 'response.output_item.done', output_index: index, item });
  }

  #closeOpen(isIncomplete: boolean): void {
    const open = this.#open;
    if (open === null) return;
    if (open.kind === 'message') this.#closeMessage(open, isIncomplete);
    else this.#closeReasoning(open, null, isIncomplete);
  }

  /** The open message, with a part of this type open. */
  #part(type: 'text' | 'refusal'): OpenMessage {
    let message = this.#open;
    if (message === null || message.kind !== 'message') {
      this.#closeOpen(false);
      const index = this.#next();
      message = { kind: 'message', index, id: `msg_${this.#suffix}_${index}`, parts: [], part: '', text: '', logprobs: [], annotations: [] };
      this.#open = message;
      this.#added(index, { id: message.id, type: 'message', status: 'in_progress', role: 'assistant', content: [] });
    }
    if (message.part === type) return message;
    this.#closePart(message);
    message.part = type;
    this.emit?.({
      type: 'response.content_part.added', item_id: message.id, output_index: message.index, content_index: message.parts.length,
      part: type === 'text' ? { type: 'output_text', text: '', annotations: [], logprobs: [] } : { type: 'refusal', refusal: '' },
    });
    if (type === 'text' && this.#annotations.length > 0) {
      const waiting = this.#annotations;
      this.#annotations = [];
      for (const annotation of waiting) this.#annotate(message, annotation);
    }
    return message;
  }

  #annotate(message: OpenMessage, annotation: Json): void {
    const index = message.annotations.push(annotation) - 1;
    this.emit?.({
      type: 'response.output_text.annotation.added', item_id: message.id, output_index: message.index, content_index: message.parts.length, annotation_index: index, annotation,
    });
  }

  #closePart(message: OpenMessage): void {
    if (message.part === '') return;
    const place = { item_id: message.id, output_index: message.index, content_index: message.parts.length };
    let part: Json;
    if (message.part === 'text') {
      part = { type: 'output_text', text: message.text, annotations: message.annotations, logprobs: message.logprobs };
      this.emit?.({ type: 'response.output_text.done', ...place, text: message.text, logprobs: message.logprobs });
    } else {
      part = { type: 'refusal', refusal: message.text };
      this.emit?.({ type: 'response.refusal.done', ...place, refusal: message.text });
    }
    this.emit?.({ type: 'response.content_part.done', ...place, part });
    message.parts.push(part);
    message.part = '';
    message.text = '';
    message.logprobs = [];
    message.annotations = [];
  }

  #closeMessage(message: OpenMessage, isIncomplete: boolean): void {
    this.#closePart(message);
    this.#open = null;
    this.#finished(message.index, { id: message.id, type: 'message', status: isIncomplete ? 'incomplete' : 'completed', role: 'assistant', content: message.parts });
  }

  #reasoning(block: number): OpenReasoning {
    const open = this.#open;
    if (open !== null && open.kind === 'reasoning' && open.block === block) return open;
    this.#closeOpen(false);
    const index = this.#next();
    const reasoning: OpenReasoning = { kind: 'reasoning', index, id: `rs_${this.#suffix}_${index}`, block, text: '' };
    this.#open = reasoning;
    this.#added(index, { id: reasoning.id, type: 'reasoning', status: 'in_progress', summary: [] });
    return reasoning;
  }

  #closeReasoning(reasoning: OpenReasoning, sealed: string | null, isIncomplete: boolean): void {
    this.#open = null;
    const summary: Json[] = [];
    if (reasoning.text !== '') {
      const part = { type: 'summary_text', text: reasoning.text };
      summary.push(part);
      this.emit?.({ type: 'response.reasoning_summary_text.done', item_id: reasoning.id, output_index: reasoning.index, summary_index: 0, text: reasoning.text });
      this.emit?.({ type: 'response.reasoning_summary_part.done', item_id: reasoning.id, output_index: reasoning.index, summary_index: 0, part });
    }
    const item: Open = { id: reasoning.id, type: 'reasoning', status: isIncomplete ? 'incomplete' : 'completed', summary };
    if (sealed !== null) item.encrypted_content = sealed;
    this.#finished(reasoning.index, item);
  }

  /** A reasoning item without a text to read. */
  #sealed(sealed: string): void {
    this.#closeReasoning(this.#reasoning(-1), sealed, false);
  }

  #openCall(call: Call): void {
    this.#closeOpen(false);
    if (call.signature !== '') this.#sealed(seal({ type: 'thought_signature', call_id: call.callId, signature: call.signature }));
    call.index = this.#next();
    call.id = `fc_${this.#suffix}_${call.index}`;
    this.#added(call.index, { id: call.id, type: 'function_call', status: 'in_progress', call_id: call.callId, name: call.name, arguments: '' });
    if (call.arguments !== '') this.emit?.({ type: 'response.function_call_arguments.delta', item_id: call.id, output_index: call.index, delta: call.arguments });
  }

  #closeCall(call: Call, isIncomplete: boolean): void {
    this.emit?.({ type: 'response.function_call_arguments.done', item_id: call.id, output_index: call.index, name: call.name, arguments: call.arguments });
    this.#finished(call.index, { id: call.id, type: 'function_call', status: isIncomplete ? 'incomplete' : 'completed', call_id: call.callId, name: call.name, arguments: call.arguments });
  }
}
