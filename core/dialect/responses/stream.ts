// Hot: runs for each event of a translated stream.
// Chunks of a chat completion -> events of a response. Every piece is passed on at once; what the provider leaves out of its tool calls
// (ids, names, indexes) is found or waited for. May not end a stream well that the provider did not finish.

import { isObject, listOf, ProviderError, readJson, textOf, thoughtSignatureOf, type AnswerEvent, type EventSink, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { TranslationStage } from '../dialect.js';
import { incompleteReason, responseObject, type Outcome, type ResponseContext } from './envelope.js';
import { ResponseOutput, type Emit } from './output.js';
import { annotationOf, argumentsText, contentText, logprobsOf, plainReasoning } from './pieces.js';
import { tellsError } from '../common/told-error.js';

export class ResponsesStage implements TranslationStage {
  readonly #output: ResponseOutput;
  readonly #emit: Emit;
  /** The output's number of each tool call, by the provider's index. */
  readonly #numbers = new Map<number, number>();
  #out: EventSink | null = null;
  #sequence = 0;
  #isStarted = false;
  #isOver = false;
  #finish = '';
  #usage: Json | undefined = undefined;
  #serviceTier: string | undefined = undefined;
  #lastCall = -1;

  /** `onDone` gets the whole response when the stream ended well, before its last event is written. */
  constructor(readonly context: ResponseContext, readonly onDone: ((response: JsonObject) => void) | null = null) {
    this.#emit = (event) => {
      event.sequence_number = this.#sequence;
      this.#sequence += 1;
      this.#out?.write({ event: event.type, data: event });
    };
    this.#output = new ResponseOutput(context.id, this.#emit);
  }

  /** The number that the next event has, for an error that ends the stream from outside. */
  get nextSequence(): number {
    return this.#sequence;
  }

  push(event: AnswerEvent, out: EventSink): void {
    if (this.#isOver) return;
    let chunk: unknown = event.data;
    if (typeof chunk === 'string') {
      if (chunk.trim() === '[DONE]') {
        if (this.#finish !== '') this.#complete(out);
        return;
      }
      chunk = readJson(chunk);
    }
    if (!isObject(chunk)) return;
    if (tellsError(chunk) || chunk.object === 'error' || event.event === 'error') {
      this.#fail(chunk.error ?? chunk, out);
      return;
    }
    this.#out = out;
    if (isObject(chunk.usage)) this.#usage = chunk.usage;
    if (typeof chunk.service_tier === 'string') this.#serviceTier = chunk.service_tier;
    if (!Array.isArray(chunk.choices)) return;
    this.#start();
    for (const choice of listOf(chunk.choices)) {
      if (!isObject(choice) || (choice.index ?? 0) !== 0) continue;
      if (choice.finish_reason === 'error') {
        this.#fail(choice.error ?? null, out);
        return;
      }
      if (isObject(choice.delta)) this.#delta(choice.delta, choice);
      if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.#finish = choice.finish_reason;
    }
  }

  end(out: EventSink): void {
    if (this.#isOver) return;
    if (this.#finish === '') {
      this.#isOver = true;
      out.fail(new Error('the stream ended before the answer was complete'));
      return;
    }
    this.#complete(out);
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const outcome: Outcome = { status: 'in_progress', output: [] };
    this.#emit({ type: 'response.created', response: responseObject(this.context, outcome) });
    this.#emit({ type: 'response.in_progress', response: responseObject(this.context, outcome) });
  }

  #complete(out: EventSink): void {
    this.#isOver = true;
    this.#out = out;
    const incomplete = incompleteReason(this.#finish);
    const status = incomplete === undefined ? 'completed' : 'incomplete';
    const output = this.#output.close(incomplete !== undefined);
    const response = responseObject(this.context, { status, output, incomplete, usage: this.#usage, serviceTier: this.#serviceTier });
    this.onDone?.(response);
    this.#emit({ type: `response.${status}`, response });
  }

  #fail(error: Json, out: EventSink): void {
    this.#isOver = true;
    const said = isObject(error) ? error : { message: error };
    const code = said.code;
    const status = typeof said.status === 'number' ? said.status : typeof code === 'number' ? code : undefined;
    out.fail(new ProviderError(textOf(said.message) || 'the provider broke off with an error', {
      status: status !== undefined && status >= 400 && status < 600 ? status : undefined,
      type: textOf(said.type) || undefined,
      code: typeof code === 'number' ? String(code) : textOf(code) || undefined,
    }));
  }

  #delta(delta: JsonObject, choice: JsonObject): void {
    const blocks = listOf(delta.content_blocks);
    const text = contentText(delta.content);
    const logprobs = logprobsOf(choice);
    if (blocks.length === 0) {
      const reasoning = plainReasoning(delta);
      if (reasoning !== '') this.#output.reasoning(reasoning, 0);
    } else {
      for (const block of blocks) if (isObject(block)) this.#block(block, text === '');
    }
    if (text !== '' || (logprobs !== null && logprobs.length > 0)) this.#output.text(text, logprobs);
    const refusal = textOf(delta.refusal);
    if (refusal !== '') this.#output.refusal(refusal);
    for (const annotation of listOf(delta.annotations)) {
      const told = annotationOf(annotation);
      if (told !== undefined) this.#output.annotation(told);
    }
    for (const toolCall of listOf(delta.tool_calls)) if (isObject(toolCall)) this.#toolCall(toolCall);
  }

  /** One piece of a content block: `delta` of one that is open, or `content_block` whole. The text of it is the content's, if that is there. */
  #block(block: JsonObject, isTextHere: boolean): void {
    const piece = isObject(block.delta) ? block.delta : isObject(block.content_block) ? block.content_block : block;
    const index = typeof block.index === 'number' ? block.index : 0;
    if (piece.type === 'redacted_thinking') {
      this.#output.redacted(textOf(piece.data));
      return;
    }
    const thinking = textOf(piece.thinking);
    const signature = textOf(piece.signature);
    const text = textOf(piece.text);
    if (thinking !== '') this.#output.reasoning(thinking, index);
    if (signature !== '') this.#output.signature(signature, index);
    if (isTextHere && text !== '') this.#output.text(text);
  }

  #toolCall(toolCall: JsonObject): void {
    const called = isObject(toolCall.function) ? toolCall.function : {};
    const id = textOf(toolCall.id);
    const name = textOf(called.name);
    const number = this.#numberOf(toolCall.index, id, name);
    this.#lastCall = number;
    this.#output.call(number, id, name, argumentsText(called.arguments), thoughtSignatureOf(toolCall) ?? '');
  }

  /** Which call this piece belongs to; a new one when it is none of those before. */
  #numberOf(index: Json | undefined, id: string, name: string): number {
    if (typeof index === 'number') {
      const known = this.#numbers.get(index);
      // Some providers give every parallel call the same index: another id together with a name is another call.
      if (known !== undefined && !(id !== '' && name !== '' && this.#isOther(known, id))) return known;
      const number = known === undefined ? this.#output.newCall() : this.#byId(id) ?? this.#output.newCall();
      this.#numbers.set(index, number);
      return number;
    }
    if (id !== '') return this.#byId(id) ?? (this.#isWaitingForId(name) ? this.#lastCall : this.#output.newCall());
    if (this.#lastCall === -1) return this.#output.newCall();
    return name !== '' && this.#isAnother(this.#lastCall, name) ? this.#output.newCall() : this.#lastCall;
  }

  #isOther(number: number, id: string): boolean {
    const known = this.#output.callIdOf(number);
    return known !== '' && known !== id;
  }

  #byId(id: string): number | undefined {
    for (let number = this.#output.callCount() - 1; number >= 0; number -= 1) if (this.#output.callIdOf(number) === id) return number;
    return undefined;
  }

  /** The id comes after the name. */
  #isWaitingForId(name: string): boolean {
    return this.#lastCall !== -1 && name === '' && this.#output.callIdOf(this.#lastCall) === '';
  }

  /** Without index and id: the name is another one, or the call before is whole already. */
  #isAnother(number: number, name: string): boolean {
    const known = this.#output.callNameOf(number);
    if (known !== '' && known !== name) return true;
    try {
      JSON.parse(this.#output.callArgumentsOf(number));
      return true;
    } catch {
      return false;
    }
  }
}
