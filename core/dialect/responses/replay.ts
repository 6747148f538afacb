// A stored response as the events of a streamed one. Messages, reasoning, function calls and custom tool calls are told piece by piece;
// items of all other types as added and done, whole, which is what the API does where their types have no events of their own.

import { isObject, textOf, type AnswerEvent, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { slices, tokenSlices } from '../common/slices.js';

type Open = Record<string, Json>;

/** An event without its number. */
type Step = Open & { readonly type: string };

/** What a response does not know before it is over. */
const lateMembers = ['usage', 'completed_at', 'error', 'incomplete_details'] as const;

export function* replayResponse(response: JsonObject): Generator<AnswerEvent> {
  let sequence = 0;
  for (const step of steps(response)) {
    yield { event: step.type, data: { ...step, sequence_number: sequence } };
    sequence += 1;
  }
}

function* steps(response: JsonObject): Generator<Step> {
  const begun = begunResponse(response);
  yield { type: 'response.created', response: begun };
  yield { type: 'response.in_progress', response: begun };
  const items = Array.isArray(response.output) ? response.output.filter(isObject) : [];
  for (const [index, item] of items.entries()) {
    yield { type: 'response.output_item.added', output_index: index, item: begunItem(item) };
    yield* itemSteps(item, { item_id: textOf(item.id), output_index: index });
    yield { type: 'response.output_item.done', output_index: index, item };
  }
  yield { type: `response.${textOf(response.status)}`, response };
}

const objectsOf = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

function begunResponse(response: JsonObject): JsonObject {
  const begun: Open = { ...response, status: 'in_progress', output: [] };
  for (const name of lateMembers) if (name in begun) begun[name] = null;
  // Not of the API: official clients add it to what they got.
  delete begun.output_text;
  return begun;
}

function begunItem(item: JsonObject): JsonObject {
  const begun: Open = { ...item };
  if ('status' in item || item.type === 'message') begun.status = 'in_progress';
  switch (item.type) {
    case 'message': begun.content = []; break;
    case 'function_call': begun.arguments = ''; break;
    case 'custom_tool_call': begun.input = ''; break;
    case 'reasoning':
      begun.summary = [];
      if (Array.isArray(item.content)) begun.content = [];
      delete begun.encrypted_content;
  }
  return begun;
}

interface Place {
  readonly item_id: string;
  readonly output_index: number;
}

function* itemSteps(item: JsonObject, place: Place): Generator<Step> {
  switch (item.type) {
    case 'message':
      for (const [index, part] of objectsOf(item.content).entries()) yield* partSteps(part, place, index);
      break;
    case 'reasoning':
      for (const [index, part] of objectsOf(item.summary).entries()) yield* summarySteps(part, place, index);
      for (const [index, part] of objectsOf(item.content).entries()) yield* partSteps(part, place, index);
      break;
    case 'function_call': {
      const text = textOf(item.arguments);
      for (const delta of slices(text)) yield { type: 'response.function_call_arguments.delta', ...place, delta };
      yield { type: 'response.function_call_arguments.done', ...place, name: textOf(item.name), arguments: text };
      break;
    }
    case 'custom_tool_call': {
      const text = textOf(item.input);
      for (const delta of slices(text)) yield { type: 'response.custom_tool_call_input.delta', ...place, delta };
      yield { type: 'response.custom_tool_call_input.done', ...place, input: text };
    }
  }
}

function* partSteps(part: JsonObject, item: Place, index: number): Generator<Step> {
  const place = { ...item, content_index: index };
  switch (part.type) {
    case 'output_text': {
      const text = textOf(part.text);
      const logprobs = Array.isArray(part.logprobs) ? part.logprobs : [];
      const empty = { annotations: [], ...(part.logprobs === undefined ? {} : { logprobs: [] }) };
      yield { type: 'response.content_part.added', ...place, part: { ...part, text: '', ...empty } };
      for (const slice of tokenSlices(text, logprobs)) yield { type: 'response.output_text.delta', ...place, delta: slice.text, logprobs: slice.tokens };
      const annotations = Array.isArray(part.annotations) ? part.annotations : [];
      for (const [at, annotation] of annotations.entries()) yield { type: 'response.output_text.annotation.added', ...place, annotation_index: at, annotation };
      yield { type: 'response.output_text.done', ...place, text, logprobs };
      break;
    }
    case 'refusal': {
      const refusal = textOf(part.refusal);
      yield { type: 'response.content_part.added', ...place, part: { ...part, refusal: '' } };
      for (const delta of slices(refusal)) yield { type: 'response.refusal.delta', ...place, delta };
      yield { type: 'response.refusal.done', ...place, refusal };
      break;
    }
    case 'reasoning_text': {
      const text = textOf(part.text);
      yield { type: 'response.content_part.added', ...place, part: { ...part, text: '' } };
      for (const delta of slices(text)) yield { type: 'response.reasoning_text.delta', ...place, delta };
      yield { type: 'response.reasoning_text.done', ...place, text };
      break;
    }
    default: yield { type: 'response.content_part.added', ...place, part };
  }
  yield { type: 'response.content_part.done', ...place, part };
}

function* summarySteps(part: JsonObject, item: Place, index: number): Generator<Step> {
  const place = { ...item, summary_index: index };
  const text = textOf(part.text);
  yield { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } };
  for (const delta of slices(text)) yield { type: 'response.reasoning_summary_text.delta', ...place, delta };
  yield { type: 'response.reasoning_summary_text.done', ...place, text };
  yield { type: 'response.reasoning_summary_part.done', ...place, part };
}
