// What the streams of OpenAI's two completion APIs have in common: the members around the choices, the last chunks.

import { isObject, type AnswerEvent, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { tellsError } from '../common/told-error.js';

/** Members that each chunk has, beside id and object, as far as the answer has them. */
const common = ['created', 'model', 'system_fingerprint', 'service_tier'] as const;

export class ChunkWriter {
  readonly #common: Record<string, Json> = {};
  readonly #extra: Record<string, Json>;
  readonly #usage: Json | undefined;

  constructor(answer: JsonObject, kind: string) {
    const { id, object, choices, usage, ...rest } = answer;
    if (id !== undefined) this.#common.id = id;
    this.#common.object = kind;
    this.#extra = { ...rest };
    for (const name of common) {
      const value = rest[name];
      if (value !== undefined) this.#common[name] = value;
      delete this.#extra[name];
    }
    this.#usage = usage;
  }

  chunk(choice: JsonObject): AnswerEvent {
    return { event: undefined, data: { ...this.#common, choices: [choice] } };
  }

  /** The last chunk of the last choice, with what the answer has beyond the API's own members. */
  lastChunk(choice: JsonObject): AnswerEvent {
    return { event: undefined, data: { ...this.#common, choices: [choice], ...this.#extra } };
  }

  *usage(includesUsage: boolean): Generator<AnswerEvent> {
    if (includesUsage && isObject(this.#usage)) yield { event: undefined, data: { ...this.#common, choices: [], usage: this.#usage } };
  }
}

/** The choices with their index, which is their place where they do not say it. */
export function choicesOf(answer: JsonObject): { readonly index: number; readonly choice: JsonObject }[] {
  const choices = Array.isArray(answer.choices) ? answer.choices.filter(isObject) : [];
  return choices.map((choice, place) => ({ index: typeof choice.index === 'number' ? choice.index : place, choice }));
}

/** The answer has choices, all of them ended as they should, and is not an error. */
export function hasWholeChoices(answer: JsonObject, isWhole: (choice: JsonObject) => boolean): boolean {
  const { choices } = answer;
  if (!Array.isArray(choices) || choices.length === 0 || tellsError(answer)) return false;
  return choices.every((choice) => isObject(choice) && typeof choice.finish_reason === 'string' && choice.finish_reason !== 'error' && isWhole(choice));
}
