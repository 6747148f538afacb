import {
  ChatStreamWriter, isObject, ProviderError, readJson, textOf, type EventSink, type EventStage, type Json, type ProviderCall, type SseEvent,
} from '@gateway/plugin-sdk';
import { chatLogprobs, finishOf, toolCallsOf, usageOf } from './answer.js';

/** One line for each piece; the last has `done: true`, the reason and the counts. */
export class OllamaChatStage implements EventStage {
  readonly #writer: ChatStreamWriter;
  #isOver = false;
  #hasFailed = false;

  constructor(readonly call: ProviderCall) {
    this.#writer = new ChatStreamWriter(call);
  }

  push(event: SseEvent, out: EventSink): void {
    if (this.#isOver) return;
    const line = readJson(event.data);
    if (!isObject(line)) return;
    const writer = this.#writer;
    const error = errorOf(line);
    if (error !== undefined) {
      this.#isOver = true;
      this.#hasFailed = true;
      out.fail(error);
      return;
    }
    const model = textOf(line.model);
    if (model !== '') writer.model = model;
    if (isObject(line.message)) {
      const { message } = line;
      writer.thinking(out, textOf(message.thinking));
      // Logprobs may come without text, while Ollama holds it back to see whether it becomes a tool call.
      writer.text(out, textOf(message.content), 0, line.logprobs === undefined ? undefined : chatLogprobs(line.logprobs));
      for (const toolCall of toolCallsOf(message, this.call)) writer.toolCall(out, toolCall);
    }
    if (line.done !== true) return;
    const reason = textOf(line.done_reason);
    writer.start(out);
    writer.finish(finishOf(reason, writer.toolCount() > 0), reason);
    writer.usage(usageOf(line));
    this.#isOver = true;
  }

  end(out: EventSink): void {
    if (!this.#hasFailed) this.#writer.end(out);
  }
}

/** `{"error": "text"}` in place of a piece; from the cloud with a `status`. */
export function errorOf(line: { readonly [key: string]: Json }): ProviderError | undefined {
  if (line.error === undefined || line.error === null) return undefined;
  const message = isObject(line.error) ? textOf(line.error.message) : textOf(line.error);
  return new ProviderError(message || 'ollama broke off with an error', typeof line.status === 'number' ? { status: line.status } : {});
}
