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
// that are no text become JSON text, `tool_calls`, `content_blocks` and `usage` of null are left out.

import { isObject, type AnswerEvent, type JsonObject } from '@gateway/plugin-sdk';
import type { AnswerDialect } from './assembler.js';
import { replayChat } from '../chat/replay.js';
import { replayCompletion } from '../completions/replay.js';
import { replayMessage } from '../messages/replay.js';
import { replayResponse } from '../responses/replay.js';
import { tellsError } from '../chat/told-error.js';

export interface ReplayOptions {
  /** The client asked for usage in a chunk of its own (`stream_options.include_usage`). Of no meaning for messages and responses. */
  readonly includesUsage: boolean;
}

/** Whether `answer` is a finished answer of this dialect, and not an error or something else. Only such an answer may be replayed. */
export function isReplayable(endpoint: AnswerDialect, answer: JsonObject): boolean {
  switch (endpoint) {
    case 'chatCompletions': return hasChoices(answer, (choice) => isObject(choice.message));
    case 'completions': return hasChoices(answer, (choice) => typeof choice.text === 'string');
    case 'messages': return answer.type === 'message' && Array.isArray(answer.content) && answer.content.every(isObject) && typeof answer.stop_reason === 'string';
    case 'responses': return answer.object === 'response' && Array.isArray(answer.output) && answer.output.every(isObject) && isFinal(answer.status);
  }
}

const isFinal = (status: unknown): boolean => status === 'completed' || status === 'incomplete' || status === 'failed';

function hasChoices(answer: JsonObject, isWhole: (choice: JsonObject) => boolean): boolean {
  const { choices } = answer;
  if (!Array.isArray(choices) || choices.length === 0 || tellsError(answer)) return false;
  return choices.every((choice) => isObject(choice) && typeof choice.finish_reason === 'string' && choice.finish_reason !== 'error' && isWhole(choice));
}

/** For what is not replayable: `[DONE]` alone in the completion dialects, nothing in the others. The events share parts with the answer. */
export function* replay(endpoint: AnswerDialect, answer: JsonObject, options: ReplayOptions): Generator<AnswerEvent> {
  const isSound = isReplayable(endpoint, answer);
  switch (endpoint) {
    case 'chatCompletions':
      if (isSound) yield* replayChat(answer, options.includesUsage);
      break;
    case 'completions':
      if (isSound) yield* replayCompletion(answer, options.includesUsage);
      break;
    case 'messages':
      if (isSound) yield* replayMessage(answer);
      return;
    case 'responses':
      if (isSound) yield* replayResponse(answer);
      return;
  }
  yield { event: undefined, data: '[DONE]' };
}
