// Runs for each event of a response that is put together, but reads only the few that hold something whole.
// The last event holds the response. Some servers leave its output out there, which was then told item by item.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { broken, type Accumulator } from '../common/accumulator.js';
import { bytesOf } from '../common/members.js';

export class ResponsesAccumulator implements Accumulator {
  readonly wanted: ReadonlySet<string> = new Set(['response.output_item.done', 'response.completed', 'response.incomplete', 'response.failed', 'response.cancelled']);
  readonly #items = new Map<number, Json>();
  #itemBytes = 0;
  #response: JsonObject | null = null;

  read(event: JsonObject): number {
    switch (event.type) {
      case 'response.output_item.done':
        if (typeof event.output_index !== 'number' || event.item === undefined) return broken;
        return this.#hold(event.output_index, event.item);
      case 'response.completed': case 'response.incomplete':
        if (!isObject(event.response)) return broken;
        return this.#finish(event.response);
      case 'response.failed': case 'response.cancelled': case 'error': return broken;
      default: return 0;
    }
  }

  answer(): JsonObject | null {
    return this.#response;
  }

  #hold(index: number, item: Json): number {
    const bytes = bytesOf(item);
    this.#items.set(index, item);
    this.#itemBytes += bytes;
    return bytes;
  }

  #finish(response: JsonObject): number {
    const isTold = Array.isArray(response.output) && response.output.length > 0;
    const output = isTold ? [] : [...this.#items].sort(([left], [right]) => left - right).map(([, item]) => item);
    this.#response = output.length === 0 ? response : { ...response, output };
    this.#items.clear();
    // The items that were held one by one are let go, or are counted already.
    const bytes = bytesOf(response) - (isTold ? this.#itemBytes : 0);
    this.#itemBytes = 0;
    return bytes;
  }
}
