import { isObject, type EndpointName, type Json, type JsonObject } from '@gateway/plugin-sdk';

export interface PrefixOptions {
  readonly prefix: string;
  readonly role: 'user' | 'system' | 'assistant';
  readonly addToExisting: boolean;
  readonly onlyIfEmpty: boolean;
}

/** Where a dialect differs from the others in how a message is written. */
interface Dialect {
  /** `type` of a part that is text, for this role. */
  readonly textType: string;
  readonly newMessage: (text: string) => Json;
}

/** The request with the prefix in it; undefined when it takes none. Throws when the body cannot be read. */
export function withPrefix(endpoint: EndpointName, body: Json, options: PrefixOptions): Json | undefined {
  if (!isObject(body)) throw new Error('the body is not a JSON object; a prefix cannot be put in');
  switch (endpoint) {
    case 'chatCompletions': return chatBody(body, options);
    case 'messages': case 'countTokens': return options.role === 'system' ? messagesSystem(body, options) : messagesBody(body, options);
    case 'responses': return options.role === 'system' ? responsesSystem(body, options) : responsesInput(body, options);
    case 'completions': return completionsBody(body, options);
    default: return undefined;
  }
}

function chatBody(body: JsonObject, options: PrefixOptions): Json | undefined {
  if (!Array.isArray(body.messages)) throw new Error('the body has no list of messages; a prefix cannot be put in');
  const messages = withMessage(body.messages, options, { textType: 'text', newMessage: (content) => ({ role: options.role, content }) });
  return messages === undefined ? undefined : { ...body, messages };
}

function messagesBody(body: JsonObject, options: PrefixOptions): Json | undefined {
  if (!Array.isArray(body.messages)) throw new Error('the body has no list of messages; a prefix cannot be put in');
  // An assistant message at the end is the beginning of the answer, which must not end in white space.
  const isPrefill = options.role === 'assistant' && !body.messages.some((message: Json) => isObject(message) && message.role === 'assistant');
  const newMessage = (content: string): Json => ({ role: options.role, content: isPrefill ? content.trimEnd() : content });
  if (isPrefill && options.prefix.trim() === '') return undefined;
  const messages = withMessage(body.messages, options, { textType: 'text', newMessage });
  return messages === undefined ? undefined : { ...body, messages };
}

/** In this dialect the system prompt is a member of the body: a text, or text blocks. */
function messagesSystem(body: JsonObject, options: PrefixOptions): Json | undefined {
  const { system } = body;
  const { prefix, addToExisting, onlyIfEmpty } = options;
  if (isBlank(system)) return { ...body, system: prefix };
  if (onlyIfEmpty) return undefined;
  if (typeof system === 'string') return { ...body, system: addToExisting ? prefix + system : [{ type: 'text', text: prefix }, { type: 'text', text: system }] };
  if (!Array.isArray(system)) throw new Error('the system prompt is neither a text nor a list of blocks; a prefix cannot be put in');
  return { ...body, system: addToExisting ? withPart(system, prefix, 'text') : [{ type: 'text', text: prefix }, ...system] };
}

/** Instructions, else a system message among the items. */
function responsesSystem(body: JsonObject, options: PrefixOptions): Json | undefined {
  const { instructions, input } = body;
  const { prefix, addToExisting, onlyIfEmpty } = options;
  const hasItem = Array.isArray(input) && input.some((item: Json) => isMessageOf(item, 'system'));
  if (isBlank(instructions)) return hasItem ? responsesInput(body, options) : { ...body, instructions: prefix };
  if (onlyIfEmpty) return undefined;
  if (typeof instructions !== 'string') throw new Error('the instructions are not text; a prefix cannot be put in');
  // There is one text only: what would be a message of its own becomes a paragraph.
  return { ...body, instructions: addToExisting ? prefix + instructions : `${prefix}\n\n${instructions}` };
}

