// Hot: runs for each event of a stream that hooks or a cache have to do with.
// What ends a stream, and what is put before that.

import { isObject, type AnswerEvent, type JsonObject } from '@gateway/plugin-sdk';

const noMembers: JsonObject = Object.freeze({});

/** How a dialect ends its streams. */
export interface LastEvents {
  /** The data of what comes behind the last event, written by whoever makes the events; empty: nothing does. */
  readonly closing: string;
  /** Names of the events that end a stream that came whole. */
  readonly lastEvents: readonly string[];
}

export const isLastEvent = ({ event, data }: AnswerEvent, { closing, lastEvents }: LastEvents): boolean =>
  (closing !== '' && data === closing) || (event !== undefined && isOneOf(lastEvents, event));

/** For lists of one or two. */
export function isOneOf(names: readonly string[], name: string): boolean {
  for (let index = 0; index < names.length; index += 1) if (names[index] === name) return true;
  return false;
}

/** The data of an event; empty when it is not a JSON object. */
export function membersOf({ data }: AnswerEvent): JsonObject {
  if (typeof data !== 'string') return data;
  try {
    const parsed: unknown = JSON.parse(data);
    return isObject(parsed) ? parsed : noMembers;
  } catch {
    return noMembers;
  }
}

/** The events with one more before the last, or at the end when the last one is not there. */
export function insertedBeforeLast(events: readonly AnswerEvent[], extra: AnswerEvent, dialect: LastEvents): readonly AnswerEvent[] {
  const at = events.findIndex((event) => isLastEvent(event, dialect));
  return at === -1 ? [...events, extra] : [...events.slice(0, at), extra, ...events.slice(at)];
}
