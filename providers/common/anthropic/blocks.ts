import { isObject, type FinishReason, type Json, type JsonObject, type TokenUsage } from '@gateway/plugin-sdk';

const finishByStop: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  // The turn of a server tool that takes long; the client may send the answer back to go on.
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

/** An answer that was cut or refused says so even when it holds tool calls: they may lack their end. */
export function finishOf(stopReason: string, toolCount: number): FinishReason {
  const finish = finishByStop.get(stopReason) ?? 'stop';
  return finish === 'stop' && toolCount > 0 ? 'tool_calls' : finish;
}

const countOf = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined);

/** Anthropic counts cached tokens beside the input, not in it. */
export function usageOf(usage: JsonObject): TokenUsage {
  const cachedInput = countOf(usage.cache_read_input_tokens);
  const cacheWriteInput = countOf(usage.cache_creation_input_tokens);
  const details = usage.output_tokens_details;
  const reasoning = isObject(details) ? countOf(details.thinking_tokens) : undefined;
  const cacheWriteHourInput = isObject(usage.cache_creation) ? countOf(usage.cache_creation.ephemeral_1h_input_tokens) : undefined;
  const webSearches = isObject(usage.server_tool_use) ? countOf(usage.server_tool_use.web_search_requests) : undefined;
  return {
    input: (countOf(usage.input_tokens) ?? 0) + (cachedInput ?? 0) + (cacheWriteInput ?? 0),
    output: countOf(usage.output_tokens) ?? 0,
    ...(cachedInput === undefined ? {} : { cachedInput }),
    ...(cacheWriteInput === undefined ? {} : { cacheWriteInput }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(cacheWriteHourInput === undefined ? {} : { cacheWriteHourInput }),
    ...(webSearches === undefined ? {} : { webSearches }),
  };
}

export interface Citations {
  /** Those of web pages, in OpenAI's shape. */
  readonly annotations: Json[];
  /** All others, as they came: they point into the client's documents. */
  readonly citations: Json[];
}

/** The citations of a text that stands in the answer from `start` to `end`. */
export function addCitations(into: Citations, given: readonly Json[], start: number, end: number): void {
  for (const citation of given) {
    if (isObject(citation) && citation.type === 'web_search_result_location' && typeof citation.url === 'string') {
      const title = typeof citation.title === 'string' ? citation.title : '';
      into.annotations.push({ type: 'url_citation', url_citation: { start_index: start, end_index: end, url: citation.url, title } });
    } else {
      into.citations.push(citation);
    }
  }
}
