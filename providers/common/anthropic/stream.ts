// Hot: runs for each event of a streamed answer.
import {
  ChatStreamWriter, isObject, JsonObjectText, ProviderError, readJson, textOf, wantsJsonObject, writeJson, type EventSink, type EventStage, type Json,
  type JsonObject, type ProviderCall, type SseEvent,
} from '@gateway/plugin-sdk';
import { addCitations, finishOf, usageOf, type Citations } from './blocks.js';
import { anthropicError, statusOfError } from './error.js';

/** Events of the Messages API to chunks of a chat completion. */
export function messagesStage(call: ProviderCall): EventStage {
  return new MessagesStage(call);
}

/** A block that has begun and not ended. */
interface OpenBlock {
  readonly type: Json | undefined;
  /** Of a tool call, in the chat answer. */
  readonly toolIndex: number;
  /** The block as it began, for blocks that are passed on whole. */
  readonly begun: JsonObject;
  /** Where its text begins in the answer. */
  readonly start: number;
  json: string;
  readonly citations: Json[];
}

class MessagesStage implements EventStage {
  readonly #call: ProviderCall;
  readonly #writer: ChatStreamWriter;
  readonly #blocks = new Map<Json | undefined, OpenBlock>();
  #usage: JsonObject = {};
  #stopReason = '';
  #stopSequence = '';
  #textLength = 0;
  #isStopped = false;
  #isFailed = false;

  readonly #json: JsonObjectText | null;

  constructor(call: ProviderCall) {
    this.#call = call;
    this.#json = wantsJsonObject(call) ? new JsonObjectText() : null;
    this.#writer = new ChatStreamWriter(call);
  }

  push(event: SseEvent, out: EventSink): void {
    if (this.#isFailed || this.#isStopped || event.data === '') return;
    const data = readJson(event.data);
    if (!isObject(data)) return;
    switch (data.type) {
      case 'content_block_delta': if (isObject(data.delta)) this.#delta(this.#blocks.get(data.index), data.delta, out); break;
      case 'content_block_start': if (isObject(data.content_block)) this.#start(data.index, data.content_block, out); break;
      case 'content_block_stop': this.#stop(data.index, out); break;
      case 'message_start': this.#begin(data.message, out); break;
      case 'message_delta': this.#end(data); break;
      case 'message_stop': this.#isStopped = true; break;
      case 'error': this.#fail(data, out); break;
      // `ping`, and what the API may add.
      default:
    }
  }

  end(out: EventSink): void {
    if (this.#isFailed) return;
    if (!this.#isStopped) {
      out.fail(new Error('the stream ended before message_stop'));
      return;
    }
    const writer = this.#writer;
    if (this.#json !== null) this.#write(this.#json.end(), out);
    if (this.#stopReason !== '') writer.finish(finishOf(this.#stopReason, writer.toolCount()), this.#stopReason, 0, this.#stopSequence);
    writer.usage(usageOf(this.#usage));
    writer.end(out);
  }

  #begin(message: Json | undefined, out: EventSink): void {
    if (!isObject(message)) return;
    if (typeof message.id === 'string') this.#writer.id = message.id;
    if (typeof message.model === 'string') this.#writer.model = message.model;
    if (isObject(message.usage)) this.#usage = message.usage;
    this.#writer.start(out);
  }

  #start(index: Json | undefined, block: JsonObject, out: EventSink): void {
    const writer = this.#writer;
    let toolIndex = -1;
    switch (block.type) {
      case 'text': writer.endBlock(); this.#text(textOf(block.text), out); break;
      case 'thinking':
        writer.endBlock();
        writer.thinking(out, textOf(block.thinking));
        if (textOf(block.signature) !== '') writer.signature(out, textOf(block.signature));
        break;
      case 'redacted_thinking': writer.redactedThinking(out, textOf(block.data)); break;
      case 'tool_use':
        if (this.#json !== null) this.#write(this.#json.end(), out);
        toolIndex = writer.toolCall(out, { id: textOf(block.id), name: textOf(block.name) });
        break;
      default:
    }
    const citations = Array.isArray(block.citations) ? [...(block.citations as readonly Json[])] : [];
    const start = this.#textLength - (block.type === 'text' ? textOf(block.text).length : 0);
    this.#blocks.set(index, { type: block.type, toolIndex, begun: block, start, json: '', citations });
  }

  #delta(block: OpenBlock | undefined, delta: JsonObject, out: EventSink): void {
    switch (delta.type) {
      case 'text_delta': this.#text(textOf(delta.text), out); break;
      case 'input_json_delta': {
        if (block === undefined) return;
        const piece = textOf(delta.partial_json);
        block.json += piece;
        if (block.toolIndex !== -1) this.#writer.toolArguments(out, block.toolIndex, piece);
        break;
      }
      case 'thinking_delta': this.#writer.thinking(out, textOf(delta.thinking)); break;
      case 'signature_delta': this.#writer.signature(out, textOf(delta.signature)); break;
      case 'citations_delta': if (block !== undefined && delta.citation !== undefined) block.citations.push(delta.citation); break;
      default:
    }
  }

  #text(said: string, out: EventSink): void {
    this.#write(this.#json === null ? said : this.#json.push(said), out);
  }

  #write(text: string, out: EventSink): void {
    this.#textLength += text.length;
    this.#writer.text(out, text);
  }

  #stop(index: Json | undefined, out: EventSink): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    this.#blocks.delete(index);
    switch (block.type) {
      case 'text': if (block.citations.length > 0) this.#cite(block, out); break;
      // A call without input has no pieces; what is to be parsed must not be empty.
      case 'tool_use': if (block.json === '') this.#writer.toolArguments(out, block.toolIndex, writeJson(block.begun.input ?? {})); break;
      case 'thinking': case 'redacted_thinking': break;
      default: if (!this.#call.isStrict) this.#writer.delta(out, { server_tool_blocks: [whole(block)] });
    }
  }

  #cite(block: OpenBlock, out: EventSink): void {
    const cited: Citations = { annotations: [], citations: [] };
    addCitations(cited, block.citations, block.start, this.#textLength);
    if (cited.annotations.length > 0) this.#writer.delta(out, { annotations: cited.annotations });
    if (cited.citations.length > 0 && !this.#call.isStrict) this.#writer.delta(out, { citations: cited.citations });
  }

  /** Counts in `message_delta` are totals and replace those of the beginning; null means that nothing is known. */
  #end(data: JsonObject): void {
    if (isObject(data.usage)) {
      this.#usage = { ...this.#usage, ...Object.fromEntries(Object.entries(data.usage).filter(([, value]) => value !== null)) };
    }
    if (!isObject(data.delta)) return;
    if (typeof data.delta.stop_reason === 'string') this.#stopReason = data.delta.stop_reason;
    if (typeof data.delta.stop_sequence === 'string') this.#stopSequence = data.delta.stop_sequence;
    if (isObject(data.delta.stop_details)) this.#writer.extra({ stop_details: data.delta.stop_details });
  }

  #fail(data: JsonObject, out: EventSink): void {
    this.#isFailed = true;
    const fault = anthropicError(data, 200);
    const type = fault?.type;
    out.fail(new ProviderError(fault?.message ?? 'the provider broke off with an error', { status: statusOfError(type), type, code: fault?.code }));
  }
}

/** A block of a server tool, with the input that came in pieces. */
function whole(block: OpenBlock): Json {
  if (block.json === '') return block.begun;
  try {
    return { ...block.begun, input: readJson(block.json) };
  } catch {
    return block.begun;
  }
}
