import {
  chatCompletion, isObject, JsonObjectText, textOf, wantsJsonObject, writeJson, type ContentBlock, type Json, type JsonObject, type ProviderCall,
  type ToolCall,
} from '@gateway/plugin-sdk';
import { addCitations, finishOf, usageOf, type Citations } from './blocks.js';

/** A whole message as a chat completion. */
export function messagesToChat(answer: Json, call: ProviderCall): JsonObject {
  if (!isObject(answer) || !Array.isArray(answer.content)) throw new Error('the provider answered with something that is not a message');
  const blocks: ContentBlock[] = [];
  const toolCalls: ToolCall[] = [];
  const others: Json[] = [];
  const cited: Citations = { annotations: [], citations: [] };
  const filter = wantsJsonObject(call) ? new JsonObjectText() : null;
  let text = '';
  for (const block of answer.content as readonly Json[]) {
    if (!isObject(block)) continue;
    switch (block.type) {
      case 'text': {
        const piece = filter === null ? textOf(block.text) : filter.push(textOf(block.text));
        if (filter !== null && piece === '') break;
        const start = text.length;
        text += piece;
        blocks.push({ type: 'text', text: piece });
        if (Array.isArray(block.citations)) addCitations(cited, block.citations, start, text.length);
        break;
      }
      case 'thinking': blocks.push({ type: 'thinking', thinking: textOf(block.thinking), signature: textOf(block.signature) }); break;
      case 'redacted_thinking': blocks.push({ type: 'redacted_thinking', data: textOf(block.data) }); break;
      case 'tool_use': toolCalls.push({ id: textOf(block.id), name: textOf(block.name), arguments: writeJson(block.input ?? {}) }); break;
      default: others.push(block);
    }
  }
  const held = filter === null ? '' : filter.end();
  if (held !== '') {
    text += held;
    blocks.push({ type: 'text', text: held });
  }
  const stopReason = textOf(answer.stop_reason);
  const stopSequence = textOf(answer.stop_sequence);
  const extra: Record<string, Json> = {};
  if (cited.citations.length > 0) extra.citations = cited.citations;
  if (others.length > 0) extra.server_tool_blocks = others;
  if (isObject(answer.stop_details)) extra.stop_details = answer.stop_details;
  return chatCompletion(call, {
    ...(typeof answer.id === 'string' ? { id: answer.id } : {}),
    ...(typeof answer.model === 'string' ? { model: answer.model } : {}),
    choices: [{
      text,
      ...(blocks.some((block) => block.type !== 'text') ? { blocks } : {}),
      toolCalls,
      finish: finishOf(stopReason, toolCalls.length),
      ...(stopReason === '' ? {} : { nativeFinish: stopReason }),
      ...(stopSequence === '' ? {} : { stopSequence }),
      ...(cited.annotations.length === 0 ? {} : { annotations: cited.annotations }),
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
    }],
    ...(isObject(answer.usage) ? { usage: usageOf(answer.usage) } : {}),
  });
}
