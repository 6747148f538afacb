// A request of Anthropic's Messages API -> a chat completion request with the extensions that the provider takes.
// Runs once for each attempt at a provider that has no Messages API of its own; also for token counts that go by way of chat.
// Reads every documented member; one that it does not know is left out and reported.

import { isList, isObject, textOf, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { TranslateContext } from '../context.js';
import { chatMessages } from './conversation.js';
import type { Open } from './parts.js';
import { applyToolChoice, chatTools } from './tools.js';

export function messagesToChat(body: JsonObject, given: TranslateContext): JsonObject {
  const context = reportingOnce(given);
  const chat: Open = {};
  if (body.model !== undefined) chat.model = body.model;
  const messages = chatMessages(body, context);
  chat.messages = messages;
  const tools = chatTools(body, context);
  if (tools.length > 0) chat.tools = tools;
  applyToolChoice(body, chat, tools.length > 0, context);
  for (const [name, value] of Object.entries(body)) {
    if (value !== null && value !== undefined) applyMember(name, value, chat, context);
  }
  if (isObject(body.cache_control)) markLast(messages, body.cache_control, context);
  return chat;
}

function applyMember(name: string, value: Json, chat: Open, context: TranslateContext): void {
  switch (name) {
    // Read above, where they belong together.
    case 'model': case 'messages': case 'system': case 'tools': case 'tool_choice': case 'cache_control': return;
    case 'max_tokens': chat.max_completion_tokens = value; return;
    case 'temperature': case 'top_p': chat[name] = value; return;
    case 'top_k':
      if (context.accepts.has('top_k')) chat.top_k = value;
      else context.report('top_k');
      return;
    case 'stop_sequences':
      if (!isList(value)) return context.refuse('stop_sequences', 'must be a list of texts');
      // How many a provider takes is its own to say.
      if (value.length > 0) chat.stop = value;
      return;
    case 'stream':
      if (value !== true) return;
      chat.stream = true;
      // A Messages stream always ends with usage.
      chat.stream_options = { include_usage: true };
      return;
    case 'thinking':
      if (context.accepts.has('thinking')) chat.thinking = value;
      else if (!isObject(value) || value.type !== 'disabled') context.report('thinking');
      return;
    case 'output_config': return applyOutputConfig(value, chat, context);
    // The name that the member had before output_config.
    case 'output_format': return applyFormat(value, 'output_format', chat, context);
    case 'metadata': return applyMetadata(value, chat, context);
    case 'service_tier': if (value !== 'auto') context.report('service_tier'); return;
    case 'speed': if (value !== 'standard') context.report('speed'); return;
    case 'mcp_servers':
      if (isList(value) && value.length === 0) return;
      return context.omit(
        'mcp_servers', `this provider cannot call MCP servers${serverNames(value)}: declare their tools as tools, or call a provider that has Anthropic's messages API`,
      );
    case 'container':
      return context.omit('container', "this provider has no containers for skills or code: call a provider that has Anthropic's messages API");
    case 'inference_geo': return context.omit('inference_geo', "this provider cannot be told where to run: call a provider that has Anthropic's messages API");
    // diagnostics, context_management, user_profile_id, workspace_id, betas, and what is unknown: other providers have no such thing.
    default: context.report(name);
  }
}

function applyOutputConfig(value: Json, chat: Open, context: TranslateContext): void {
  if (!isObject(value)) return context.refuse('output_config', 'must be an object');
  for (const [name, member] of Object.entries(value)) {
    if (member === null) continue;
    if (name === 'effort') chat.reasoning_effort = member;
    else if (name === 'format') applyFormat(member, 'output_config.format', chat, context);
    else context.report(`output_config.${name}`);
  }
}

function applyFormat(value: Json, place: string, chat: Open, context: TranslateContext): void {
  if (!isObject(value) || value.type !== 'json_schema') return context.refuse(`${place}.type`, 'must be json_schema');
  const { schema } = value;
  if (!isObject(schema)) return context.refuse(`${place}.schema`, 'must be a JSON Schema');
  const title = textOf(schema.title);
  const name = /^[\w-]{1,64}$/.test(title) ? title : 'answer';
  chat.response_format = { type: 'json_schema', json_schema: { name, schema, ...(isStrict(schema) ? { strict: true } : {}) } };
}

/** OpenAI's strict mode, which holds the model to the schema, takes only schemas whose objects are closed and require all they have. */
function isStrict(schema: Json): boolean {
  if (isList(schema)) return schema.every(isStrict);
  if (!isObject(schema)) return true;
  if (isObject(schema.properties)) {
    const { required } = schema;
    if (schema.additionalProperties !== false || !isList(required)) return false;
    if (!Object.keys(schema.properties).every((name) => required.includes(name))) return false;
    if (!Object.values(schema.properties).every(isStrict)) return false;
  } else if (schema.type === 'object') {
    return schema.additionalProperties === false;
  }
  return ['items', 'anyOf', 'allOf', 'oneOf'].every((name) => isStrict(schema[name] ?? null))
    && [schema.$defs, schema.definitions].every((definitions) => !isObject(definitions) || Object.values(definitions).every(isStrict));
}

function applyMetadata(value: Json, chat: Open, context: TranslateContext): void {
  if (!isObject(value)) return context.refuse('metadata', 'must be an object');
  for (const [name, member] of Object.entries(value)) {
    if (member === null) continue;
    if (name === 'user_id') chat.user = member;
    else context.report(`metadata.${name}`);
  }
}

/** A cache mark for the whole request stands for one on its last message. */
function markLast(messages: JsonObject[], mark: JsonObject, context: TranslateContext): void {
  const last = messages.at(-1);
  if (!context.accepts.has('cache_control')) context.report('cache_control');
  else if (last !== undefined && last.cache_control === undefined) messages[messages.length - 1] = { ...last, cache_control: mark };
}

function serverNames(value: Json): string {
  const names = isList(value) ? value.flatMap((server) => (isObject(server) && typeof server.name === 'string' ? [server.name] : [])) : [];
  return names.length === 0 ? '' : ` (${names.join(', ')})`;
}

/** A member that stands in a hundred blocks is reported once. */
function reportingOnce(context: TranslateContext): TranslateContext {
  const reported = new Set<string>();
  return {
    accepts: context.accepts,
    refuse: (param, reason) => context.refuse(param, reason),
    omit: (param, reason) => { context.omit(param, reason); },
    report: (param) => {
      if (reported.has(param)) return;
      reported.add(param);
      context.report(param);
    },
  };
}
