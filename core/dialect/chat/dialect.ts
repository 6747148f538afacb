// OpenAI's chat completions: the pivot that the other dialects are translated into and from.

import { isObject } from '@gateway/plugin-sdk';
import { lastTurnPrompt } from '../common/last-prompt.js';
import { defineDialect } from '../dialect.js';
import { ChatAccumulator } from './accumulator.js';
import { hasWholeChoices } from './chunk-writer.js';
import { ChatDeltas } from './deltas.js';
import { chunkErrorEvent, isOpenaiErrorBody, openaiErrorBody } from './error-shape.js';
import { replayChat } from './replay.js';
import { chunkEnd, hasFinishReason, withResultsChunk } from './stream-end.js';

export const chat = defineDialect({
  endpoint: 'chatCompletions',
  lastPrompt: (request) => lastTurnPrompt(request, 'messages', 'text'),
  errorBody: openaiErrorBody,
  errorEvent: chunkErrorEvent,
  isErrorBody: isOpenaiErrorBody,
  ...chunkEnd,
  endMark: /\[DONE\]|"finish_reason": ?"|"error"/,
  tellsEnd: hasFinishReason,
  withResults: (events, results, first, call) => withResultsChunk('chat.completion.chunk', events, results, first, call),
  deltas: (gate) => new ChatDeltas(gate, false),
  accumulator: () => new ChatAccumulator(),
  asksForUsage: true,
  isReplayable: (answer) => hasWholeChoices(answer, (choice) => isObject(choice.message)),
  replay: (answer, options) => replayChat(answer, options.includesUsage),
});
