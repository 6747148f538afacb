// OpenAI's Responses API.

import { isObject, type AnswerEvent, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { isOpenaiErrorBody, openaiErrorBody } from '../chat/error-shape.js';
import { isLastEvent, type LastEvents } from '../common/event-members.js';
import { lastTurnPrompt, memberPrompt } from '../common/last-prompt.js';
import type { AnswerContext } from '../context.js';
import { defineDialect } from '../dialect.js';
import { ResponsesAccumulator } from './accumulator.js';
import { chatToResponse, type ResponseContext } from './answer.js';
import { ResponsesDeltas } from './deltas.js';
import { responseErrorEvent } from './error-shape.js';
import { replayResponse } from './replay.js';
import { newResponseId } from './stored.js';
import { storedToChat, withStored } from './stored-items.js';
import { ResponsesStage } from './stream.js';

const randomBytes = 10;

const contextOf = ({ model, createdAt, request, isStored, randomHex }: AnswerContext): ResponseContext =>
  ({ id: newResponseId(Date.now(), randomHex(randomBytes)), createdAt, model, request, isStored });

const end: LastEvents = { closing: '', lastEvents: ['response.completed', 'response.incomplete'] };
const isFinal = (status: unknown): boolean => status === 'completed' || status === 'incomplete' || status === 'failed';

function withResults(event: AnswerEvent, results: Json): AnswerEvent {
  const data = typeof event.data === 'string' ? JSON.parse(event.data) as JsonObject : event.data;
  const { response } = data;
  return isObject(response) ? { event: event.event, data: { ...data, response: { ...response, hook_results: results } } } : event;
}

export const responses = defineDialect({
  endpoint: 'responses',
  translation: {
    names: new Map([
      ['reasoning_effort', 'reasoning.effort'], ['response_format', 'text.format'], ['verbosity', 'text.verbosity'], ['max_completion_tokens', 'max_output_tokens'],
      ['logprobs', 'include'], ['tools.function', 'tools'], ['messages.content.image_url', 'input.content'], ['messages.content_blocks', 'input.content'], ['messages.name', 'input.name'],
    ]),
    request: storedToChat,
    answer: (completion, context) => chatToResponse(completion, contextOf(context)),
    stage: (context, onWhole) => new ResponsesStage(contextOf(context), onWhole),
  },
  keepsAnswers: true,
  withStored,
  lastPrompt: (request) => memberPrompt(request, 'input') ?? lastTurnPrompt(request, 'input', 'input_text'),
  errorBody: openaiErrorBody,
  errorEvent: responseErrorEvent,
  isErrorBody: isOpenaiErrorBody,
  errorEvents: ['error', 'response.failed'],
  ...end,
  endMark: /response\.(?:completed|incomplete|failed)|"type": ?"error"/,
  // A response names no reason when it is complete.
  tellsEnd: ({ finishReason, outputTokens }) => finishReason !== '' || outputTokens !== -1,
  withResults: (events, results) => events.map((event) => (isLastEvent(event, end) ? withResults(event, results) : event)),
  deltas: (gate) => new ResponsesDeltas(gate),
  repeatsTexts: true,
  accumulator: () => new ResponsesAccumulator(),
  isReplayable: (answer) => answer.object === 'response' && Array.isArray(answer.output) && answer.output.every(isObject) && isFinal(answer.status),
  replay: replayResponse,
});
