// Hot: runs for each event of a stream that a check reads.
// What the dialects have in common: how an event that may have been parsed already travels, and what a dialect does with it.

import type { AnswerEvent, Json, JsonObject } from '@gateway/plugin-sdk';

/** Finds the texts in the events of one dialect, and writes what may go of them in their place. */
export interface Deltas {
  /** To be written before the event that was read last, or at the end. The reader of this list empties it. */
  readonly extra: AnswerEvent[];
  /** The same event when nothing in it changes, another one, or null when nothing is left of it. */
  read(event: AnswerEvent, data: JsonObject): AnswerEvent | null;
  /** The stream is over: what was held goes into `extra`. */
  end(): void;
  /** Events may go on unread once the check is not asked any more, nothing is held and nothing was edited. */
  readonly mayRest: boolean;
  /** Of the next event that is written; 0 where events have no numbers. */
  readonly nextSequence: number;
}

export type Open = Record<string, Json>;

/** An event whose text was parsed. It goes on as the text that it is, so its bytes stay, and no later stage parses it again. */
export class ParsedEvent implements AnswerEvent {
  constructor(readonly event: string | undefined, readonly data: string, readonly parsed: JsonObject) {}
}

/** The object without one member. */
export function without(object: JsonObject, left: string): Open {
  const copy: Open = {};
  for (const name in object) {
    const value = object[name];
    if (name !== left && value !== undefined) copy[name] = value;
  }
  return copy;
}
