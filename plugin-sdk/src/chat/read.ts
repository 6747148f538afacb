import { isList, isObject, textOrUndefined } from '../json.js';
import type { ProviderCall } from '../kinds/provider.js';
import type { Json } from '../shared.js';
import { readJson } from './exact-json.js';
import type { ContentBlock, JsonObject, ToolCall } from './types.js';

/** Where the bytes of an image, a file or a sound are. */
export type Source =
  /** `data` is base64. */
  | { readonly kind: 'data'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType?: string }
  /** Uploaded to the provider before. */
  | { readonly kind: 'id'; readonly id: string };

/** One content part. `place` names it in the request (`messages[2].content[0]`), for `call.refuse`. */
export type Part = { readonly place: string; readonly cacheControl?: Json } & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly source: Source; readonly detail?: string }
  | { readonly kind: 'file'; readonly source: Source; readonly filename?: string }
  /** `format` as OpenAI names it: `wav`, `mp3`. `data` is base64. */
  | { readonly kind: 'audio'; readonly data: string; readonly format: string }
);

/** One message of the conversation, with deprecated forms (function role, function_call) turned into today's. */
export type Turn = { readonly place: string; readonly cacheControl?: Json } & (
  | { readonly role: 'system'; readonly parts: readonly Part[] }
  | { readonly role: 'user'; readonly parts: readonly Part[]; readonly name?: string }
  | {
    readonly role: 'assistant';
    /** Text only. */
    readonly parts: readonly Part[];
    /** From `content_blocks`: thinking with signatures, in order, text blocks between them included. Empty for most. */
    readonly blocks: readonly ContentBlock[];
    readonly toolCalls: readonly ToolCall[];
    readonly refusal?: string;
  }
  /** `name` is the tool's, found by the id of the call where the message does not say it. */
  | { readonly role: 'tool'; readonly toolCallId: string; readonly name: string; readonly parts: readonly Part[]; readonly isError: boolean }
);

export interface FunctionTool {
  readonly place: string;
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments; an empty object schema when the client gave none. */
  readonly parameters: JsonObject;
  readonly strict?: boolean;
  readonly cacheControl?: Json;
}

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'function'; readonly name: string }
  /** Only these, `required` or not. */
  | { readonly kind: 'allowed'; readonly names: readonly string[]; readonly isRequired: boolean };

export type ResponseFormat =
  | { readonly kind: 'text' | 'json' }
  | { readonly kind: 'schema'; readonly name: string; readonly schema: JsonObject; readonly strict: boolean; readonly description?: string };

/** The messages of a chat request. Malformed ones are refused with their place. */
export function readTurns(body: JsonObject, call: ProviderCall): Turn[] {
  const messages = isList(body.messages) ? body.messages : [];
  const names = new Map<string, string>();
  let functionCalls = 0;
  return messages.map((message, index): Turn => {
    const place = `messages[${index}]`;
    if (!isObject(message)) return call.refuse(place, 'must be an object');
    const cache = message.cache_control === undefined || message.cache_control === null ? {} : { cacheControl: message.cache_control };
    switch (message.role) {
      case 'system': case 'developer': return { role: 'system', place, parts: readParts(message.content, call, place), ...cache };
      case 'user': {
        const name = textOrUndefined(message.name);
        return { role: 'user', place, parts: readParts(message.content, call, place), ...(name === undefined ? {} : { name }), ...cache };
      }
      case 'assistant': {
        const toolCalls = readToolCalls(message, call, place);
        if (toolCalls.length === 0 && isObject(message.function_call)) {
          functionCalls += 1;
          toolCalls.push({ id: `call_function_${functionCalls}`, name: textOrUndefined(message.function_call.name) ?? '', arguments: textOrUndefined(message.function_call.arguments) ?? '{}' });
        }
        for (const toolCall of toolCalls) names.set(toolCall.id, toolCall.name);
        const refusal = textOrUndefined(message.refusal);
        return {
          role: 'assistant', place, parts: readAssistantText(message.content, call, place), blocks: readBlocks(message.content_blocks, call, place), toolCalls,
          ...(refusal === undefined ? {} : { refusal }), ...cache,
        };
      }
      case 'tool': {
        const toolCallId = textOrUndefined(message.tool_call_id) ?? call.refuse(`${place}.tool_call_id`, 'must name the tool call that this answers');
        return { role: 'tool', place, toolCallId, name: textOrUndefined(message.name) ?? names.get(toolCallId) ?? '', parts: readParts(message.content, call, place), isError: message.is_error === true, ...cache };
      }
      case 'function': {
        const name = textOrUndefined(message.name) ?? call.refuse(`${place}.name`, 'must name the function');
        return { role: 'tool', place, toolCallId: `call_function_${functionCalls}`, name, parts: readParts(message.content, call, place), isError: false, ...cache };
      }
      default: return call.refuse(`${place}.role`, 'must be system, developer, user, assistant, tool or function');
    }
  });
}

