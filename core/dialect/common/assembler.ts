// Hot: runs for each event of a stream that is stored or judged whole.
// A streamed answer -> the plain answer of the same dialect. Says null rather than give half an answer: what is put together here is
// stored and served to others. May not do anything but compute.
//
// What comes out is what the API had answered without `stream`, with these liberties of the chat dialect:
// - `content` that is empty beside tool calls, a function call, a refusal or audio is null, as it is in plain answers;
// - `content_blocks` that say no more than `content` does are left out;
// - tool calls have no `index`; chunks' `obfuscation` is left out; usage that is told in `x_groq` alone is told as `usage`.
// And in messages, input of a tool that was cut off is `{ INVALID_JSON: text }`, as it is in translated answers.

import { isObject, type AnswerEvent, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { Dialect } from '../dialect.js';
import { broken, type Accumulator } from './accumulator.js';

export interface Assembler {
  push(event: AnswerEvent): void;
  /**
   * Null: the stream had no proper end, told of an error, or was longer than allowed. May be called at any time, and again. Shares parts
   * with the events, so that neither may be changed.
   */
  answer(): JsonObject | null;
}

const defaultBytesMax = 16 * 1024 * 1024;

/** `bytesMax`: of the assembled answer, about; beyond it nothing is kept and there is no answer. */
export function assembler(dialect: Dialect, bytesMax = defaultBytesMax): Assembler {
  return new BoundedAssembler(dialect.accumulator(), bytesMax);
}

class BoundedAssembler implements Assembler {
  /** Null: there will be no answer, and nothing of it is kept. */
  #accumulator: Accumulator | null;
  #bytesLeft: number;

  constructor(accumulator: Accumulator, bytesMax: number) {
    this.#accumulator = accumulator;
    this.#bytesLeft = bytesMax;
  }

  push(event: AnswerEvent): void {
    const accumulator = this.#accumulator;
    if (accumulator === null) return;
    const { event: name, data } = event;
    if (name !== undefined && name !== '') {
      if (name === 'error') return this.#giveUp();
      if (accumulator.wanted !== null && !accumulator.wanted.has(name)) return;
    }
    let content: Json = null;
    if (typeof data === 'string') {
      if (isBlankOrDone(data)) return;
      try {
        content = JSON.parse(data);
      } catch {
        return this.#giveUp();
      }
    } else {
      content = data;
    }
    if (!isObject(content)) return this.#giveUp();
    const bytes = accumulator.read(content);
    this.#bytesLeft -= bytes;
    // What is broken and without limit at once is not a number.
    if (bytes === broken || !(this.#bytesLeft >= 0)) this.#giveUp();
  }

  answer(): JsonObject | null {
    return this.#accumulator === null ? null : this.#accumulator.answer();
  }

  #giveUp(): void {
    this.#accumulator = null;
  }
}

/** Data that is not JSON and means no harm is short. */
function isBlankOrDone(data: string): boolean {
  if (data === '[DONE]') return true;
  if (data.length > 16) return false;
  const text = data.trim();
  return text === '' || text === '[DONE]';
}
