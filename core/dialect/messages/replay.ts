// A stored message as the events of a streamed one.

import { isObject, textOf, writeJson, type AnswerEvent, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { slices } from '../common/slices.js';

/** Members of usage that message_delta tells; the API knows them only at the end. The others are told in message_start. */
const endCounts = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens', 'server_tool_use', 'output_tokens_details'] as const;
/** Of those, the ones that message_start does not tell, or tells to be null: clients take no null from the end. */
const lateCounts = ['server_tool_use', 'output_tokens_details'] as const;

export function* replayMessage(answer: JsonObject): Generator<AnswerEvent> {
  const { content, stop_reason: stopReason, stop_sequence: stopSequence, stop_details: stopDetails, container, context_management: context, usage, ...rest } = answer;
  const counts = isObject(usage) ? usage : { input_tokens: 0, output_tokens: 0 };
  const message: Record<string, Json> = { ...rest, content: [], stop_reason: null, stop_sequence: null, usage: startUsage(counts) };
  if (stopDetails !== undefined) message.stop_details = null;
  if (container !== undefined) message.container = null;
  yield { event: 'message_start', data: { type: 'message_start', message } };
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  for (const [index, block] of blocks.entries()) yield* blockEvents(index, block);

  const delta: Record<string, Json> = { stop_reason: stopReason ?? null, stop_sequence: stopSequence ?? null };
  if (stopDetails !== undefined) delta.stop_details = stopDetails;
  if (container !== undefined) delta.container = container;
  const end: Record<string, Json> = { type: 'message_delta', delta, usage: endUsage(counts) };
  if (context !== undefined) end.context_management = context;
  yield { event: 'message_delta', data: end };
  yield { event: 'message_stop', data: { type: 'message_stop' } };
}

/** As the API begins: all input is counted, and next to no output. */
function startUsage(usage: JsonObject): JsonObject {
  const start: Record<string, Json> = { ...usage };
  for (const name of lateCounts) if (name in start) start[name] = null;
  start.output_tokens = typeof usage.output_tokens === 'number' ? Math.min(1, usage.output_tokens) : 0;
  return start;
}

function endUsage(usage: JsonObject): JsonObject {
  const end: Record<string, Json> = { output_tokens: 0 };
  for (const name of endCounts) {
    const count = usage[name];
    if (count !== undefined) end[name] = count;
  }
  return end;
}

function* blockEvents(index: number, block: JsonObject): Generator<AnswerEvent> {
  const deltaOf = (delta: JsonObject): AnswerEvent => ({ event: 'content_block_delta', data: { type: 'content_block_delta', index, delta } });
  yield { event: 'content_block_start', data: { type: 'content_block_start', index, content_block: startOf(block) } };
  switch (block.type) {
    case 'text':
      for (const text of slices(textOf(block.text))) yield deltaOf({ type: 'text_delta', text });
      if (Array.isArray(block.citations)) for (const citation of block.citations) yield deltaOf({ type: 'citations_delta', citation });
      break;
    case 'thinking':
      for (const thinking of slices(textOf(block.thinking))) yield deltaOf({ type: 'thinking_delta', thinking });
      if (textOf(block.signature) !== '') yield deltaOf({ type: 'signature_delta', signature: textOf(block.signature) });
      break;
    case 'tool_use': case 'server_tool_use': case 'mcp_tool_use':
      yield* inputEvents(block.input, deltaOf);
  }
  yield { event: 'content_block_stop', data: { type: 'content_block_stop', index } };
}

/** The block before its deltas. Blocks of kinds that have none come whole. */
function startOf(block: JsonObject): JsonObject {
  switch (block.type) {
    case 'text': return { ...block, text: '', ...(Array.isArray(block.citations) ? { citations: [] } : {}) };
    case 'thinking': return { ...block, thinking: '', ...(typeof block.signature === 'string' ? { signature: '' } : {}) };
    case 'tool_use': case 'server_tool_use': case 'mcp_tool_use': return { ...block, input: {} };
    default: return block;
  }
}

/** Begins with an empty piece, as the API does; for an empty input that is all. */
function* inputEvents(input: Json | undefined, deltaOf: (delta: JsonObject) => AnswerEvent): Generator<AnswerEvent> {
  yield deltaOf({ type: 'input_json_delta', partial_json: '' });
  if (input === undefined || (isObject(input) && Object.keys(input).length === 0)) return;
  for (const json of slices(writeJson(input))) yield deltaOf({ type: 'input_json_delta', partial_json: json });
}
