import {
  ChatStreamWriter, isObject, ProviderError, readJson, textOf, type EventSink, type EventStage, type Json, type JsonObject, type ProviderCall,
  type SseEvent,
} from '@gateway/plugin-sdk';
import { annotationsOf, finishOf, logprobsOf, readToolCall, usageOf } from './chat-answer.js';

/** Cohere's stream events as chunks. The stream is whole only when `message-end` came. */
export class ChatStage implements EventStage {
  readonly #call: ProviderCall;
  readonly #writer: ChatStreamWriter;
  /** The provider's index of a tool call -> ours. */
  readonly #tools = new Map<number, number>();
  /** Where the text of each content block begins in the whole answer, for citations. */
  readonly #offsets = new Map<number, number>();
  #textLength = 0;
  #isOver = false;

  constructor(call: ProviderCall) {
    this.#call = call;
    this.#writer = new ChatStreamWriter(call);
  }

  push(event: SseEvent, out: EventSink): void {
    if (this.#isOver || event.data === '' || event.data === '[DONE]') return;
    const data = readJson(event.data);
    if (!isObject(data)) return;
    const delta = isObject(data.delta) ? data.delta : {};
    const message = isObject(delta.message) ? delta.message : {};
    const index = typeof data.index === 'number' ? data.index : 0;
    const writer = this.#writer;
    switch (data.type) {
      case 'message-start':
        if (textOf(data.id) !== '') writer.id = textOf(data.id);
        writer.start(out);
        return;
      case 'content-start':
        writer.endBlock();
        this.#offsets.set(index, this.#textLength);
        this.#content(message.content, undefined, out);
        return;
      case 'content-delta': this.#content(message.content, data.logprobs, out); return;
      case 'content-end': writer.endBlock(); return;
      case 'tool-plan-delta': writer.thinking(out, textOf(message.tool_plan)); return;
      case 'tool-call-start': this.#tools.set(index, writer.toolCall(out, readToolCall(firstOf(message.tool_calls), this.#call))); return;
      case 'tool-call-delta': this.#arguments(index, firstOf(message.tool_calls), out); return;
      case 'citation-start': this.#citation(firstOf(message.citations), out); return;
      case 'message-end': this.#end(delta, out); return;
      default:
        // An error has no type of an event, or that of its own.
        if ((data.type === undefined || data.type === 'error') && textOf(data.message) !== '') this.#fail(new ProviderError(textOf(data.message)), out);
    }
  }

  end(out: EventSink): void {
    if (!this.#isOver) this.#writer.end(out);
  }

  #content(content: Json | undefined, logprobs: Json | undefined, out: EventSink): void {
    if (!isObject(content)) return;
    this.#writer.thinking(out, textOf(content.thinking));
    const text = textOf(content.text);
    this.#textLength += text.length;
    this.#writer.text(out, text, 0, logprobs === undefined ? undefined : logprobsOf(logprobs));
  }

  #arguments(index: number, toolCall: Json, out: EventSink): void {
    const at = this.#tools.get(index);
    if (at === undefined || !isObject(toolCall) || !isObject(toolCall.function)) return;
    this.#writer.toolArguments(out, at, textOf(toolCall.function.arguments));
  }

  /** OpenAI's form where there is one; Cohere's own for clients that are not strict. */
  #citation(citation: Json, out: EventSink): void {
    if (!isObject(citation)) return;
    const at = typeof citation.content_index === 'number' ? citation.content_index : 0;
    const annotations = annotationsOf(citation, this.#offsets.get(at) ?? 0);
    const delta: Record<string, Json> = {};
    if (annotations.length > 0) delta.annotations = annotations;
    if (!this.#call.isStrict) delta.citations = [citation];
    if (Object.keys(delta).length > 0) this.#writer.delta(out, delta);
  }

  #end(delta: JsonObject, out: EventSink): void {
    const error = textOf(delta.error);
    const native = textOf(delta.finish_reason);
    const finish = finishOf(native, this.#writer.toolCount(), error);
    if (finish instanceof ProviderError) return this.#fail(finish, out);
    if (error !== '') return this.#fail(new ProviderError(error, { code: native === '' ? undefined : native }), out);
    if (native === '') return;
    this.#writer.finish(finish, native);
    const usage = usageOf(delta.usage);
    if (usage !== undefined) this.#writer.usage(usage);
  }

  #fail(error: ProviderError, out: EventSink): void {
    this.#isOver = true;
    out.fail(error);
  }
}

/** Cohere sends the one object; a list is read as well. */
const firstOf = (value: Json | undefined): Json => (Array.isArray(value) ? (value as readonly Json[])[0] ?? null : value ?? null);
