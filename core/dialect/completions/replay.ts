// A stored text completion as the chunks of a streamed one.

import { isObject, type AnswerEvent, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { ChunkWriter, choicesOf } from '../chat/chunk-writer.js';
import { tokenSlices } from '../common/slices.js';

export function* replayCompletion(answer: JsonObject, includesUsage: boolean): Generator<AnswerEvent> {
  const writer = new ChunkWriter(answer, 'text_completion');
  const choices = choicesOf(answer);
  // Which choices there are is told first, so that a stream that breaks off between two of them is known to have broken off.
  if (choices.length > 1) for (const { index } of choices) yield writer.chunk({ index, text: '', finish_reason: null });
  for (const [place, { index, choice }] of choices.entries()) {
    const { index: _, text, logprobs, finish_reason: finish, ...rest } = choice;
    const none = logprobs === undefined ? {} : { logprobs: null };
    for (const piece of pieces(typeof text === 'string' ? text : '', logprobs)) {
      yield writer.chunk({ index, text: piece.text, ...(piece.logprobs === null ? none : { logprobs: piece.logprobs }), finish_reason: null });
    }
    const last = { index, text: '', ...none, finish_reason: finish ?? null, ...rest };
    yield place === choices.length - 1 ? writer.lastChunk(last) : writer.chunk(last);
  }
  yield* writer.usage(includesUsage);
}

interface Piece {
  readonly text: string;
  readonly logprobs: JsonObject | null;
}

/** Log probabilities are lists side by side, with an entry for each token. */
function* pieces(text: string, logprobs: Json | undefined): Generator<Piece> {
  if (!isObject(logprobs)) {
    for (const slice of tokenSlices(text, [])) yield { text: slice.text, logprobs: null };
    return;
  }
  const tokens = Array.isArray(logprobs.tokens) ? logprobs.tokens : [];
  const isParallel = tokens.length > 0 && Object.values(logprobs).every((list) => !Array.isArray(list) || list.length === tokens.length);
  let start = 0;
  let hasTold = false;
  for (const slice of tokenSlices(text, isParallel ? tokens : [], (token) => (typeof token === 'string' ? token : undefined))) {
    const end = start + slice.tokens.length;
    const [from, to] = [start, end];
    // What is not a list is told once.
    const partOf = ([name, list]: [string, Json]): [string, Json][] => (Array.isArray(list) ? [[name, list.slice(from, to)]] : from === 0 ? [[name, list]] : []);
    const part = isParallel ? Object.fromEntries(Object.entries(logprobs).flatMap(partOf)) : logprobs;
    yield { text: slice.text, logprobs: isParallel || !hasTold ? part : null };
    hasTold = true;
    start = end;
  }
  if (!hasTold) yield { text: '', logprobs };
}
