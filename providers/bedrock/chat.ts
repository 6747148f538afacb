import {
  isExactNumber, isObject, jsonInstruction, readMaxTokens, readResponseFormat, readStops, readTurns, wantsJsonObject, writeJson, type ChatExtension, type Json,
  type JsonObject, type ProviderCall, type ResponseFormat,
} from '@gateway/plugin-sdk';
import { conversationOf } from './conversation.js';
import { claudeVersion, hasStructuredOutput, isClaude, isNova, readModel, type Model } from './model.js';
import { reasoningOf } from './reasoning.js';
import { needsAnswerTool, toolSetup } from './tools.js';

export const chatExtensions: readonly ChatExtension[] = ['thinking', 'cache_control', 'top_k', 'is_error'];

/** Members of Converse itself, which a client may give as they are. */
const converseMembers = ['guardrailConfig', 'performanceConfig', 'promptVariables', 'requestMetadata', 'serviceTier', 'additionalModelResponseFieldPaths'] as const;

/** OpenAI's members that are translated below, or belong to the gateway. */
const translated: ReadonlySet<string> = new Set<string>([
  ...converseMembers, 'model', 'messages', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k', 'stop', 'tools', 'tool_choice',
  'functions', 'function_call', 'parallel_tool_calls', 'response_format', 'thinking', 'reasoning_effort', 'metadata', 'service_tier', 'guardrail_config',
  'inferenceConfig', 'additionalModelRequestFields', 'outputConfig', 'n', 'logprobs', 'top_logprobs', 'logit_bias', 'frequency_penalty', 'presence_penalty', 'seed', 'modalities',
  'audio', 'web_search_options',
]);

/** Hints that change no meaning. */
const hints: ReadonlySet<string> = new Set(['user', 'store', 'prediction', 'prompt_cache_key', 'prompt_cache_retention', 'safety_identifier', 'verbosity']);

/** A chat request as Converse takes it. */
export function converseRequest(body: JsonObject, call: ProviderCall): JsonObject {
  const model = readModel(call.model);
  const format = readResponseFormat(body, call);
  const turns = readTurns(body, call);
  const { system, messages, usedTools } = conversationOf(turns, call, model);
  const maxTokens = readMaxTokens(body);
  if (wantsJsonObject(call)) system.push({ text: jsonInstruction });
  const tools = toolSetup(body, call, model, usedTools, format);
  const reasoning = reasoningOf(body, call, model, turns, tools.isForced, maxTokens);
  const knobs = samplingFields(body, call, model);
  const inferenceConfig = { ...inferenceOf(body, call, maxTokens), ...objectOf(body.inferenceConfig) };
  const outputConfig = { ...outputOf(format, call, model), ...(reasoning.effort === undefined ? {} : { effort: reasoning.effort }), ...objectOf(body.outputConfig) };
  const fields = {
    ...knobs, ...reasoning.fields,
    ...(tools.nativeChoice === undefined ? {} : { tool_choice: tools.nativeChoice }),
    ...modelFields(body, call),
    ...objectOf(body.additionalModelRequestFields),
  };
  return {
    messages,
    ...(system.length > 0 ? { system } : {}),
    ...filled('inferenceConfig', inferenceConfig),
    ...(tools.toolConfig === undefined ? {} : { toolConfig: tools.toolConfig }),
    ...filled('outputConfig', outputConfig),
    ...filled('additionalModelRequestFields', fields),
    ...stopSequencePath(body, call, model),
    ...serviceTier(body, call),
    ...metadata(body, call),
    ...(isObject(body.guardrail_config) ? { guardrailConfig: body.guardrail_config } : {}),
    ...Object.fromEntries(converseMembers.flatMap((name) => (body[name] === undefined || body[name] === null ? [] : [[name, body[name]]]))),
  };
}

