import { pathSegment, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { anthropicAccepts, chatToMessages, messagesStage, messagesToChat } from '../common/anthropic.js';
import { geminiAccepts, geminiStage, geminiToChat } from '../common/gemini.js';
import { betaHeaders, vertexMessages } from './claude.js';
import { parentPath } from './credentials.js';
import { geminiRequest } from './gemini.js';
import { publisherPath, vertexModel } from './models.js';

/** Open models know no `developer`: Mistral and many chat templates answer 400 to it. */
const roles = { developer: 'system' };

/** The model decides whose language is spoken. */
export function chatCompletions(call: ProviderCall): EndpointSpec {
  const model = vertexModel(call);
  switch (model.speaks) {
    case 'gemini': return {
      path: publisherPath(call, model, 'generateContent'),
      streamPath: publisherPath(call, model, 'streamGenerateContent?alt=sse'),
      accepts: geminiAccepts,
      request: geminiRequest,
      response: geminiToChat,
      stream: geminiStage,
    };
    case 'anthropic': return {
      path: publisherPath(call, model, 'rawPredict'),
      streamPath: publisherPath(call, model, 'streamRawPredict'),
      accepts: anthropicAccepts,
      headers: betaHeaders,
      request: (body) => vertexMessages(chatToMessages({ ...body, model: model.name }, call)),
      response: messagesToChat,
      stream: messagesStage,
    };
    // Mistral's and AI21's own format, which is OpenAI's but for these names.
    case 'raw': return {
      path: publisherPath(call, model, 'rawPredict'),
      streamPath: publisherPath(call, model, 'streamRawPredict'),
      roles,
      params: { max_completion_tokens: { rename: 'max_tokens' }, ...(model.publisher === 'mistralai' ? { seed: { rename: 'random_seed' } } : {}) },
      request: (body) => rawBody(body, call, model.name),
    };
    case 'openai': return {
      path: `${parentPath(call.credentials)}/endpoints/openapi/chat/completions`,
      roles,
      params: { max_completion_tokens: { rename: 'max_tokens' } },
      request: (body) => withModel(body, model.name),
    };
    case 'endpoint': return {
      path: `${parentPath(call.credentials)}/endpoints/${pathSegment(model.name)}/chat/completions`,
      roles,
      request: (body) => withModel(body, ''),
    };
  }
}

const withModel = (body: JsonObject, model: string): JsonObject => ({ ...body, model });

/** Mistral refuses fields it does not know, and always tells usage at the end of a stream. */
function rawBody(body: JsonObject, call: ProviderCall, model: string): JsonObject {
  const fields: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) {
    if (name === 'stream_options') continue;
    if (hints.has(name)) {
      if (value !== null) call.report(name);
    } else fields[name] = name === 'tool_choice' && value === 'required' ? 'any' : value;
  }
  return { ...fields, model };
}

const hints = new Set(['user', 'store', 'service_tier', 'prompt_cache_key', 'safety_identifier', 'verbosity']);
