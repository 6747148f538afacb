import { isObject, jsonInstruction, readMaxTokens, readResponseFormat, readStops, wantsJsonObject, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { textBlock } from './content.js';
import { traitsOf } from './models.js';
import { readThinkingControls } from './thinking.js';
import { readToolset } from './tools.js';
import { isThinkingLost, readConversation } from './turns.js';

type Open = Record<string, Json>;

/** Members of a chat request that are read here or have no counterpart; all others are copied as they are. */
const chatMembers: ReadonlySet<string> = new Set([
  'model', 'messages', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'stop', 'n', 'tools', 'tool_choice',
  'parallel_tool_calls', 'functions', 'function_call', 'response_format', 'reasoning_effort', 'thinking', 'user', 'safety_identifier', 'metadata',
  'service_tier', 'logprobs', 'top_logprobs', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'modalities', 'audio', 'prediction', 'seed',
  'store', 'verbosity', 'prompt_cache_key', 'prompt_cache_retention', 'web_search_options', 'moderation', 'output_config',
]);

/** A chat request as a Messages request, with `model` and `stream`. */
export function chatToMessages(body: JsonObject, call: ProviderCall): JsonObject {
  checkParameters(body, call);
  const { system, messages } = readConversation(body, call);
  const maxTokens = readMaxTokens(body) ?? traitsOf(call.model).defaultMaxTokens;
  const toolset = readToolset(body, call);
  const choice = toolset.tool_choice;
  const isToolForced = isObject(choice) && (choice.type === 'any' || choice.type === 'tool');
  const { thinking, effort } = readThinkingControls(body, call, maxTokens, { isToolForced, isThinkingLost: isThinkingLost(messages), isSampled: isSampled(body) });
  const wire: Open = { model: call.model, max_tokens: maxTokens };
  for (const [name, value] of Object.entries(body)) {
    if (!chatMembers.has(name) && value !== null) wire[name] = value;
  }
  const systemBlocks = wantsJsonObject(call) ? [...system, textBlock(jsonInstruction)] : system;
  if (systemBlocks.length > 0) wire.system = systemBlocks;
  wire.messages = messages as unknown as Json;
  if (toolset.tools !== undefined) wire.tools = toolset.tools;
  if (toolset.tool_choice !== undefined) wire.tool_choice = toolset.tool_choice;
  copyRange(wire, body, 'temperature', call);
  copyRange(wire, body, 'top_p', call);
  const stops = readStops(body);
  if (stops.length > 0) wire.stop_sequences = stops;
  if (thinking !== undefined) wire.thinking = thinking;
  const outputConfig = outputConfigOf(body, call, effort);
  if (outputConfig !== undefined) wire.output_config = outputConfig;
  const userId = userIdOf(body, call);
  if (userId !== undefined) wire.metadata = { user_id: userId };
  const tier = serviceTierOf(body, call);
  if (tier !== undefined) wire.service_tier = tier;
  if (call.isStream) wire.stream = true;
  return wire;
}

/** Thinking goes together with these only where they change nothing, or next to nothing. */
const isSampled = (body: JsonObject): boolean => (typeof body.temperature === 'number' && body.temperature !== 1) || typeof body.top_k === 'number'
  || (typeof body.top_p === 'number' && body.top_p < 0.95);

/** From 0 to 1 here, where OpenAI goes to 2. */
function copyRange(wire: Open, body: JsonObject, name: 'temperature' | 'top_p', call: ProviderCall): void {
  const value = body[name];
  if (value === undefined || value === null) return;
  if (typeof value !== 'number' || value < 0) return call.refuse(name, 'must be a number from 0 to 1');
  if (value > 1) return call.omit(name, 'must be a number from 0 to 1');
  wire[name] = value;
}

function outputConfigOf(body: JsonObject, call: ProviderCall, effort: string | undefined): Json | undefined {
  const config: Open = isObject(body.output_config) ? { ...body.output_config } : {};
  if (effort !== undefined) config.effort = effort;
  const format = readResponseFormat(body, call);
  if (format?.kind === 'schema') {
    if (format.description !== undefined) call.report('response_format.json_schema.description');
    config.format = { type: 'json_schema', schema: format.schema };
  }
  return Object.keys(config).length === 0 ? undefined : config;
}

function userIdOf(body: JsonObject, call: ProviderCall): string | undefined {
  const metadata = isObject(body.metadata) ? body.metadata : {};
  const { user_id: own, ...others } = metadata;
  if (Object.keys(others).length > 0) call.report('metadata');
  for (const id of [body.user, body.safety_identifier, own]) {
    if (typeof id === 'string') return id;
  }
  return undefined;
}

/** `auto` may use capacity that the customer has reserved, `standard_only` does not. Anthropic has no slower tier. */
function serviceTierOf(body: JsonObject, call: ProviderCall): string | undefined {
  switch (body.service_tier) {
    case undefined: case null: return undefined;
    case 'auto': case 'priority': return 'auto';
    case 'default': case 'standard_only': return 'standard_only';
    default: call.report('service_tier'); return undefined;
  }
}

/** Refuses what would change the answer and reports what would not. */
function checkParameters(body: JsonObject, call: ProviderCall): void {
  const { modalities } = body;
  if (isSet(body.n) && body.n !== 1) call.omit('n', 'must be 1; the models give one answer a call');
  if (isSet(body.logprobs) && body.logprobs !== false) call.omit('logprobs', 'the models give no log probabilities');
  if (isSet(body.top_logprobs) && body.top_logprobs !== 0) call.omit('top_logprobs', 'the models give no log probabilities');
  if (isObject(body.logit_bias) && Object.keys(body.logit_bias).length > 0) call.omit('logit_bias', 'is not supported');
  if (Array.isArray(modalities) && modalities.some((modality) => modality !== 'text')) call.omit('modalities', 'must be text only');
  if (isSet(body.audio)) call.omit('audio', 'the models give no audio');
  for (const name of ['presence_penalty', 'frequency_penalty']) {
    if (isSet(body[name]) && body[name] !== 0) call.report(name);
  }
  for (const name of ['seed', 'prediction', 'verbosity', 'prompt_cache_key', 'prompt_cache_retention', 'moderation']) {
    if (isSet(body[name])) call.report(name);
  }
  if (body.store === true) call.report('store');
}

const isSet = (value: Json | undefined): boolean => value !== undefined && value !== null;
