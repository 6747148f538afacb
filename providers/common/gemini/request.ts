import type { ChatExtension, Json, JsonObject, ProviderCall } from '@gateway/plugin-sdk';
import { isObject } from '@gateway/plugin-sdk';
import type { GeminiDialect } from './contents.js';
import { conversation } from './contents.js';
import { generationConfig, generationNames } from './generation.js';
import { toolFields } from './tools.js';

/** Members that `chatToGemini` reads beyond OpenAI's API. */
export const geminiAccepts: readonly ChatExtension[] = ['thinking', 'top_k', 'thought_signature', 'is_error'];

/** Read by this translation, or settled by the host. */
const translated = new Set([
  'model', 'messages', 'stream', 'stream_options', 'temperature', 'top_p', 'top_k', 'n', 'max_tokens', 'max_completion_tokens', 'stop', 'presence_penalty',
  'frequency_penalty', 'seed', 'logprobs', 'top_logprobs', 'response_format', 'tools', 'tool_choice', 'functions', 'function_call', 'parallel_tool_calls',
  'reasoning_effort', 'thinking', 'modalities', 'audio', 'web_search_options', 'toolConfig', 'tool_config', 'generationConfig', 'generation_config',
]);

/** Change nothing of what the answer means, and Google has no place for them. */
const hints = ['user', 'metadata', 'prompt_cache_key', 'prompt_cache_retention', 'safety_identifier', 'prediction'];

/** Google's own fields of the request, by the names clients write. */
const ownNames: ReadonlyMap<string, string> = new Map([
  ['safety_settings', 'safetySettings'], ['cached_content', 'cachedContent'], ['model_armor_config', 'modelArmorConfig'],
]);

/** A chat completion request as the body of `generateContent`. */
export function chatToGemini(body: JsonObject, call: ProviderCall, dialect: GeminiDialect): JsonObject {
  const { contents, systemInstruction } = conversation(body, call, dialect);
  const generation = generationConfig(body, call);
  return {
    contents,
    ...(systemInstruction === undefined ? {} : { systemInstruction }),
    ...toolFields(body, call, dialect),
    ...(Object.keys(generation).length === 0 ? {} : { generationConfig: generation }),
    ...otherFields(body, call),
  };
}

function otherFields(body: JsonObject, call: ProviderCall): JsonObject {
  const fields: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) {
    if (translated.has(name) || generationNames.has(name) || value === null) continue;
    if (hints.includes(name)) call.report(name);
    else if (name === 'store') {
      if (value === true) call.report('store');
    } else if (name === 'verbosity') {
      if (value !== 'medium') call.report('verbosity');
    } else if (name === 'service_tier') {
      if (value === 'flex' || value === 'priority') fields.serviceTier = value;
      else if (value !== 'auto' && value !== 'default') call.report('service_tier');
    } else if (name === 'logit_bias') {
      if (isObject(value) && Object.keys(value).length > 0) call.omit('logit_bias', 'Gemini takes none');
    } else fields[ownNames.get(name) ?? name] = value;
  }
  return fields;
}
