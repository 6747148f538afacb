// The conversation of a Messages request -> chat messages: system texts, tool results ahead of what the user says beside them, thinking.
// Runs once for each attempt at a provider that has no Messages API. Drops nothing in silence: what cannot travel is reported or refused.

import { isList, isObject, textOf, textOrUndefined, writeJson, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { TranslateContext } from '../context.js';
import { cacheMark, contentParts, partsOf, type Open } from './parts.js';
import { isSignatureData, readSignature } from './signature.js';

export function chatMessages(body: JsonObject, context: TranslateContext): JsonObject[] {
  const messages: JsonObject[] = [];
  if (body.system !== undefined && body.system !== null) messages.push(...systemMessages(body.system, 'system', context));
  const list = body.messages;
  if (!isList(list)) return context.refuse('messages', 'must be a list of messages');
  list.forEach((message, index) => {
    const place = `messages[${index}]`;
    if (!isObject(message)) return context.refuse(place, 'must be an object with a role');
    switch (message.role) {
      case 'user': messages.push(...userMessages(message, place, context)); break;
      case 'assistant': messages.push(assistantMessage(message, place, context)); break;
      case 'system': messages.push(...systemMessages(message.content, `${place}.content`, context)); break;
      default: context.refuse(`${place}.role`, 'must be user, assistant or system');
    }
  });
  return messages;
}

/** One message; as parts only where cache marks have to stay at their place, since not every provider takes parts here. */
function systemMessages(content: Json | undefined, place: string, context: TranslateContext): JsonObject[] {
  const parts = contentParts(content, place, context);
  if (parts.length === 0) return [];
  parts.forEach((part, index) => {
    if (part.type !== 'text') context.refuse(`${place}[${index}].type`, 'a system prompt holds text only');
  });
  const isMarked = parts.some((part) => part.cache_control !== undefined);
  return [{ role: 'system', content: isMarked ? parts : parts.map((part) => textOf(part.text)).join('\n') }];
}

/** A lone unmarked text is a plain text, which every provider takes. */
const contentOf = (parts: readonly JsonObject[]): Json => {
  const [first] = parts;
  return parts.length === 1 && first?.type === 'text' && first.cache_control === undefined ? first.text ?? '' : parts;
};

/**
 * Chat wants the results of tool calls right behind the calls, each in a message of its own, and in them text only. So the results come
 * first; what else they hold (images, files) goes into the user message behind them, headed by the id of the call it belongs to; then
 * follows what the user said beside the results.
 */
function userMessages(message: JsonObject, place: string, context: TranslateContext): JsonObject[] {
  const { content } = message;
  if (typeof content === 'string') return [{ role: 'user', content }];
  if (!isList(content)) return context.refuse(`${place}.content`, 'must be a text or a list of blocks');
  const results: JsonObject[] = [];
  const attached: JsonObject[] = [];
  const said: JsonObject[] = [];
  content.forEach((block, index) => {
    const at = `${place}.content[${index}]`;
    if (!isObject(block)) return context.refuse(at, 'must be an object with a type');
    if (block.type === 'tool_result') return readResult(block, at, context, results, attached);
    const parts = partsOf(block, at, context);
    if (parts === undefined) return refuseBlock(block, at, context);
    said.push(...parts);
  });
  const parts = [...attached, ...said];
  if (parts.length > 0) results.push({ role: 'user', content: contentOf(parts) });
  return results;
}

function readResult(block: JsonObject, place: string, context: TranslateContext, results: JsonObject[], attached: JsonObject[]): void {
  const id = textOrUndefined(block.tool_use_id) ?? context.refuse(`${place}.tool_use_id`, 'must name the tool use that this answers');
  const parts = contentParts(block.content, `${place}.content`, context);
  const texts = parts.filter((part) => part.type === 'text');
  const others = parts.filter((part) => part.type !== 'text');
  let text = texts.map((part) => textOf(part.text)).join('\n');
  if (others.length > 0) {
    attached.push({ type: 'text', text: `Attached to the result of tool call ${id}:` }, ...others);
    if (text === '') text = 'The result is attached to the next user message.';
  }
  const result: Open = { role: 'tool', tool_call_id: id, content: text };
  if (block.is_error === true) {
    if (context.accepts.has('is_error')) result.is_error = true;
    // The model has to know of it, whatever the provider's API has a member for.
    else result.content = text === '' ? 'Error' : `Error: ${text}`;
  }
  const marked = texts.findLast((part) => part.cache_control !== undefined);
  Object.assign(result, marked === undefined ? {} : { cache_control: marked.cache_control }, cacheMark(block, context));
  results.push(result);
}

/**
 * Text, tool calls and thinking. Adjacent text blocks are one text, as the model wrote them (citations cut it into blocks); an empty line
 * parts texts that had something between them.
 */
function assistantMessage(message: JsonObject, place: string, context: TranslateContext): JsonObject {
  const { content } = message;
  if (typeof content === 'string') return { role: 'assistant', content };
  if (!isList(content)) return context.refuse(`${place}.content`, 'must be a text or a list of blocks');
  const texts: string[] = [];
  const thoughts: JsonObject[] = [];
  const toolCalls: Open[] = [];
  const signatures = new Map<string, string>();
  let hasThinking = false;
  let isAfterText = false;
  let mark: { readonly cache_control?: Json } = {};
  content.forEach((block, index) => {
    const at = `${place}.content[${index}]`;
    if (!isObject(block)) return context.refuse(at, 'must be an object with a type');
    const wasAfterText = isAfterText;
    isAfterText = false;
    switch (block.type) {
      case 'text': {
        const text = textOrUndefined(block.text) ?? context.refuse(`${at}.text`, 'must be a text');
        if (wasAfterText) texts.push(`${texts.pop() ?? ''}${text}`);
        else texts.push(text);
        thoughts.push({ type: 'text', text });
        mark = { ...mark, ...cacheMark(block, context) };
        isAfterText = true;
        return;
      }
      case 'thinking': {
        hasThinking = true;
        const signature = textOf(block.signature);
        // Unsigned: from a provider that signs nothing.
        thoughts.push({ type: 'thinking', thinking: textOf(block.thinking), ...(signature === '' ? {} : { signature }) });
        return;
      }
      case 'redacted_thinking': {
        const data = textOf(block.data);
        if (isSignatureData(data)) {
          const found = readSignature(data);
          if (found !== undefined) signatures.set(found.id, found.signature);
          isAfterText = wasAfterText;
          return;
        }
        hasThinking = true;
        thoughts.push({ type: 'redacted_thinking', data });
        return;
      }
      case 'tool_use':
        toolCalls.push(toolCall(block, at, context));
        mark = { ...mark, ...cacheMark(block, context) };
        return;
      default: refuseBlock(block, at, context);
    }
  });
  const text = texts.filter((piece) => piece !== '').join('\n\n');
  const chat: Open = { role: 'assistant', content: text === '' && toolCalls.length > 0 ? null : text };
  if (hasThinking) {
    if (context.accepts.has('thinking')) chat.content_blocks = thoughts;
    else context.report('thinking');
  }
  if (toolCalls.length > 0) chat.tool_calls = toolCalls;
  if (context.accepts.has('thought_signature')) {
    for (const called of toolCalls) {
      const signature = signatures.get(textOf(called.id));
      if (signature !== undefined) called.thought_signature = signature;
    }
  }
  return Object.assign(chat, mark);
}

function toolCall(block: JsonObject, place: string, context: TranslateContext): Open {
  const id = textOrUndefined(block.id) ?? context.refuse(`${place}.id`, 'must be a text');
  const name = textOrUndefined(block.name) ?? context.refuse(`${place}.name`, 'must be a text');
  return { id, type: 'function', function: { name, arguments: writeJson(block.input ?? {}) } };
}

/** What a server tool of Anthropic's left in the conversation is sealed or bound to its container: no other provider can read it. */
function refuseBlock(block: JsonObject, place: string, context: TranslateContext): never {
  const type = textOrUndefined(block.type);
  if (type === undefined) return context.refuse(`${place}.type`, 'must be a text');
  const name = textOrUndefined(block.name);
  const what = name === undefined ? type : `${type} (${name})`;
  const remedy = "take it out of the conversation, or call a provider that has Anthropic's messages API";
  return context.refuse(place, `a block of type ${what} cannot be sent to this provider: ${remedy}`);
}
