// The Response object around the output items: the client's parameters echoed with their defaults, status, usage.
// Runs once for a plain answer, three times for a streamed one (created, in progress, final). May not look at a clock of its own.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { billedParts, cachedOf, countOf, inputParts, outputCounts, writtenOf } from '../common/usage-parts.js';

export interface ResponseContext {
  /** Begins with `resp_`. */
  readonly id: string;
  /** Seconds since the Unix epoch. */
  readonly createdAt: number;
  readonly model: string;
  /** The client's body. */
  readonly request: JsonObject;
  readonly isStored: boolean;
  /** Seconds since the Unix epoch, for `completed_at`; absent: it is not told. */
  readonly now?: () => number;
}

export interface Outcome {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly Json[];
  readonly incomplete?: 'max_output_tokens' | 'content_filter' | undefined;
  readonly error?: { readonly code: string; readonly message: string };
  /** As a chat completion tells it. */
  readonly usage?: Json | undefined;
  readonly serviceTier?: string | undefined;
}

export function responseObject(context: ResponseContext, outcome: Outcome): JsonObject {
  const { request } = context;
  const reasoning = isObject(request.reasoning) ? request.reasoning : {};
  const text = isObject(request.text) ? request.text : {};
  const response: Record<string, Json> = {
    id: context.id,
    object: 'response',
    created_at: context.createdAt,
    status: outcome.status,
    background: false,
    error: outcome.error ?? null,
    incomplete_details: outcome.incomplete === undefined ? null : { reason: outcome.incomplete },
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: request.metadata ?? {},
    model: context.model,
    output: outcome.output,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? reasoning.generate_summary ?? null },
    safety_identifier: request.safety_identifier ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    store: context.isStored,
    temperature: request.temperature ?? 1,
    text: { ...text, format: text.format ?? { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: Array.isArray(request.tools) ? request.tools.map(echoedTool) : [],
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? 'disabled',
  };
  // Left out when the provider did not say: no counts are not counts of zero.
  if (isObject(outcome.usage)) response.usage = usageOf(outcome.usage);
  if (typeof request.user === 'string') response.user = request.user;
  if (outcome.serviceTier !== undefined) response.service_tier = outcome.serviceTier;
  if (outcome.status === 'completed' && context.now !== undefined) response.completed_at = context.now();
  return response;
}

/** A function tool with the members that clients expect in every answer. */
function echoedTool(tool: Json): Json {
  if (!isObject(tool) || tool.type !== 'function') return tool;
  return { ...tool, description: tool.description ?? null, parameters: tool.parameters ?? null, strict: tool.strict ?? null };
}

function usageOf(usage: JsonObject): JsonObject {
  const input = countOf(usage.prompt_tokens);
  const { output, reasoning, parts } = outputCounts(usage);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cachedOf(usage), cache_write_tokens: writtenOf(usage), ...inputParts(usage.prompt_tokens_details) },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning ?? 0, ...parts },
    // A total that leaves out what it is the total of counts for nothing.
    total_tokens: Math.max(countOf(usage.total_tokens), input + output),
    ...billedParts(usage),
  };
}

/** Why an answer that ended with this finish reason is not whole; undefined: it is. */
export function incompleteReason(finish: string): 'max_output_tokens' | 'content_filter' | undefined {
  if (finish === 'length') return 'max_output_tokens';
  return finish === 'content_filter' ? 'content_filter' : undefined;
}
