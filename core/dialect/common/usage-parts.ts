// Counts of a chat answer's usage that other dialects have no place for: they are told all the same, under the names of the chat answer, since calls are priced by them.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';

const kinds = ['audio_tokens', 'image_tokens', 'video_tokens'] as const;

/** Of prompt_tokens_details or completion_tokens_details: sound, images, films, where there were any. */
function mediaParts(details: Json | undefined): Readonly<Record<string, number>> {
  const parts: Record<string, number> = {};
  if (!isObject(details)) return parts;
  for (const kind of kinds) {
    const count = details[kind];
    if (typeof count === 'number' && count > 0) parts[kind] = count;
  }
  return parts;
}

/** Of prompt_tokens_details: sound, images, films, and what of these came out of a cache. */
export function inputParts(details: Json | undefined): JsonObject {
  const cached = isObject(details) ? mediaParts(details.cached_tokens_details) : {};
  return { ...mediaParts(details), ...(Object.keys(cached).length === 0 ? {} : { cached_tokens_details: cached }) };
}

/** What is billed beside the tokens: searches, sound by its length, and the longer life of what was written to a cache. */
export function billedParts(usage: JsonObject): JsonObject {
  const searches = countOf(usage.num_search_queries);
  const seconds = countOf(usage.prompt_audio_seconds);
  return {
    ...(isObject(usage.cache_creation) ? { cache_creation: usage.cache_creation } : {}),
    ...(isObject(usage.server_tool_use) ? { server_tool_use: usage.server_tool_use } : searches > 0 ? { server_tool_use: { web_search_requests: searches } } : {}),
    ...(seconds > 0 ? { prompt_audio_seconds: seconds } : {}),
  };
}

export interface OutputCounts {
  /** All of it; some providers count reasoning and citations beside it. */
  readonly output: number;
  /** Undefined: nothing was said of it. */
  readonly reasoning: number | undefined;
  readonly parts: Readonly<Record<string, number>>;
}

/** By the rules that the usage tap has for the answer as it came (body/usage-object.ts). */
export function outputCounts(usage: JsonObject): OutputCounts {
  const details = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const told = countOf(usage.completion_tokens);
  const reasoning = countOf(details.reasoning_tokens ?? usage.reasoning_tokens);
  const citations = countOf(usage.citation_tokens);
  const isApart = usage.citation_tokens !== undefined || usage.num_search_queries !== undefined || reasoning > told;
  const beside = isApart ? reasoning + citations : usage.total_tokens === countOf(usage.prompt_tokens) + told + reasoning ? reasoning : 0;
  return {
    output: told + beside,
    reasoning: typeof (details.reasoning_tokens ?? usage.reasoning_tokens) === 'number' ? reasoning : undefined,
    parts: { ...mediaParts(details), ...(citations > 0 ? { citation_tokens: citations } : {}) },
  };
}

/** Of the input: read from a cache. */
export function cachedOf(usage: JsonObject): number {
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  return countOf(details.cached_tokens ?? usage.cached_tokens ?? usage.cache_read_input_tokens ?? usage.prompt_cache_hit_tokens);
}

/** Of the input: written to a cache. */
export function writtenOf(usage: JsonObject): number {
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  return countOf(usage.cache_creation_input_tokens ?? details.cache_write_tokens ?? details.cache_creation_input_tokens);
}

/** 0 when it is none. */
export const countOf = (value: Json | undefined): number => (typeof value === 'number' && value > 0 ? value : 0);
