// Runs once for a stored answer that is asked for as a stream, and once for a streamed answer that was held back whole.
// A plain answer -> the events of the same dialect, in the order and with the members that the dialect's API documents. Reads nothing but
// the answer: the same answer always gives the same events.
//
// Members that the dialect does not know survive where it has a place for them:
// - chat completions: those of a message in a delta of their own behind the text, those of a choice on its last chunk, those of the answer
//   on the last chunk with a choice;
// - text completions: the same, without messages;
// - messages: those of the message in message_start, those of a block in its content_block_start;
// - responses: in `response` of every event that has it; those of items and parts in their added and done events.
//
// Put together again it is the answer that was stored; in messages and responses exactly so, in the completion dialects but for what
// streams cannot say: content that is a list becomes its text, content that is absent or empty beside tool calls becomes null, arguments
// that are not text become JSON text, `tool_calls`, `content_blocks` and `usage` of null are left out.

import type { AnswerEvent, JsonObject } from '@gateway/plugin-sdk';
import type { Dialect, ReplayOptions } from '../dialect.js';

/** For what is not replayable: what closes a stream of the dialect, or nothing. The events share parts with the answer. */
export function* replay(dialect: Dialect, answer: JsonObject, options: ReplayOptions): Generator<AnswerEvent> {
  if (dialect.isReplayable(answer)) yield* dialect.replay(answer, options);
  if (dialect.closing !== '') yield { event: undefined, data: dialect.closing };
}
