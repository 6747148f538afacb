// Hot: runs for each event of a message that is put together.
// message_start holds the message, the blocks follow in pieces, message_delta says how it ended. Without message_stop there is no message.

import { isObject, textOf, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { broken, type Accumulator } from '../common/accumulator.js';
import { bytesOf, Members } from '../common/members.js';
import { Text } from '../common/text.js';

interface Block {
  readonly start: JsonObject;
  readonly text: Text;
  readonly thinking: Text;
  readonly inputJson: Text;
  citations: Json[] | null;
  /** Members that a delta sets rather than adds to: the signature, and those of kinds of deltas that are not known here. */
  members: Members | null;
}

export class MessagesAccumulator implements Accumulator {
  readonly wanted = null;
  readonly #message = new Members();
  readonly #usage = new Members();
  readonly #blocks = new Map<number, Block>();
  #hasStarted = false;
  #hasStopped = false;

  read(event: JsonObject): number {
    switch (event.type) {
      case 'content_block_delta': return this.#delta(event);
      case 'content_block_start': return this.#start(event);
      case 'message_start':
        this.#hasStarted = isObject(event.message);
        return isObject(event.message) ? this.#members(event.message) : broken;
      case 'message_delta': {
        const { type, delta, usage, ...rest } = event;
        return (isObject(delta) ? this.#members(delta) : 0) + (isObject(usage) ? this.#counts(usage) : 0) + this.#members(rest);
      }
      case 'message_stop':
        this.#hasStopped = true;
        return 0;
      case 'error': return broken;
      // An event of the gateway's own, which has no type.
      default: return event.hook_results === undefined ? 0 : this.#message.set('hook_results', event.hook_results);
    }
  }

  answer(): JsonObject | null {
    if (!this.#hasStarted || !this.#hasStopped) return null;
    const message = this.#message.object();
    if (Array.isArray(message.content)) {
      const blocks = [...this.#blocks].sort(([left], [right]) => left - right).map(([, block]) => whole(block));
      message.content = [...message.content, ...blocks];
    }
    if (this.#usage.size > 0) message.usage = this.#usage.object();
    return message;
  }

  #members(object: JsonObject): number {
    let bytes = 0;
    for (const name in object) {
      const value = object[name];
      if (name === 'usage' && isObject(value)) bytes += this.#counts(value);
      else bytes += this.#message.set(name, value);
    }
    return bytes;
  }

  /** Counts are told anew rather than added up. */
  #counts(usage: JsonObject): number {
    let bytes = 0;
    for (const name in usage) bytes += this.#usage.set(name, usage[name]);
    return bytes;
  }

  #start({ index, content_block: block }: JsonObject): number {
    if (typeof index !== 'number' || !isObject(block)) return broken;
    this.#blocks.set(index, { start: block, text: new Text(), thinking: new Text(), inputJson: new Text(), citations: null, members: null });
    return bytesOf(block);
  }

  #delta({ index, delta }: JsonObject): number {
    const block = typeof index === 'number' ? this.#blocks.get(index) : undefined;
    if (block === undefined || !isObject(delta)) return broken;
    switch (delta.type) {
      case 'text_delta': return block.text.add(textOf(delta.text));
      case 'thinking_delta': return block.thinking.add(textOf(delta.thinking));
      case 'input_json_delta': return block.inputJson.add(textOf(delta.partial_json));
      case 'citations_delta':
        if (delta.citation === undefined) return 0;
        (block.citations ??= []).push(delta.citation);
        return bytesOf(delta.citation);
      default: {
        const { type, ...rest } = delta;
        const members = (block.members ??= new Members());
        let bytes = 0;
        for (const name in rest) bytes += members.set(name, rest[name]);
        return bytes;
      }
    }
  }
}

function whole(block: Block): JsonObject {
  const { start } = block;
  const content: Record<string, Json> = { ...start };
  const text = block.text.toString();
  const thinking = block.thinking.toString();
  const inputJson = block.inputJson.toString();
  if (text !== '') content.text = textOf(start.text) + text;
  if (thinking !== '') content.thinking = textOf(start.thinking) + thinking;
  if (inputJson.trim() !== '') content.input = inputOf(inputJson);
  if (block.citations !== null) content.citations = [...(Array.isArray(start.citations) ? start.citations : []), ...block.citations];
  return block.members === null ? content : { ...content, ...block.members.object() };
}

/** Input that was cut off is kept as the text it is, in a wrapping that no tool takes for its input. */
function inputOf(json: string): Json {
  try {
    return JSON.parse(json);
  } catch {
    return { INVALID_JSON: json };
  }
}
