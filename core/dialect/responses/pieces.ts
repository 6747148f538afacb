// Hot: runs for each piece of a translated answer.
// Reads what messages and deltas of chat answers have in common: tool calls, annotations, log probabilities, reasoning that is told as text.
// Lenient, because the answers are of many providers: what has not the expected shape is taken as absent. May not throw.

import { isObject, listOf, textOf, writeJson, type Json, type JsonObject } from '@gateway/plugin-sdk';

/** Content as text; a list of parts is the text of its text parts. */
export function contentText(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  let text = '';
  for (const part of listOf(content)) if (isObject(part) && (part.type === 'text' || part.type === 'output_text')) text += textOf(part.text);
  return text;
}

/** Reasoning of providers that speak OpenAI's dialect and tell it beside the content, under one of two names or both. */
export const plainReasoning = (message: JsonObject): string => textOf(message.reasoning_content) || textOf(message.reasoning);

/** Arguments as JSON text; some providers give the object itself. */
export function argumentsText(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return isObject(value) ? writeJson(value) : '';
}

/** Null: none were asked for. */
export function logprobsOf(choice: JsonObject): readonly Json[] | null {
  const { logprobs } = choice;
  return isObject(logprobs) && Array.isArray(logprobs.content) ? logprobs.content.map(logprob) : null;
}

function logprob(entry: Json): Json {
  if (!isObject(entry)) return entry;
  return { token: entry.token ?? '', logprob: entry.logprob ?? 0, bytes: entry.bytes ?? [], top_logprobs: entry.top_logprobs ?? [] };
}

/** In the shape of responses; undefined: none that has a place there. */
export function annotationOf(annotation: Json): Json | undefined {
  if (!isObject(annotation)) return undefined;
  const citation = annotation.url_citation;
  if (annotation.type !== 'url_citation' || !isObject(citation)) return undefined;
  return { type: 'url_citation', start_index: citation.start_index ?? 0, end_index: citation.end_index ?? 0, title: citation.title ?? '', url: citation.url ?? '' };
}