/** Content as a list of parts: a text is one part, null none. */
export function readParts(content: Json | undefined, call: ProviderCall, place: string): Part[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content, place: `${place}.content` }];
  if (!isList(content)) return call.refuse(`${place}.content`, 'must be a text or a list of parts');
  return content.map((part, index) => readPart(part, call, `${place}.content[${index}]`));
}

function readPart(part: Json, call: ProviderCall, place: string): Part {
  if (typeof part === 'string') return { kind: 'text', text: part, place };
  if (!isObject(part)) return call.refuse(place, 'must be an object with a type');
  const common = part.cache_control === undefined || part.cache_control === null ? { place } : { place, cacheControl: part.cache_control };
  switch (part.type) {
    case 'text': case 'input_text': case 'output_text':
      return { kind: 'text', text: textOrUndefined(part.text) ?? call.refuse(`${place}.text`, 'must be a text'), ...common };
    case 'refusal': return { kind: 'text', text: textOrUndefined(part.refusal) ?? '', ...common };
    case 'image_url': {
      const image = part.image_url;
      const url = textOrUndefined(image) ?? (isObject(image) ? textOrUndefined(image.url) : undefined) ?? call.refuse(`${place}.image_url`, 'must be an object with a url');
      const detail = isObject(image) ? textOrUndefined(image.detail) : undefined;
      return { kind: 'image', source: readSource(url, call, place), ...(detail === undefined ? {} : { detail }), ...common };
    }
    case 'input_audio': {
      const audio = part.input_audio;
      const data = isObject(audio) ? textOrUndefined(audio.data) : undefined;
      if (!isObject(audio) || data === undefined) return call.refuse(`${place}.input_audio`, 'must be an object with base64 data and a format');
      const [, mediaType, bare] = /^data:audio\/([\w.+-]+);base64,(.*)$/s.exec(data) ?? [];
      return { kind: 'audio', data: bare ?? data, format: textOrUndefined(audio.format) ?? mediaType ?? 'wav', ...common };
    }
    case 'file': {
      const file = part.file;
      if (!isObject(file)) return call.refuse(`${place}.file`, 'must be an object with file_data, file_url or file_id');
      const filename = textOrUndefined(file.filename);
      return { kind: 'file', source: fileSource(file, call, place), ...(filename === undefined ? {} : { filename }), ...common };
    }
    default: return call.refuse(`${place}.type`, 'must be text, image_url, input_audio or file');
  }
}

function fileSource(file: JsonObject, call: ProviderCall, place: string): Source {
  const data = textOrUndefined(file.file_data);
  if (data !== undefined) {
    if (/^data:/i.test(data)) return readSource(data, call, place);
    return { kind: 'data', mediaType: textOrUndefined(file.mime_type) ?? mediaTypeOf(textOrUndefined(file.filename) ?? '') ?? 'application/pdf', data };
  }
  const url = textOrUndefined(file.file_url) ?? textOrUndefined(file.url);
  if (url !== undefined) {
    const mediaType = textOrUndefined(file.mime_type) ?? mediaTypeOf(textOrUndefined(file.filename) ?? url);
    return mediaType === undefined ? { kind: 'url', url } : { kind: 'url', url, mediaType };
  }
  const id = textOrUndefined(file.file_id);
  return id === undefined ? call.refuse(`${place}.file`, 'must have file_data, file_url or file_id') : { kind: 'id', id };
}

/** A data URL is data, everything else an address. */
function readSource(url: string, call: ProviderCall, place: string): Source {
  if (!/^data:/i.test(url)) {
    const mediaType = mediaTypeOf(url);
    return mediaType === undefined ? { kind: 'url', url } : { kind: 'url', url, mediaType };
  }
  const comma = url.indexOf(',');
  const [mediaType = '', ...options] = url.slice(5, comma === -1 ? undefined : comma).split(';');
  if (comma === -1 || !options.some((option) => option.trim().toLowerCase() === 'base64')) return call.refuse(place, 'a data URL must be base64: data:image/png;base64,...');
  return { kind: 'data', mediaType: mediaType.trim().toLowerCase() || 'text/plain', data: url.slice(comma + 1) };
}

