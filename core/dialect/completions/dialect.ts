// OpenAI's older text completions: chunks as those of chat, with plain text in them.

import { hasWholeChoices } from '../chat/chunk-writer.js';
import { ChatDeltas } from '../chat/deltas.js';
import { chunkErrorEvent, isOpenaiErrorBody, openaiErrorBody } from '../chat/error-shape.js';
import { chunkEnd, hasFinishReason, withResultsChunk } from '../chat/stream-end.js';
import { memberPrompt } from '../common/last-prompt.js';
import { defineDialect } from '../dialect.js';
import { CompletionsAccumulator } from './accumulator.js';
import { replayCompletion } from './replay.js';

export const completions = defineDialect({
  endpoint: 'completions',
  lastPrompt: (request) => memberPrompt(request, 'prompt'),
  errorBody: openaiErrorBody,
  errorEvent: chunkErrorEvent,
  isErrorBody: isOpenaiErrorBody,
  ...chunkEnd,
  tellsEnd: hasFinishReason,
  withResults: (events, results, first, call) => withResultsChunk('text_completion', events, results, first, call),
  deltas: (gate) => new ChatDeltas(gate, true),
  accumulator: () => new CompletionsAccumulator(),
  asksForUsage: true,
  isReplayable: (answer) => hasWholeChoices(answer, (choice) => typeof choice.text === 'string'),
  replay: (answer, options) => replayCompletion(answer, options.includesUsage),
});