function responsesInput(body: JsonObject, options: PrefixOptions): Json | undefined {
  const { prefix, role, addToExisting, onlyIfEmpty } = options;
  const newMessage = (content: string): Json => ({ type: 'message', role, content });
  const { input } = body;
  if (input === undefined || input === null) return { ...body, input: role === 'user' ? prefix : [newMessage(prefix)] };
  if (typeof input === 'string') {
    if (role !== 'user') return { ...body, input: [newMessageOf('user', input), newMessage(prefix)] };
    if (onlyIfEmpty && input.trim() !== '') return undefined;
    return { ...body, input: addToExisting || input === '' ? prefix + input : [newMessage(prefix), newMessageOf('user', input)] };
  }
  if (!Array.isArray(input)) throw new Error('the input is neither a text nor a list; a prefix cannot be put in');
  const items = withMessage(input, options, { textType: role === 'assistant' ? 'output_text' : 'input_text', newMessage });
  return items === undefined ? undefined : { ...body, input: items };
}

const newMessageOf = (role: string, content: string): Json => ({ type: 'message', role, content });

/** A prompt has no roles: it takes what is meant for the user or the system, and an answer cannot be begun. */
function completionsBody(body: JsonObject, { prefix, role, onlyIfEmpty }: PrefixOptions): Json | undefined {
  const { prompt } = body;
  if (role === 'assistant') return undefined;
  if (prompt === undefined || prompt === null) return { ...body, prompt: prefix };
  const changed = (text: string): string => (onlyIfEmpty && text.trim() !== '' ? text : prefix + text);
  if (typeof prompt === 'string') return changed(prompt) === prompt ? undefined : { ...body, prompt: changed(prompt) };
  if (!Array.isArray(prompt) || !prompt.every((text: Json) => typeof text === 'string')) {
    throw new Error('the prompt is neither a text nor a list of texts; a prefix cannot be put before tokens');
  }
  const texts = prompt.map(changed);
  return texts.every((text, index) => text === prompt[index]) ? undefined : { ...body, prompt: texts };
}

/** The list with the prefix in or before the role's first message, or in a new one: at the head for the system, else at the end. */
function withMessage(list: readonly Json[], { prefix, role, addToExisting, onlyIfEmpty }: PrefixOptions, { textType, newMessage }: Dialect): Json[] | undefined {
  const index = list.findIndex((item) => isMessageOf(item, role));
  const message = list[index];
  if (!isObject(message)) return role === 'system' ? [newMessage(prefix), ...list] : [...list, newMessage(prefix)];
  const isEmpty = isBlank(message.content);
  if (onlyIfEmpty && !isEmpty) return undefined;
  // Results of tools have to follow their calls: nothing may come between.
  if (addToExisting || isEmpty || hasToolResult(message.content)) return list.with(index, { ...message, content: withContent(message.content, prefix, textType) });
  return list.toSpliced(index, 0, newMessage(prefix));
}

function withContent(content: Json | undefined, prefix: string, textType: string): Json {
  if (Array.isArray(content)) return withPart(content, prefix, textType);
  if (typeof content === 'string') return prefix + content;
  if (content === undefined || content === null) return prefix;
  throw new Error('the content of the message is neither a text nor a list of parts; a prefix cannot be put in');
}

/** Into the first part that is text; without one, as a part of its own. */
function withPart(parts: readonly Json[], prefix: string, textType: string): Json[] {
  const index = parts.findIndex((part) => isObject(part) && typeof part.text === 'string' && (part.type === textType || part.type === undefined || part.type === 'text'));
  const part = parts[index];
  if (isObject(part) && typeof part.text === 'string') return parts.with(index, { ...part, text: prefix + part.text });
  const added: Json = textType === 'output_text' ? { type: textType, text: prefix, annotations: [] } : { type: textType, text: prefix };
  // Results of tools have to stand first.
  return hasToolResult(parts) ? [...parts, added] : [added, ...parts];
}

const hasToolResult = (content: Json | undefined): boolean => Array.isArray(content) && content.some((part: Json) => isObject(part) && part.type === 'tool_result');

/** A developer is the system under its newer name. Items that are not messages have no role. */
const isMessageOf = (item: Json, role: string): boolean => isObject(item) && (item.role === role || (role === 'system' && item.role === 'developer'));

/** No text but white space, and nothing else either. */
function isBlank(content: Json | undefined): boolean {
  if (content === undefined || content === null) return true;
  if (typeof content === 'string') return content.trim() === '';
  const isBlankPart = (part: Json): boolean => (typeof part === 'string' ? part.trim() === '' : isObject(part) && typeof part.text === 'string' && part.text.trim() === '');
  return Array.isArray(content) && content.every(isBlankPart);
}
