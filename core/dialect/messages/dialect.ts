// Anthropic's Messages API.

import { isObject } from '@gateway/plugin-sdk';
import { hasFinishReason } from '../chat/stream-end.js';
import { insertedBeforeLast, type LastEvents } from '../common/event-members.js';
import { lastTurnPrompt } from '../common/last-prompt.js';
import { defineDialect } from '../dialect.js';
import { MessagesAccumulator } from './accumulator.js';
import { chatToMessages } from './answer.js';
import { estimateTokens } from './count-tokens.js';
import { MessagesDeltas } from './deltas.js';
import { isMessageErrorBody, messageErrorBody, messageErrorEvent } from './error-shape.js';
import { replayMessage } from './replay.js';
import { messagesToChat } from './request.js';
import { MessagesStage } from './stream.js';

const end: LastEvents = { closing: '', lastEvents: ['message_stop'] };

export const messages = defineDialect({
  endpoint: 'messages',
  translation: {
    names: new Map([
      ['reasoning_effort', 'output_config.effort'], ['response_format', 'output_config.format'], ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
      ['user', 'metadata.user_id'], ['stop', 'stop_sequences'], ['max_completion_tokens', 'max_tokens'], ['tools.function', 'tools'], ['messages.content_blocks', 'messages.content'],
    ]),
    request: messagesToChat,
    answer: chatToMessages,
    stage: (context) => new MessagesStage(context),
  },
  countTokens: (request) => ({ input_tokens: estimateTokens(request) }),
  lastPrompt: (request) => lastTurnPrompt(request, 'messages', 'text'),
  errorBody: messageErrorBody,
  errorEvent: messageErrorEvent,
  isErrorBody: isMessageErrorBody,
  rateHeaders: {
    requests: { limit: 'anthropic-ratelimit-requests-limit', remaining: 'anthropic-ratelimit-requests-remaining', reset: 'anthropic-ratelimit-requests-reset' },
    tokens: { limit: 'anthropic-ratelimit-tokens-limit', remaining: 'anthropic-ratelimit-tokens-remaining', reset: 'anthropic-ratelimit-tokens-reset' },
  },
  ...end,
  endMark: /message_stop|"type": ?"error"/,
  // Usage is counted from the first event on.
  tellsEnd: hasFinishReason,
  withResults: (events, results) => insertedBeforeLast(events, { event: 'hook_results', data: { type: 'hook_results', hook_results: results } }, end),
  deltas: (gate) => new MessagesDeltas(gate),
  accumulator: () => new MessagesAccumulator(),
  isReplayable: (answer) => answer.type === 'message' && Array.isArray(answer.content) && answer.content.every(isObject) && typeof answer.stop_reason === 'string',
  replay: replayMessage,
});
