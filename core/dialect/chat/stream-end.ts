// Runs at the end of a stream of chunks.
// What the ends of OpenAI's two completion APIs have in common: `[DONE]`, and the results of hooks in a chunk of their own before it.

import type { AnswerEvent, Json } from '@gateway/plugin-sdk';
import { insertedBeforeLast, membersOf, type LastEvents } from '../common/event-members.js';
import type { CallIdentity, EndUsage } from '../dialect.js';

const done = '[DONE]';
/** Streams of chunks end with it, and their events have no names. */
export const chunkEnd: LastEvents = { closing: done, lastEvents: [] };
export const hasFinishReason = (usage: EndUsage): boolean => usage.finishReason !== '';

/** `kind`: what the chunks of the API are called. Clients put a stream together member by member: this chunk says of itself what the others do. */
export function withResultsChunk(kind: string, events: readonly AnswerEvent[], results: Json, first: AnswerEvent | null, call: CallIdentity): readonly AnswerEvent[] {
  const { id, created, model } = first === null ? {} : membersOf(first);
  const extra: AnswerEvent = {
    event: undefined,
    data: {
      id: typeof id === 'string' ? id : call.id,
      object: kind,
      created: typeof created === 'number' ? created : Math.floor(call.startedAtMs / 1000),
      ...(typeof model === 'string' ? { model } : {}),
      choices: [],
      hook_results: results,
    },
  };
  return insertedBeforeLast(events, extra, chunkEnd);
}
