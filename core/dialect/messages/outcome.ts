// How an answer ended and what it cost, in the words of the Messages API.
// Runs once for a plain answer; for each chunk with usage and once at the end of a streamed one. Pure.

import { isObject, readJson, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { billedParts, cachedOf, countOf, inputParts, outputCounts, writtenOf } from '../common/usage-parts.js';

export const messageId = (exchangeId: string): string => `msg_${exchangeId.replaceAll('-', '')}`;

const nativeReasons: ReadonlySet<string> = new Set([
  'end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal', 'model_context_window_exceeded',
]);

export interface Ending {
  /** `finish_reason` of the choice. */
  readonly finish: string;
  /** The provider's own word for it. */
  readonly native: string;
  readonly stopSequence: string | null;
  readonly hasToolUse: boolean;
  /** The model's own text of a refusal, when it gave it apart from the answer. */
  readonly refusal: string;
}

/** The members of `message_delta.delta`, and of a whole message. */
export function endingMembers(ending: Ending): JsonObject {
  const reason = stopReason(ending);
  return {
    stop_reason: reason,
    stop_sequence: reason === 'stop_sequence' ? ending.stopSequence : null,
    ...(reason === 'refusal' ? { stop_details: { type: 'refusal', category: null, explanation: ending.refusal === '' ? null : ending.refusal } } : {}),
  };
}

/** `tool_use` if and only if there is a tool to use: agents act on this word alone, and some providers say `stop` beside tool calls. */
function stopReason(ending: Ending): string {
  const { finish, native, hasToolUse } = ending;
  if (ending.refusal !== '' && !hasToolUse && finish !== 'length') return 'refusal';
  if (finish === 'length') return native === 'model_context_window_exceeded' ? native : 'max_tokens';
  if (finish === 'content_filter') return 'refusal';
  if (hasToolUse) return 'tool_use';
  if (ending.stopSequence !== null && (finish === 'stop' || native === 'stop_sequence')) return 'stop_sequence';
  return nativeReasons.has(native) && native !== 'tool_use' ? native : 'end_turn';
}

export interface MessageUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
  readonly output_tokens_details?: Readonly<Record<string, number>>;
  readonly input_tokens_details?: Json;
  readonly cache_creation?: Json;
  readonly server_tool_use?: Json;
}

export const noUsage: MessageUsage = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };

/** `prompt_tokens` counts all input, `input_tokens` only what no cache was read or written for. */
export function messageUsage(usage: Json | undefined): MessageUsage {
  if (!isObject(usage)) return noUsage;
  const read = cachedOf(usage);
  const written = writtenOf(usage);
  const input = inputParts(usage.prompt_tokens_details);
  const { output, reasoning, parts } = outputCounts(usage);
  const details = { ...(reasoning === undefined ? {} : { thinking_tokens: reasoning }), ...parts };
  return {
    input_tokens: Math.max(0, countOf(usage.prompt_tokens) - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: output,
    ...(Object.keys(details).length === 0 ? {} : { output_tokens_details: details }),
    ...(Object.keys(input).length === 0 ? {} : { input_tokens_details: input }),
    ...billedParts(usage),
  };
}

/** The Messages API takes arguments that are not a JSON object in this wrapping, which models know. */
export function toolInput(text: string): JsonObject {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed === 'null') return {};
  let value: Json;
  try {
    value = readJson(trimmed);
  } catch {
    // Cut off by the token limit, or never JSON: nothing is lost, and no tool takes it for its input.
    return { INVALID_JSON: text };
  }
  return isObject(value) ? value : { INVALID_JSON: text };
}

/** Ids of the tool calls of one message, each of which is there and unlike the others. */
export class ToolIds {
  readonly #given = new Set<string>();
  #count = 0;
  readonly #base: string;

  constructor(exchangeId: string) {
    this.#base = `toolu_${exchangeId.replaceAll('-', '')}`;
  }

  take(id: string): string {
    let taken = id;
    while (taken === '' || this.#given.has(taken)) {
      this.#count += 1;
      taken = `${this.#base}_${this.#count}`;
    }
    this.#given.add(taken);
    return taken;
  }
}
