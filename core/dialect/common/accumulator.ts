// What the four dialects have in common when their streams are put together. Types only.

import type { JsonObject } from '@gateway/plugin-sdk';

/** What `read` gives for an event that tells of an error. */
export const broken = -Infinity;

/** Puts the events of one stream together, without a look at limits. */
export interface Accumulator {
  /** Events with these names need not be parsed; events without a name always are. Null: all are wanted. */
  readonly wanted: ReadonlySet<string> | null;
  /** Gives how many bytes more are held, or `broken`. Does not change the event, and may keep parts of it. */
  read(event: JsonObject): number;
  /** Null: the stream has had no proper end yet. */
  answer(): JsonObject | null;
}
