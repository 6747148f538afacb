// Hot: runs for each chunk of a chat completion that is put together.
// What has no name here is kept too: texts and lists of a delta grow, everything else is what was told last.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { broken } from '../common/accumulator.js';
import { ChunkAccumulator, type ChoiceAccumulator } from './chunk-accumulator.js';
import { ContentBlocks } from './content-blocks.js';
import { Fragments, Members } from '../common/members.js';
import { ReasoningDetails } from './reasoning-details.js';
import { Text } from '../common/text.js';
import { ToolCalls } from './tool-calls.js';

const growingOfAudio: ReadonlySet<string> = new Set(['data', 'transcript']);
const growingOfFunction: ReadonlySet<string> = new Set(['arguments']);

export class ChatAccumulator extends ChunkAccumulator {
  constructor() {
    super('chat.completion', (index) => new ChatChoice(index));
  }
}

class ChatChoice implements ChoiceAccumulator {
  readonly #content = new Text();
  /** An empty text is an answer, null is none. */
  #hasContent = false;
  #role = 'assistant';
  /** Of the delta: refusal, reasoning, annotations, and what is not known here. */
  readonly #delta = new Fragments(null);
  #blocks: ContentBlocks | null = null;
  #details: ReasoningDetails | null = null;
  #calls: ToolCalls | null = null;
  /** Undefined: never told; null: told to be none. */
  #audio: Fragments | null | undefined = undefined;
  #functionCall: Fragments | null | undefined = undefined;
  #logprobs: Fragments | null | undefined = undefined;
  readonly #members = new Members();
  #finish = '';

  constructor(readonly index: number) {}

  get isFinished(): boolean {
    return this.#finish !== '';
  }

  read(choice: JsonObject): number {
    let bytes = 0;
    for (const name in choice) {
      const value = choice[name];
      switch (name) {
        case 'index': break;
        case 'delta': if (isObject(value)) bytes += this.#readDelta(value); break;
        // Some send the last chunk, or the only one, as a whole message.
        case 'message': if (isObject(value) && !isObject(choice.delta)) bytes += this.#readDelta(value); break;
        case 'finish_reason':
          if (value === 'error') return broken;
          if (typeof value === 'string' && value !== '') this.#finish = value;
          break;
        case 'logprobs':
          if (isObject(value)) bytes += (this.#logprobs ??= new Fragments(null)).setAll(value);
          else if (value === null) this.#logprobs ??= null;
          break;
        default: bytes += this.#members.set(name, value);
      }
    }
    return bytes;
  }

  object(): JsonObject {
    const choice: Record<string, Json> = { index: this.index, message: this.#message() };
    if (this.#logprobs !== undefined) choice.logprobs = objectOf(this.#logprobs);
    choice.finish_reason = this.#finish;
    return { ...choice, ...this.#members.object() };
  }

  #readDelta(delta: JsonObject): number {
    let bytes = 0;
    for (const name in delta) {
      const value = delta[name];
      switch (name) {
        case 'content': bytes += this.#readContent(value); break;
        case 'role': if (typeof value === 'string' && value !== '') this.#role = value; break;
        case 'content_blocks':
          if (Array.isArray(value)) bytes += (this.#blocks ??= new ContentBlocks()).read(value);
          break;
        case 'tool_calls':
          if (Array.isArray(value)) bytes += (this.#calls ??= new ToolCalls()).read(value);
          break;
        case 'reasoning_details':
          if (Array.isArray(value)) bytes += (this.#details ??= new ReasoningDetails()).read(value);
          else bytes += this.#delta.set(name, value);
          break;
        case 'audio':
          if (isObject(value)) bytes += (this.#audio ??= new Fragments(growingOfAudio)).setAll(value);
          else if (value === null) this.#audio ??= null;
          break;
        case 'function_call':
          if (isObject(value)) bytes += (this.#functionCall ??= new Fragments(growingOfFunction)).setAll(value);
          else if (value === null) this.#functionCall ??= null;
          break;
        default: bytes += this.#delta.set(name, value);
      }
    }
    return bytes;
  }

  #readContent(content: Json | undefined): number {
    if (typeof content === 'string') {
      this.#hasContent = true;
      return this.#content.add(content);
    }
    if (!Array.isArray(content)) return 0;
    let bytes = 0;
    for (const part of content) {
      if (!isObject(part) || typeof part.text !== 'string') continue;
      this.#hasContent = true;
      bytes += this.#content.add(part.text);
    }
    return bytes;
  }

  #message(): JsonObject {
    const text = this.#content.toString();
    const calls = this.#calls?.list() ?? [];
    const isOther = calls.length > 0 || (this.#functionCall ?? null) !== null || (this.#audio ?? null) !== null || this.#delta.hasText('refusal');
    const message: Record<string, Json> = {
      role: this.#role,
      content: this.#hasContent && !(text === '' && isOther) ? text : null,
      ...this.#delta.object(),
    };
    if (this.#details !== null) message.reasoning_details = this.#details.list();
    if (this.#calls !== null) message.tool_calls = calls;
    if (this.#functionCall !== undefined) message.function_call = objectOf(this.#functionCall);
    if (this.#audio !== undefined) message.audio = objectOf(this.#audio);
    const blocks = this.#blocks?.list(text) ?? [];
    if (blocks.length > 0) message.content_blocks = blocks;
    return message;
  }
}

const objectOf = (fragments: Fragments | null): Json => (fragments === null ? null : fragments.object());
