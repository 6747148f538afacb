import {
  ChatStreamWriter, isObject, listOf, ProviderError, readJson, textOf, writeJson, type EventSink, type EventStage, type Json, type JsonObject,
  type ProviderCall, type SseEvent,
} from '@gateway/plugin-sdk';
import { finishOf, readToolCall, thinkingOf, usageOf } from './chat-answer.js';
import { mistralError } from './error.js';

/** Mistral's chunks as OpenAI's: content may be a list, tool calls come whole or in pieces, usage in the chunk with the finish reason. */
export class ChatStage implements EventStage {
  readonly #call: ProviderCall;
  readonly #writer: ChatStreamWriter;
  /** Choice and index of a tool call in the provider's stream -> the last one that began there. */
  readonly #tools = new Map<string, { readonly id: string; readonly index: number }>();
  #isOver = false;
  #isStarted = false;

  constructor(call: ProviderCall) {
    this.#call = call;
    this.#writer = new ChatStreamWriter(call);
  }

  push(event: SseEvent, out: EventSink): void {
    if (this.#isOver || event.data === '' || event.data === '[DONE]') return;
    const data = readJson(event.data);
    if (!isObject(data)) return;
    if (!Array.isArray(data.choices)) {
      const fault = mistralError(data);
      if (fault !== undefined) this.#fail(new ProviderError(fault.message, { type: fault.type, code: fault.code }), out);
      return;
    }
    this.#start(data);
    const usage = usageOf(data.usage);
    if (usage !== undefined) this.#writer.usage(usage);
    for (const choice of data.choices as readonly Json[]) {
      if (isObject(choice) && !this.#isOver) this.#choice(choice, out);
    }
  }

  end(out: EventSink): void {
    if (!this.#isOver) this.#writer.end(out);
  }

  #start(data: JsonObject): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const writer = this.#writer;
    if (typeof data.id === 'string') writer.id = data.id;
    if (typeof data.model === 'string') writer.model = data.model;
    if (typeof data.created === 'number') writer.created = data.created;
  }

  #choice(choice: JsonObject, out: EventSink): void {
    const writer = this.#writer;
    const index = typeof choice.index === 'number' ? choice.index : 0;
    const delta = isObject(choice.delta) ? choice.delta : {};
    writer.start(out, index);
    // Between the calls of Mistral's own tools there are messages of other roles, which are not part of the answer.
    const isAssistant = delta.role === undefined || delta.role === null || delta.role === '' || delta.role === 'assistant';
    if (isAssistant && typeof delta.content === 'string') writer.text(out, delta.content, index);
    else if (isAssistant) this.#chunks(listOf(delta.content), index, out);
    for (const toolCall of listOf(delta.tool_calls)) this.#toolCall(toolCall, index, out);
    const native = textOf(choice.finish_reason);
    if (native === '') return;
    const finish = finishOf(native, writer.toolCount(index));
    if (finish instanceof ProviderError) this.#fail(finish, out);
    else writer.finish(finish, native, index);
  }

  #chunks(chunks: readonly Json[], index: number, out: EventSink): void {
    for (const chunk of chunks) {
      if (!isObject(chunk)) continue;
      if (chunk.type === 'text') {
        this.#writer.text(out, textOf(chunk.text), index);
      } else if (chunk.type === 'thinking') {
        this.#writer.thinking(out, thinkingOf(chunk), index);
        if (textOf(chunk.signature) !== '') this.#writer.signature(out, textOf(chunk.signature), index);
      } else if (!this.#call.isStrict) {
        this.#writer.delta(out, { references: [chunk] }, index);
      }
    }
  }

  /** An entry with a name begins a call; one without, or with the id of the call that is open there, goes on with its arguments. */
  #toolCall(toolCall: Json, choice: number, out: EventSink): void {
    if (!isObject(toolCall)) return;
    const called = isObject(toolCall.function) ? toolCall.function : {};
    const key = `${choice}:${typeof toolCall.index === 'number' ? toolCall.index : 0}`;
    const open = this.#tools.get(key);
    const id = textOf(toolCall.id);
    if (open !== undefined && (textOf(called.name) === '' || (id !== '' && id !== 'null' && id === open.id))) {
      const piece = called.arguments;
      this.#writer.toolArguments(out, open.index, typeof piece === 'string' ? piece : piece === undefined || piece === null ? '' : writeJson(piece), choice);
      return;
    }
    const read = readToolCall(toolCall, this.#call);
    this.#tools.set(key, { id: read.id, index: this.#writer.toolCall(out, read, choice) });
  }

  #fail(error: ProviderError, out: EventSink): void {
    this.#isOver = true;
    out.fail(error);
  }
}
