// Counts of a chat answer's usage that other dialects have no place for: they are told all the same, under the names of the chat answer, since calls are priced by them.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';

const kinds = ['audio_tokens', 'image_tokens', 'video_tokens'] as const;

/** Of prompt_tokens_details or completion_tokens_details: sound, images, films, where there were any. */
export function mediaParts(details: Json | undefined): Readonly<Record<string, number>> {
  const parts: Record<string, number> = {};
  if (!isObject(details)) return parts;
  for (const kind of kinds) {
    const count = details[kind];
    if (typeof count === 'number' && count > 0) parts[kind] = count;
  }
  return parts;
}

/** What is billed beside the tokens: searches, and the longer life of what was written to a cache. */
export function billedParts(usage: JsonObject): JsonObject {
  return {
    ...(isObject(usage.cache_creation) ? { cache_creation: usage.cache_creation } : {}),
    ...(isObject(usage.server_tool_use) ? { server_tool_use: usage.server_tool_use } : {}),
  };
}
