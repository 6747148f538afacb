// Hot: runs for each chunk of a text completion that is put together.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { broken } from '../common/accumulator.js';
import { ChunkAccumulator, type ChoiceAccumulator } from '../chat/chunk-accumulator.js';
import { Fragments, Members } from '../common/members.js';
import { Text } from '../common/text.js';

export class CompletionsAccumulator extends ChunkAccumulator {
  constructor() {
    super('text_completion', (index) => new TextChoice(index));
  }
}

class TextChoice implements ChoiceAccumulator {
  readonly #text = new Text();
  readonly #members = new Members();
  #logprobs: Fragments | null | undefined = undefined;
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
        case 'text': if (typeof value === 'string') bytes += this.#text.add(value); break;
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
    const choice: Record<string, Json> = { text: this.#text.toString(), index: this.index };
    if (this.#logprobs !== undefined) choice.logprobs = this.#logprobs === null ? null : this.#logprobs.object();
    choice.finish_reason = this.#finish;
    return { ...choice, ...this.#members.object() };
  }
}
