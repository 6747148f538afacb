// Hot: runs for each chunk of chat and text completions that is put together.
// What the chunks of OpenAI's two completion APIs have in common: members of the answer around the list of choices.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { broken, type Accumulator } from '../common/accumulator.js';
import { bytesOf, Members } from '../common/members.js';

/** What a choice takes with nothing in it. */
const choiceBytes = 128;

export interface ChoiceAccumulator {
  readonly index: number;
  /** Gives how many bytes more are held, or `broken`. */
  read(choice: JsonObject): number;
  readonly isFinished: boolean;
  object(): JsonObject;
}

export class ChunkAccumulator implements Accumulator {
  readonly wanted = null;
  readonly #choices = new Map<number, ChoiceAccumulator>();
  readonly #members = new Members();
  #usage: JsonObject | null = null;
  #usageBytes = 0;

  constructor(readonly kind: string, readonly newChoice: (index: number) => ChoiceAccumulator) {}

  read(chunk: JsonObject): number {
    let bytes = 0;
    for (const name in chunk) {
      const value = chunk[name];
      switch (name) {
        case 'choices': bytes += this.#readChoices(value); break;
        case 'usage': bytes += this.#readUsage(value); break;
        case 'object': if (value === 'error') return broken; break;
        case 'error': if (value !== null) return broken; bytes += this.#members.set(name, value); break;
        // Noise that hides the length of the pieces.
        case 'obfuscation': break;
        case 'x_groq': bytes += this.#readGroq(value); break;
        default: bytes += this.#members.set(name, value);
      }
    }
    return bytes;
  }

  answer(): JsonObject | null {
    const choices = [...this.#choices.values()];
    if (choices.length === 0 || choices.some(({ isFinished }) => !isFinished)) return null;
    const { id, created, model, ...rest } = this.#members.object();
    const answer: Record<string, Json> = {};
    if (id !== undefined) answer.id = id;
    answer.object = this.kind;
    if (created !== undefined) answer.created = created;
    if (model !== undefined) answer.model = model;
    answer.choices = choices.sort((left, right) => left.index - right.index).map((choice) => choice.object());
    if (this.#usage !== null) answer.usage = this.#usage;
    return { ...answer, ...rest };
  }

  #readChoices(list: Json | undefined): number {
    if (!Array.isArray(list)) return 0;
    let bytes = 0;
    for (const chunk of list) {
      if (!isObject(chunk)) continue;
      const index = typeof chunk.index === 'number' ? chunk.index : 0;
      let choice = this.#choices.get(index);
      if (choice === undefined) {
        choice = this.newChoice(index);
        this.#choices.set(index, choice);
        bytes += choiceBytes;
      }
      bytes += choice.read(chunk);
    }
    return bytes;
  }

  /** Counts are told anew rather than added up. */
  #readUsage(usage: Json | undefined): number {
    if (!isObject(usage)) return 0;
    const before = this.#usageBytes;
    this.#usage = usage;
    this.#usageBytes = bytesOf(usage);
    return this.#usageBytes - before;
  }

  /** Groq tells usage here in streams, and that it broke off. */
  #readGroq(value: Json | undefined): number {
    if (!isObject(value)) return 0;
    const { usage, error, ...rest } = value;
    if (error !== undefined && error !== null) return broken;
    const bytes = this.#usage === null ? this.#readUsage(usage) : 0;
    return Object.keys(rest).length === 0 ? bytes : bytes + this.#members.set('x_groq', rest);
  }
}