/** The part of a Converse request that CountTokens takes. */
export function converseTokensRequest(body: JsonObject, call: ProviderCall): JsonObject {
  const { messages, system, toolConfig, additionalModelRequestFields } = converseRequest(body, call);
  return {
    input: {
      converse: Object.fromEntries(Object.entries({ messages, system, toolConfig, additionalModelRequestFields }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    },
  };
}

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
const filled = (name: string, value: JsonObject): JsonObject => (Object.keys(value).length > 0 ? { [name]: value } : {});

function inferenceOf(body: JsonObject, call: ProviderCall, maxTokens: number | undefined): JsonObject {
  const stops = readStops(body);
  if (maxTokens !== undefined && maxTokens < 1) call.refuse('max_tokens', 'Bedrock takes 1 or more');
  return {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...unit(body, call, 'temperature', 'temperature'),
    ...unit(body, call, 'top_p', 'topP'),
    ...(stops.length > 0 ? { stopSequences: stops } : {}),
  };
}

/** A number from 0 to 1. */
function unit(body: JsonObject, call: ProviderCall, name: string, converseName: string): JsonObject {
  const value = body[name];
  if (typeof value !== 'number') return {};
  if (value >= 0 && value <= 1) return { [converseName]: value };
  call.omit(name, 'Bedrock takes 0 to 1');
  return {};
}

/** Settings that Converse has no member for, under the names that the families have for it. */
function samplingFields(body: JsonObject, call: ProviderCall, model: Model): JsonObject {
  if (typeof body.n === 'number' && body.n !== 1) call.omit('n', 'Bedrock gives one answer for a call');
  if (body.logprobs === true || (typeof body.top_logprobs === 'number' && body.top_logprobs > 0)) call.omit('logprobs', 'Bedrock tells no probabilities');
  if (isObject(body.logit_bias) && Object.keys(body.logit_bias).length > 0) call.omit('logit_bias', 'Bedrock cannot weigh single tokens');
  if (Array.isArray(body.modalities) && body.modalities.some((modality) => modality !== 'text')) call.omit('modalities', 'Bedrock answers with text');
  if (isObject(body.audio)) call.omit('audio', 'Bedrock answers with text');
  const fields: Record<string, Json> = {};
  const isCohere = model.vendor === 'cohere';
  for (const name of ['frequency_penalty', 'presence_penalty', 'seed']) {
    const value = body[name];
    if ((typeof value !== 'number' && !isExactNumber(value)) || (value === 0 && name !== 'seed')) continue;
    if (isCohere) fields[name] = value;
    else call.report(name);
  }
  if (typeof body.top_k === 'number') {
    if (isNova(model)) fields.inferenceConfig = { topK: body.top_k };
    else if (isCohere) fields.k = body.top_k;
    else if (model.vendor === 'meta' || model.vendor === 'ai21' || model.vendor === 'openai' || model.vendor === 'deepseek' || model.vendor === 'amazon') call.report('top_k');
    else fields.top_k = body.top_k;
  }
  return fields;
}

/** Members that are neither OpenAI's nor Converse's belong to the model. */
function modelFields(body: JsonObject, call: ProviderCall): JsonObject {
  const fields: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) {
    if (translated.has(name) || value === null || (name === 'store' && value === false)) continue;
    if (hints.has(name)) call.report(name);
    else fields[name] = value;
  }
  return fields;
}

function outputOf(format: ResponseFormat | undefined, call: ProviderCall, model: Model): JsonObject {
  // The annotation keeps the predicate from narrowing what follows.
  const isAnsweredByTool: boolean = needsAnswerTool(format, model);
  if (format === undefined || isAnsweredByTool) return {};
  if (format.kind !== 'schema') {
    // Without a schema there is nothing to say to Bedrock; the model is asked in words.
    return {};
  }
  if (!hasStructuredOutput(model)) {
    call.omit('response_format', `${call.model} has no structured output`);
    return {};
  }
  const { name, description, schema } = format;
  const jsonSchema = { schema: writeJson(schema), name, ...(description === undefined ? {} : { description }) };
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}

/** Which stop sequence it was that ended the answer is told on request only. */
function stopSequencePath(body: JsonObject, call: ProviderCall, model: Model): JsonObject {
  if (call.isStrict || claudeVersion(model) < 3 || !isClaude(model) || readStops(body).length === 0) return {};
  return { additionalModelResponseFieldPaths: [call.isStream ? '/delta/stop_sequence' : '/stop_sequence'] };
}

function serviceTier(body: JsonObject, call: ProviderCall): JsonObject {
  switch (body.service_tier) {
    case 'flex': case 'priority': case 'reserved': return { serviceTier: { type: body.service_tier } };
    case undefined: case null: case 'auto': case 'default': return {};
    default:
      call.report('service_tier');
      return {};
  }
}

/** Bedrock writes it into its invocation log. It takes fewer characters than OpenAI does. */
function metadata(body: JsonObject, call: ProviderCall): JsonObject {
  if (!isObject(body.metadata) || Object.keys(body.metadata).length === 0) return {};
  const pairs = Object.entries(body.metadata);
  const fits = pairs.length <= 16 && pairs.every(([name, value]) => typeof value === 'string' && isMetadataText(name, 1) && isMetadataText(value, 0));
  if (fits) return { requestMetadata: body.metadata };
  call.report('metadata');
  return {};
}

const isMetadataText = (text: string, lengthMin: number): boolean => text.length >= lengthMin && text.length <= 256 && /^[a-zA-Z0-9\s:_@$#=/+,.-]*$/.test(text);
