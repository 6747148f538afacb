import { ChatStreamWriter, isObject, JsonObjectText, wantsJsonObject, readJson, type EventSink, type EventStage, type Json, type JsonObject, type ProviderCall, type SseEvent } from '@gateway/plugin-sdk';
import { exceptionError } from '../common/aws.js';
import { answerExtra, Citations, expectsAnswerTool, finishOf, stopSequenceOf, usageOf } from './chat-answer.js';
import { answerTool } from './tools.js';

interface OpenTool {
  /** Index of the tool call; -1: its arguments are the answer, -2: the provider runs the tool itself. */
  readonly index: number;
  hasInput: boolean;
}

const answerIndex = -1;
const ownIndex = -2;

/** The events of ConverseStream as chunks of a chat completion. */
export class ConverseStage implements EventStage {
  readonly #writer: ChatStreamWriter;
  readonly #isAnswerTool: boolean;
  readonly #tools = new Map<Json | undefined, OpenTool>();
  readonly #citations = new Citations();
  #textLength = 0;
  #blockStart = 0;
  #isFailed = false;

  readonly #json: JsonObjectText | null;

  constructor(readonly call: ProviderCall) {
    this.#json = wantsJsonObject(call) ? new JsonObjectText() : null;
    this.#writer = new ChatStreamWriter(call);
    this.#isAnswerTool = expectsAnswerTool(call);
  }

  push(event: SseEvent, out: EventSink): void {
    if (this.#isFailed) return;
    const error = exceptionError(event);
    if (error !== undefined) {
      this.#isFailed = true;
      out.fail(error);
      return;
    }
    switch (event.event) {
      case 'messageStart': return this.#writer.start(out);
      case 'contentBlockStart': return this.#blockStarted(parsed(event), out);
      case 'contentBlockDelta': return this.#delta(parsed(event), out);
      case 'contentBlockStop': return this.#blockStopped(parsed(event), out);
      case 'messageStop': return this.#stopped(parsed(event), out);
      case 'metadata': return this.#metadata(parsed(event));
      // Kinds of events that came later than this was written.
      default:
    }
  }

  end(out: EventSink): void {
    if (!this.#isFailed) this.#writer.end(out);
  }

  #blockStarted(data: JsonObject, out: EventSink): void {
    this.#blockStart = this.#textLength;
    const toolUse = isObject(data.start) ? data.start.toolUse : undefined;
    if (!isObject(toolUse)) return;
    const { toolUseId, name, type } = toolUse;
    let index = ownIndex;
    if (this.#isAnswerTool && name === answerTool) index = answerIndex;
    else if (type !== 'server_tool_use') {
      this.#flushJson(out);
      index = this.#writer.toolCall(out, { id: typeof toolUseId === 'string' ? toolUseId : this.call.newId('call_'), name: String(name) });
    }
    this.#tools.set(data.contentBlockIndex, { index, hasInput: false });
  }

  #delta(data: JsonObject, out: EventSink): void {
    const { delta } = data;
    if (!isObject(delta)) return;
    if (typeof delta.text === 'string') this.#text(this.#json === null ? delta.text : this.#json.push(delta.text), out);
    else if (isObject(delta.toolUse)) this.#toolInput(data.contentBlockIndex, delta.toolUse.input, out);
    else if (isObject(delta.reasoningContent)) this.#reasoning(delta.reasoningContent, out);
    else if (isObject(delta.citation)) this.#citations.add([delta.citation], this.#blockStart, this.#textLength);
  }

  #text(text: string, out: EventSink): void {
    this.#textLength += text.length;
    this.#writer.text(out, text);
  }

  #flushJson(out: EventSink): void {
    if (this.#json !== null) this.#text(this.#json.end(), out);
  }

  #toolInput(block: Json | undefined, input: Json | undefined, out: EventSink): void {
    const tool = this.#tools.get(block);
    if (tool === undefined || typeof input !== 'string' || input === '') return;
    tool.hasInput = true;
    if (tool.index === answerIndex) this.#text(input, out);
    else if (tool.index !== ownIndex) this.#writer.toolArguments(out, tool.index, input);
  }

  #reasoning(reasoning: JsonObject, out: EventSink): void {
    if (typeof reasoning.text === 'string') this.#writer.thinking(out, reasoning.text);
    else if (typeof reasoning.signature === 'string' && reasoning.signature !== '') this.#writer.signature(out, reasoning.signature);
    else if (typeof reasoning.redactedContent === 'string') this.#writer.redactedThinking(out, reasoning.redactedContent);
  }

  #blockStopped(data: JsonObject, out: EventSink): void {
    const tool = this.#tools.get(data.contentBlockIndex);
    // Two blocks of the same type in a row are two, not one.
    if (tool === undefined) return this.#writer.endBlock();
    // A tool without parameters sends no input; its arguments are an empty object nevertheless.
    if (!tool.hasInput) this.#toolInput(data.contentBlockIndex, '{}', out);
    this.#tools.delete(data.contentBlockIndex);
  }

  #stopped(data: JsonObject, out: EventSink): void {
    this.#flushJson(out);
    const native = typeof data.stopReason === 'string' ? data.stopReason : '';
    const { annotations, others } = this.#citations;
    if (annotations.length > 0) this.#writer.delta(out, { annotations });
    if (others.length > 0 && !this.call.isStrict) this.#writer.delta(out, { citations: others });
    this.#writer.finish(finishOf(native, this.#writer.toolCount() > 0), native, 0, stopSequenceOf(data.additionalModelResponseFields) ?? '');
  }

  #metadata(data: JsonObject): void {
    const usage = usageOf(data.usage);
    if (usage !== undefined) this.#writer.usage(usage);
    this.#writer.extra(answerExtra(data, this.call));
  }
}

function parsed(event: SseEvent): JsonObject {
  const data = readJson(event.data);
  return isObject(data) ? data : {};
}
