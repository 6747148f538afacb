// A chat completion -> a Message of Anthropic's Messages API: thinking, text and tool use in the order they came, stop reason, usage.
// Runs once for each translated answer that is no stream. Pure; throws when the body is no chat completion.

import { isList, isObject, textOf, textOrUndefined, thoughtSignatureOf, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { AnswerContext } from '../context.js';
import { endingMembers, messageId, messageUsage, ToolIds, toolInput } from './outcome.js';
import { signatureBlock } from './signature.js';

export function chatToMessages(answer: JsonObject, context: Pick<AnswerContext, 'id' | 'model'>): JsonObject {
  const choice = isList(answer.choices) ? answer.choices[0] : undefined;
  if (!isObject(choice) || !isObject(choice.message)) throw new Error('the answer is no chat completion: it has no choices[0].message');
  const { message } = choice;
  const refusal = textOf(message.refusal);
  const toolUse = toolUseBlocks(message, context);
  const usage = isObject(answer.usage) ? answer.usage : isObject(answer.x_groq) ? answer.x_groq.usage : undefined;
  return {
    id: messageId(context.id),
    type: 'message',
    role: 'assistant',
    model: textOf(answer.model) || context.model,
    // The API refuses a text of nothing but blanks when the client sends it back.
    content: [...textBlocks(message, refusal).filter((block) => block.type !== 'text' || textOrUndefined(block.text)?.trim() !== ''), ...toolUse],
    ...endingMembers({
      finish: textOf(choice.finish_reason),
      native: textOf(choice.native_finish_reason),
      stopSequence: textOrUndefined(choice.stop_sequence) ?? null,
      hasToolUse: toolUse.length > 0,
      refusal,
    }),
    usage: { ...messageUsage(usage) },
  };
}

/** Thinking and text. Blocks have both in their order, but `content` has the last word: a guardrail may have changed it. */
function textBlocks(message: JsonObject, refusal: string): JsonObject[] {
  const texts = [...textsOf(message.content), ...(refusal === '' ? [] : [refusal])];
  const blocks = isList(message.content_blocks) ? message.content_blocks.filter(isObject) : [];
  const ordered = blocks.flatMap((block): JsonObject[] => {
    switch (block.type) {
      case 'text': return textOrUndefined(block.text) ? [{ type: 'text', text: block.text ?? '' }] : [];
      case 'thinking': return [{ type: 'thinking', thinking: textOf(block.thinking), signature: textOf(block.signature) }];
      case 'redacted_thinking': return [{ type: 'redacted_thinking', data: textOf(block.data) }];
      default: return [];
    }
  });
  const told = ordered.map((block) => (block.type === 'text' ? textOf(block.text) : '')).join('');
  if (told !== '' && told === texts.join('')) return ordered;
  const thinking = ordered.filter((block) => block.type !== 'text');
  const reasoning = textOf(message.reasoning_content) || textOf(message.reasoning);
  if (thinking.length === 0 && reasoning !== '') thinking.push({ type: 'thinking', thinking: reasoning, signature: '' });
  return [...thinking, ...texts.map((text) => ({ type: 'text', text }))];
}

function textsOf(content: Json | undefined): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  if (!isList(content)) return [];
  return content.flatMap((part) => {
    const text = isObject(part) ? textOrUndefined(part.text) ?? textOf(part.refusal) : '';
    return text === '' ? [] : [text];
  });
}

function toolUseBlocks(message: JsonObject, context: Pick<AnswerContext, 'id' | 'model'>): JsonObject[] {
  const ids = new ToolIds(context.id);
  const calls = isList(message.tool_calls) ? message.tool_calls.filter(isObject) : [];
  // The deprecated form of a lone call.
  const list = calls.length === 0 && isObject(message.function_call) ? [{ function: message.function_call }] : calls;
  return list.flatMap((call: JsonObject): JsonObject[] => {
    const called = isObject(call.function) ? call.function : {};
    const id = ids.take(textOf(call.id));
    const given = called.arguments;
    // Some write the arguments as an object.
    const input = isObject(given) ? given : toolInput(textOf(given));
    const signature = thoughtSignatureOf(call) ?? '';
    return [...(signature === '' ? [] : [signatureBlock(id, signature)]), { type: 'tool_use', id, name: textOf(called.name), input }];
  });
}