const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'], ['jpg', 'image/jpeg'], ['jpeg', 'image/jpeg'], ['gif', 'image/gif'], ['webp', 'image/webp'], ['heic', 'image/heic'], ['heif', 'image/heif'],
  ['pdf', 'application/pdf'], ['txt', 'text/plain'], ['md', 'text/markdown'], ['csv', 'text/csv'], ['html', 'text/html'], ['json', 'application/json'], ['xml', 'text/xml'],
  ['doc', 'application/msword'], ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xls', 'application/vnd.ms-excel'], ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['mp3', 'audio/mpeg'], ['wav', 'audio/wav'], ['ogg', 'audio/ogg'], ['flac', 'audio/flac'], ['aac', 'audio/aac'], ['m4a', 'audio/mp4'],
  ['mp4', 'video/mp4'], ['mov', 'video/quicktime'], ['webm', 'video/webm'], ['mkv', 'video/x-matroska'],
]);

/** By the extension of a file name or URL; undefined when it has none that is known. */
export function mediaTypeOf(name: string): string | undefined {
  const [, extension = ''] = /\.([a-z0-9]{1,5})(?:[?#].*)?$/i.exec(name) ?? [];
  return mediaTypes.get(extension.toLowerCase());
}

function readAssistantText(content: Json | undefined, call: ProviderCall, place: string): Part[] {
  return readParts(content, call, place).map((part) => (part.kind === 'text' ? part : call.refuse(part.place, 'an assistant message holds text only')));
}

function readBlocks(blocks: Json | undefined, call: ProviderCall, place: string): ContentBlock[] {
  if (blocks === undefined || blocks === null) return [];
  if (!isList(blocks)) return call.refuse(`${place}.content_blocks`, 'must be a list of blocks');
  return blocks.flatMap((block, index): ContentBlock[] => {
    const at = `${place}.content_blocks[${index}]`;
    if (!isObject(block)) return call.refuse(at, 'must be an object with a type');
    switch (block.type) {
      case 'text': return [{ type: 'text', text: textOrUndefined(block.text) ?? '' }];
      case 'thinking': {
        const signature = textOrUndefined(block.signature);
        return [{ type: 'thinking', thinking: textOrUndefined(block.thinking) ?? '', ...(signature === undefined ? {} : { signature }) }];
      }
      case 'redacted_thinking': return [{ type: 'redacted_thinking', data: textOrUndefined(block.data) ?? '' }];
      // Told by tool_calls as well.
      case 'tool_use': return [];
      default: return call.refuse(`${at}.type`, 'must be text, thinking or redacted_thinking');
    }
  });
}

function readToolCalls(message: JsonObject, call: ProviderCall, place: string): ToolCall[] {
  const list = message.tool_calls;
  if (list === undefined || list === null) return [];
  if (!isList(list)) return call.refuse(`${place}.tool_calls`, 'must be a list');
  return list.map((toolCall, index) => {
    const at = `${place}.tool_calls[${index}]`;
    if (!isObject(toolCall) || !isObject(toolCall.function)) return call.refuse(at, 'must be an object with id and function');
    const id = textOrUndefined(toolCall.id) ?? call.refuse(`${at}.id`, 'must be a text');
    const name = textOrUndefined(toolCall.function.name) ?? call.refuse(`${at}.function.name`, 'must be a text');
    const signature = thoughtSignatureOf(toolCall);
    return { id, name, arguments: textOrUndefined(toolCall.function.arguments) ?? '{}', ...(signature === undefined ? {} : { thoughtSignature: signature }) };
  });
}

/**
 * The signature on a tool call, wherever a client or a provider keeps it: `thought_signature` on the call or on its function, or
 * `extra_content.google.thought_signature`, as Google's own OpenAI interface writes it.
 */
export function thoughtSignatureOf(toolCall: JsonObject): string | undefined {
  const own = textOrUndefined(toolCall.thought_signature) ?? (isObject(toolCall.function) ? textOrUndefined(toolCall.function.thought_signature) : undefined);
  if (own !== undefined) return own;
  const extra = isObject(toolCall.extra_content) ? toolCall.extra_content.google : undefined;
  return isObject(extra) ? textOrUndefined(extra.thought_signature) : undefined;
}

/** The arguments of a tool call as an object, for providers that want no text. An empty text is an empty object. */
export function argumentsOf(toolCall: ToolCall, call: ProviderCall, place: string): JsonObject {
  if (toolCall.arguments.trim() === '') return {};
  let value: Json;
  try {
    value = readJson(toolCall.arguments);
  } catch {
    return call.refuse(`${place}.tool_calls`, `the arguments of ${toolCall.name} are not JSON`);
  }
  return isObject(value) ? value : call.refuse(`${place}.tool_calls`, `the arguments of ${toolCall.name} are not a JSON object`);
}

/** Function tools (`tools`, or the deprecated `functions`). Tools of other types are given to `other`, which is to translate or refuse them. */
export function readTools(body: JsonObject, call: ProviderCall, other: (tool: JsonObject, place: string) => void): FunctionTool[] {
  const isDeprecated = body.tools === undefined || body.tools === null;
  const list = isDeprecated ? body.functions : body.tools;
  if (!isList(list)) return [];
  const tools: FunctionTool[] = [];
  list.forEach((tool, index) => {
    const place = `${isDeprecated ? 'functions' : 'tools'}[${index}]`;
    if (!isObject(tool)) return call.refuse(place, 'must be an object');
    if (!isDeprecated && tool.type !== 'function') return other(tool, place);
    const declared = isDeprecated ? tool : tool.function;
    if (!isObject(declared)) return call.refuse(`${place}.function`, 'must be an object with a name');
    const name = textOrUndefined(declared.name) ?? call.refuse(`${place}.function.name`, 'must be a text');
    const description = textOrUndefined(declared.description);
    const cacheControl = tool.cache_control ?? declared.cache_control;
    tools.push({
      place, name, parameters: isObject(declared.parameters) ? declared.parameters : { type: 'object', properties: {} },
      ...(description === undefined ? {} : { description }),
      ...(typeof declared.strict === 'boolean' ? { strict: declared.strict } : {}),
      ...(cacheControl === undefined || cacheControl === null ? {} : { cacheControl }),
    });
  });
  return tools;
}

/** `tool_choice` or the deprecated `function_call`; undefined when the client left it open. */
export function readToolChoice(body: JsonObject, call: ProviderCall): ToolChoice | undefined {
  const given = body.tool_choice ?? body.function_call;
  if (given === undefined || given === null) return undefined;
  if (given === 'auto' || given === 'none' || given === 'required') return { kind: given };
  if (given === 'any') return { kind: 'required' };
  if (!isObject(given)) return call.refuse('tool_choice', 'must be none, auto, required or an object that names a function');
  if (given.type === 'allowed_tools' && isObject(given.allowed_tools) && isList(given.allowed_tools.tools)) {
    const names = given.allowed_tools.tools.flatMap((tool) => (isObject(tool) && isObject(tool.function) && typeof tool.function.name === 'string' ? [tool.function.name] : []));
    return { kind: 'allowed', names, isRequired: given.allowed_tools.mode === 'required' };
  }
  const name = textOrUndefined(isObject(given.function) ? given.function.name : given.name);
  return name === undefined ? call.refuse('tool_choice', 'must be none, auto, required or an object that names a function') : { kind: 'function', name };
}

export function readResponseFormat(body: JsonObject, call: ProviderCall): ResponseFormat | undefined {
  const given = body.response_format;
  if (given === undefined || given === null) return undefined;
  if (!isObject(given)) return call.refuse('response_format', 'must be an object with a type');
  switch (given.type) {
    case 'text': return { kind: 'text' };
    case 'json_object': return { kind: 'json' };
    case 'json_schema': {
      const described = given.json_schema;
      if (!isObject(described) || !isObject(described.schema)) return call.refuse('response_format.json_schema', 'must be an object with a schema');
      const description = textOrUndefined(described.description);
      return { kind: 'schema', name: textOrUndefined(described.name) ?? 'answer', schema: described.schema, strict: described.strict === true, ...(description === undefined ? {} : { description }) };
    }
    default: return call.refuse('response_format.type', 'must be text, json_object or json_schema');
  }
}

/** `stop` as a list. */
export function readStops(body: JsonObject): string[] {
  const { stop } = body;
  if (typeof stop === 'string') return [stop];
  return isList(stop) ? stop.filter((text): text is string => typeof text === 'string') : [];
}

/** `max_completion_tokens`, or the deprecated `max_tokens`. */
export function readMaxTokens(body: JsonObject): number | undefined {
  const given = body.max_completion_tokens ?? body.max_tokens;
  return typeof given === 'number' ? given : undefined;
}

/** The client's wishes about reasoning. */
export interface Thinking {
  /** `thinking.type`: `enabled`, `disabled`, `adaptive`. */
  readonly type?: string;
  readonly budgetTokens?: number;
  /** `reasoning_effort`: `none`, `minimal`, `low`, `medium`, `high` ... */
  readonly effort?: string;
}

export function readThinking(body: JsonObject): Thinking {
  const given = isObject(body.thinking) ? body.thinking : {};
  const type = textOrUndefined(given.type);
  const effort = textOrUndefined(body.reasoning_effort);
  return {
    ...(type === undefined ? {} : { type }),
    ...(typeof given.budget_tokens === 'number' ? { budgetTokens: given.budget_tokens } : {}),
    ...(effort === undefined ? {} : { effort }),
  };
}
