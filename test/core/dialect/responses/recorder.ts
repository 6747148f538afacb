// What the tests of the responses dialect share: one context, and a stage whose events are recorded.

import type { AnswerEvent, EventSink, Json, JsonObject } from '@gateway/plugin-sdk';
import { ResponsesStage } from '../../../../core/dialect/responses/stream.js';
import type { ResponseContext } from '../../../../core/dialect/responses/answer.js';

export const context: ResponseContext = { id: 'resp_gw_1', createdAt: 1_700_000_000, model: 'm', request: { model: 'm', input: 'hi' }, isStored: false };

export interface Recorded {
  readonly events: readonly { readonly event: string; readonly data: JsonObject }[];
  readonly error: Error | null;
  /** The responses that `onDone` got. */
  readonly done: readonly JsonObject[];
}

export function play(chunks: readonly (JsonObject | string)[], given: ResponseContext = context): Recorded {
  const events: { event: string; data: JsonObject }[] = [];
  const done: JsonObject[] = [];
  let error: Error | null = null;
  const out: EventSink = {
    // Copied as a writer would copy it: what a stage changes later must not show.
    write: ({ event, data }: AnswerEvent) => { events.push({ event: event ?? '', data: structuredClone(data) as JsonObject }); },
    end: () => {},
    fail: (failure) => { error = failure; },
  };
  const stage = new ResponsesStage(given, (response) => done.push(response));
  for (const data of chunks) stage.push({ event: undefined, data }, out);
  if (error === null) stage.end(out);
  return { events, error, done };
}

export const chunkOf = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject => ({
  id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm', choices: [{ index: 0, delta, logprobs: null, finish_reason: finish, ...more }],
});

export const usageChunk = (usage: Json): JsonObject => ({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm', choices: [], usage });

export const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_tokens_details: { cached_tokens: 4 }, completion_tokens_details: { reasoning_tokens: 2 } };
export const responseUsage = { input_tokens: 10, input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 }, output_tokens: 5, output_tokens_details: { reasoning_tokens: 2 }, total_tokens: 15 };
