// Hot: runs for each event of a translated stream.
// Chunks of a chat completion -> the events of Anthropic's Messages API. The chunks are objects from the provider's own stage, or JSON texts
// from an OpenAI-compatible upstream that has none. Every piece is passed on at once, except where the API wants blocks in turn.
// Writes no message_stop for a stream that broke off: the client must never take it for a whole answer.

import { isList, isObject, ProviderError, readJson, thoughtSignatureOf, writeJson, type AnswerEvent, type EventSink, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { AnswerContext } from '../context.js';
import type { TranslationStage } from '../dialect.js';
import { BlockWriter } from './blocks.js';
import { endingMembers, messageId, messageUsage, noUsage, ToolIds, type MessageUsage } from './outcome.js';
import { ToolDeltas } from '../chat/tool-deltas.js';
import { tellsError } from '../common/told-error.js';

/** Reasoning that is told as plain text; blocks of the pivot count from 0. */
const plainReasoning = -1;

export class MessagesStage implements TranslationStage {
  readonly nextSequence = 0;
  readonly #blocks: BlockWriter;
  readonly #tools = new ToolDeltas();
  #isStarted = false;
  #isOver = false;
  #usage: MessageUsage = noUsage;
  #finish = '';
  #native = '';
  #stopSequence: string | null = null;
  #refusal = '';
  /** Which of the provider's blocks `content` is part of, as far as it says so. */
  #textSource = 0;

  constructor(readonly context: Pick<AnswerContext, 'id' | 'model'>) {
    this.#blocks = new BlockWriter(new ToolIds(context.id));
  }

  push(event: AnswerEvent, out: EventSink): void {
    if (this.#isOver) return;
    const { data } = event;
    if (typeof data !== 'string') return this.#chunk(data, out);
    const text = data.trim();
    if (text === '') return;
    if (text === '[DONE]') return this.#finishUp(out);
    const chunk = readJson(text);
    if (isObject(chunk)) this.#chunk(chunk, out);
  }

  end(out: EventSink): void {
    if (!this.#isOver) this.#finishUp(out);
  }

  #chunk(chunk: JsonObject, out: EventSink): void {
    if (tellsError(chunk)) return this.#fail(faultOf(chunk.error ?? null), out);
    const choices = isList(chunk.choices) ? chunk.choices : undefined;
    const usage = chunk.usage ?? (isObject(chunk.x_groq) ? chunk.x_groq.usage : undefined);
    if (isObject(usage)) this.#usage = messageUsage(usage);
    else if (choices === undefined) return;
    if (!this.#isStarted) this.#start(chunk, out);
    if (choices === undefined) return;
    for (const choice of choices) {
      // There is one answer to a message; chat was not asked for more.
      if (isObject(choice) && (choice.index === undefined || choice.index === 0)) this.#choice(choice, out);
      if (this.#isOver) return;
    }
  }

  #start(chunk: JsonObject, out: EventSink): void {
    this.#isStarted = true;
    const message: JsonObject = {
      id: messageId(this.context.id), type: 'message', role: 'assistant',
      model: typeof chunk.model === 'string' && chunk.model !== '' ? chunk.model : this.context.model,
      content: [], stop_reason: null, stop_sequence: null,
      usage: { ...this.#usage },
    };
    out.write({ event: 'message_start', data: { type: 'message_start', message } });
  }

  #choice(choice: JsonObject, out: EventSink): void {
    // Some send the last chunk, or the only one, as a whole message.
    const delta = isObject(choice.delta) ? choice.delta : choice.message;
    if (isObject(delta)) this.#delta(delta, out);
    if (typeof choice.stop_sequence === 'string') this.#stopSequence = choice.stop_sequence;
    if (typeof choice.native_finish_reason === 'string') this.#native = choice.native_finish_reason;
    if (typeof choice.finish_reason !== 'string' || choice.finish_reason === '') return;
    this.#finish = choice.finish_reason;
    if (choice.finish_reason === 'error') this.#fail(faultOf(choice.error ?? null), out);
  }

  #delta(delta: JsonObject, out: EventSink): void {
    const blocks = this.#blocks;
    if (!(isList(delta.content_blocks) && this.#contentBlocks(delta.content_blocks, out))) {
      // Some tell the same reasoning under both names.
      const reasoning = delta.reasoning_content || delta.reasoning;
      if (typeof reasoning === 'string' && reasoning !== '') blocks.thinking(plainReasoning, reasoning, out);
    }
    const { content, refusal } = delta;
    if (typeof content === 'string') {
      if (content !== '') blocks.text(this.#textSource, content, out);
    } else if (isList(content)) {
      for (const part of content) if (isObject(part) && typeof part.text === 'string' && part.text !== '') blocks.text(this.#textSource, part.text, out);
    }
    if (typeof refusal === 'string' && refusal !== '') {
      this.#refusal += refusal;
      blocks.text(this.#textSource, refusal, out);
    }
    if (isList(delta.tool_calls)) {
      for (const called of delta.tool_calls) if (isObject(called)) this.#toolCall(called, out);
    } else if (isObject(delta.function_call)) {
      // The deprecated form of a lone call.
      this.#toolCall({ index: 0, function: delta.function_call }, out);
    }
  }

  /** Thinking only: text is in `content` as well, and here no more than a sign of where a block begins. False when there was none. */
  #contentBlocks(list: readonly Json[], out: EventSink): boolean {
    let hasThinking = false;
    for (const entry of list) {
      if (!isObject(entry)) continue;
      const source = typeof entry.index === 'number' ? entry.index : 0;
      const { delta, content_block: block } = entry;
      if (isObject(block) && block.type === 'redacted_thinking') {
        this.#blocks.redacted({ type: 'redacted_thinking', data: block.data ?? '' }, out);
        hasThinking = true;
      }
      if (!isObject(delta)) continue;
      if (delta.text !== undefined) this.#textSource = source;
      if (typeof delta.thinking === 'string' && delta.thinking !== '') {
        this.#blocks.thinking(source, delta.thinking, out);
        hasThinking = true;
      }
      if (typeof delta.signature === 'string' && delta.signature !== '') {
        this.#blocks.signature(source, delta.signature, out);
        hasThinking = true;
      }
    }
    return hasThinking;
  }

  #toolCall(delta: JsonObject, out: EventSink): void {
    const tool = this.#tools.find(delta, (created) => this.#blocks.addTool(created));
    const signature = thoughtSignatureOf(delta);
    if (signature !== undefined && signature !== '') this.#blocks.thoughtSignature(tool, signature, out);
    const given = isObject(delta.function) ? delta.function.arguments : undefined;
    // Some write whole arguments as an object.
    this.#blocks.toolArguments(tool, typeof given === 'string' ? given : isObject(given) ? writeJson(given) : '', out);
  }

  #finishUp(out: EventSink): void {
    if (this.#finish === '') return this.#fail(new Error('the stream ended before the answer was complete'), out);
    this.#isOver = true;
    const blocks = this.#blocks;
    blocks.end(out);
    const delta = endingMembers({
      finish: this.#finish, native: this.#native, stopSequence: this.#stopSequence, hasToolUse: blocks.hasToolUse, refusal: this.#refusal,
    });
    out.write({ event: 'message_delta', data: { type: 'message_delta', delta, usage: { ...this.#usage } } });
    out.write({ event: 'message_stop', data: { type: 'message_stop' } });
  }

  #fail(error: Error, out: EventSink): void {
    this.#isOver = true;
    out.fail(error);
  }
}

/** What an OpenAI-compatible provider says in the middle of a stream: a text, or an object with message, type and code. */
function faultOf(error: Json): ProviderError {
  if (typeof error === 'string') return new ProviderError(error);
  if (!isObject(error)) return new ProviderError('the provider broke off with an error');
  const { message, type, code } = error;
  const status = [error.status, error.status_code, error.http_code, code].map(Number).find((value) => value >= 400 && value < 600);
  return new ProviderError(typeof message === 'string' && message !== '' ? message : 'the provider broke off with an error', {
    status,
    type: typeof type === 'string' ? type : undefined,
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : undefined,
  });
}
