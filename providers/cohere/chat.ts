import {
  isObject, readMaxTokens, readResponseFormat, readStops, readThinking, readToolChoice, readTools,
  type FunctionTool, type Json, type JsonObject, type ProviderCall,
} from '@gateway/plugin-sdk';
import { writeMessages } from './chat-messages.js';

type Wire = Record<string, Json>;

/** Members of OpenAI's API that are written below in Cohere's form, or that Cohere has no place for. All others go up as they came. */
const translated: ReadonlySet<string> = new Set([
  'messages', 'max_completion_tokens', 'max_tokens', 'top_p', 'top_k', 'stop', 'n', 'logprobs', 'top_logprobs', 'logit_bias', 'frequency_penalty',
  'presence_penalty', 'tools', 'functions', 'tool_choice', 'function_call', 'parallel_tool_calls', 'response_format', 'thinking', 'reasoning_effort',
  'stream_options', 'user', 'metadata', 'service_tier', 'store', 'safety_identifier', 'verbosity', 'prompt_cache_key', 'prompt_cache_retention',
  'prediction', 'modalities', 'audio', 'web_search_options',
]);

const hints = ['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_retention', 'prediction'];

const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null;

/** A chat completion as a call of Cohere's `/v2/chat`. */
export function chatRequest(body: JsonObject, call: ProviderCall): Json {
  const wire: Wire = {};
  for (const [name, value] of Object.entries(body)) {
    if (!translated.has(name) && value !== null) wire[name] = value;
  }
  wire.messages = writeMessages(body, call);
  const maxTokens = readMaxTokens(body);
  if (maxTokens !== undefined) wire.max_tokens = maxTokens;
  writeSampling(body, wire, call);
  writeTools(body, wire, call);
  writeFormat(body, wire, call);
  writeThinking(body, wire, call);
  refuseRest(body, call);
  return wire;
}

function writeSampling(body: JsonObject, wire: Wire, call: ProviderCall): void {
  // 1 is OpenAI's default and means no restriction; Cohere's range ends below it.
  if (body.top_p !== 1) copyWithin(wire, 'p', body, 'top_p', 0.01, 0.99, call);
  copyWithin(wire, 'k', body, 'top_k', 0, 500, call);
  for (const name of ['frequency_penalty', 'presence_penalty']) {
    if (body[name] !== 0) copyWithin(wire, name, body, name, 0, 1, call);
  }
  const stops = readStops(body);
  if (stops.length > 5) call.omit('stop', 'Cohere takes at most 5 sequences');
  else if (stops.length > 0) wire.stop_sequences = stops;
  if (body.logprobs === true) wire.logprobs = true;
}

function copyWithin(wire: Wire, own: string, body: JsonObject, name: string, min: number, max: number, call: ProviderCall): void {
  const value = body[name];
  if (!isGiven(value)) return;
  if (typeof value === 'number' && value >= min && value <= max) wire[own] = value;
  else call.omit(name, `Cohere takes numbers from ${min} to ${max}`);
}

function writeTools(body: JsonObject, wire: Wire, call: ProviderCall): void {
  const all = readTools(body, call, (tool, place) => call.omit(place, `Cohere knows function tools only, not ${String(tool.type)}`));
  if (all.some((tool) => tool.cacheControl !== undefined)) call.report('cache_control');
  const tools = choose(all, body, wire, call);
  if (tools.length === 0) return;
  wire.tools = tools.map((tool) => ({
    type: 'function',
    function: { name: tool.name, ...(tool.description === undefined ? {} : { description: tool.description }), parameters: tool.parameters },
  }));
  if (wire.strict_tools === undefined && tools.some((tool) => tool.strict === true)) wire.strict_tools = true;
  if (body.parallel_tool_calls === false) call.report('parallel_tool_calls');
}

/** Cohere cannot name the tool that is to be called: the others are left out instead. */
function choose(tools: readonly FunctionTool[], body: JsonObject, wire: Wire, call: ProviderCall): readonly FunctionTool[] {
  const given = body.tool_choice;
  if (given === 'REQUIRED' || given === 'NONE') {
    wire.tool_choice = given;
    return tools;
  }
  const choice = readToolChoice(body, call);
  if (choice === undefined || tools.length === 0) return tools;
  switch (choice.kind) {
    case 'auto': return tools;
    case 'none': wire.tool_choice = 'NONE'; return tools;
    case 'required': wire.tool_choice = 'REQUIRED'; return tools;
    case 'function': {
      const named = tools.filter((tool) => tool.name === choice.name);
      if (named.length === 0) call.refuse('tool_choice', `must name one of the tools, not ${choice.name}`);
      wire.tool_choice = 'REQUIRED';
      return named;
    }
    case 'allowed': {
      const named = tools.filter((tool) => choice.names.includes(tool.name));
      if (named.length === 0) call.refuse('tool_choice', 'must allow at least one of the tools');
      if (choice.isRequired) wire.tool_choice = 'REQUIRED';
      return named;
    }
  }
}

function writeFormat(body: JsonObject, wire: Wire, call: ProviderCall): void {
  const given = body.response_format;
  const format = readResponseFormat(body, call);
  if (format === undefined || format.kind === 'text') return;
  // Cohere's own form, with its schema beside the type, comes through whole.
  if (format.kind === 'schema') wire.response_format = { type: 'json_object', json_schema: format.schema };
  else if (isObject(given)) wire.response_format = given;
}

/** Cohere's reasoning is on or off, with a budget; it knows no degrees of effort. */
function writeThinking(body: JsonObject, wire: Wire, call: ProviderCall): void {
  const { type, budgetTokens, effort } = readThinking(body);
  if (type !== undefined) {
    if (type === 'disabled') {
      wire.thinking = { type };
    } else {
      const own = isObject(body.thinking) ? body.thinking.token_budget : undefined;
      const budget = budgetTokens ?? (typeof own === 'number' ? own : undefined);
      wire.thinking = budget === undefined ? { type: 'enabled' } : { type: 'enabled', token_budget: budget };
    }
    if (effort !== undefined) call.report('reasoning_effort');
    return;
  }
  if (effort === undefined) return;
  wire.thinking = { type: effort === 'none' ? 'disabled' : 'enabled' };
  if (effort !== 'none' && effort !== 'high') call.report('reasoning_effort');
}

function refuseRest(body: JsonObject, call: ProviderCall): void {
  if (isGiven(body.n) && body.n !== 1) call.omit('n', 'Cohere gives one answer for each call');
  if (isGiven(body.top_logprobs) && body.top_logprobs !== 0) call.omit('top_logprobs', 'Cohere tells the log probability of the chosen tokens only; leave it out');
  if (isObject(body.logit_bias) && Object.keys(body.logit_bias).length > 0) call.omit('logit_bias', 'Cohere has no bias for tokens');
  const modalities = Array.isArray(body.modalities) ? body.modalities as readonly Json[] : [];
  if (modalities.some((modality) => modality !== 'text')) call.omit('modalities', 'Cohere answers with text only');
  if (isGiven(body.audio)) call.omit('audio', 'Cohere answers with text only');
  if (isGiven(body.web_search_options)) call.report('web_search_options');
  for (const name of hints) {
    if (isGiven(body[name])) call.report(name);
  }
  if (body.store === true) call.report('store');
  if (isGiven(body.service_tier) && body.service_tier !== 'auto' && body.service_tier !== 'default') call.report('service_tier');
  if (isGiven(body.verbosity) && body.verbosity !== 'medium') call.report('verbosity');
}
