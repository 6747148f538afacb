import { isObject, readMaxTokens, readStops, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';

type Open = Record<string, Json>;

/** Ollama's own runtime options; at the top level of a body they are meant for `options`. */
const ownOptions = [
  'num_keep', 'num_predict', 'min_p', 'typical_p', 'repeat_last_n', 'repeat_penalty', 'num_ctx', 'num_batch', 'num_gpu', 'main_gpu', 'use_mmap', 'num_thread',
  'draft_num_predict',
] as const;
/** OpenAI's names for options; Ollama's are the same. */
const sharedOptions = ['temperature', 'top_p', 'top_k', 'seed', 'presence_penalty', 'frequency_penalty'] as const;

/** Fields that became something else, or were judged; all others go up as they are. */
const handled: ReadonlySet<string> = new Set([
  ...ownOptions, ...sharedOptions, 'options', 'model', 'messages', 'prompt', 'stream', 'stream_options', 'stop', 'max_tokens', 'max_completion_tokens', 'tools',
  'tool_choice', 'functions', 'function_call', 'parallel_tool_calls', 'response_format', 'thinking', 'reasoning_effort', 'logprobs', 'top_logprobs', 'n', 'logit_bias',
  'modalities', 'audio', 'web_search_options', 'best_of', 'echo', 'user', 'metadata', 'store', 'service_tier', 'prompt_cache_key', 'prompt_cache_retention',
  'safety_identifier', 'verbosity', 'prediction',
]);
/** They change nothing about what the answer means. */
const hints = [
  'user', 'metadata', 'store', 'service_tier', 'prompt_cache_key', 'prompt_cache_retention', 'safety_identifier', 'verbosity', 'prediction',
] as const;

const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null;

/** `options` of the upstream body; undefined when there are none. The client's own `options` count where OpenAI has no field. */
export function optionsOf(body: JsonObject): JsonObject | undefined {
  const options: Open = isObject(body.options) ? { ...body.options } : {};
  for (const name of ownOptions) if (isGiven(body[name])) options[name] = body[name];
  for (const name of sharedOptions) if (isGiven(body[name])) options[name] = body[name];
  const maximum = readMaxTokens(body);
  if (maximum !== undefined) options.num_predict = maximum;
  const stops = readStops(body);
  if (stops.length > 0) options.stop = stops;
  return Object.keys(options).length === 0 ? undefined : options;
}

/** Members that are neither OpenAI's nor translated: `keep_alive`, `think`, `truncate`, and whatever Ollama adds. */
export function ownFields(body: JsonObject): Open {
  const fields: Open = {};
  for (const [name, value] of Object.entries(body)) if (!handled.has(name)) fields[name] = value;
  return fields;
}

/** Refuses what would change the answer, reports what would not. */
export function judgeFields(body: JsonObject, call: ProviderCall): void {
  for (const name of hints) {
    if (isGiven(body[name]) && !(name === 'store' && body.store === false)) call.report(name);
  }
  if (isGiven(body.n) && body.n !== 1) call.omit('n', 'ollama gives one answer for each call');
  if (isObject(body.logit_bias) && Object.keys(body.logit_bias).length > 0) call.omit('logit_bias', 'ollama has no bias for tokens');
}

/** Ollama judges `top_logprobs` by the same range, but names no parameter. */
export function topLogprobs(value: Json | undefined, param: string, call: ProviderCall): number | undefined {
  if (!isGiven(value)) return undefined;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 20 ? value : call.refuse(param, 'must be a whole number from 0 to 20');
}
