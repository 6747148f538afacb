import {
  chatCompletion, isObject, JsonObjectText, readResponseFormat, wantsJsonObject, writeJson, type ChatChoice, type ContentBlock, type FinishReason,
  type Json, type JsonObject, type ProviderCall, type TokenUsage, type ToolCall,
} from '@gateway/plugin-sdk';
import { readModel } from './model.js';
import { answerTool, needsAnswerTool } from './tools.js';

/** Converse's answer as a chat completion. */
export function chatAnswer(body: Json, call: ProviderCall): JsonObject {
  const answer = isObject(body) ? body : {};
  const output = isObject(answer.output) ? answer.output : {};
  const message = isObject(output.message) ? output.message : {};
  const isAnswerTool = expectsAnswerTool(call);
  const blocks: ContentBlock[] = [];
  const toolCalls: ToolCall[] = [];
  const citations = new Citations();
  const filter = wantsJsonObject(call) ? new JsonObjectText() : null;
  let text = '';
  let hasThinking = false;
  for (const block of Array.isArray(message.content) ? message.content : []) {
    if (!isObject(block)) continue;
    if (typeof block.text === 'string') {
      const piece = filter === null ? block.text : filter.push(block.text);
      if (filter !== null && piece === '') continue;
      text += piece;
      blocks.push({ type: 'text', text: piece });
    } else if (isObject(block.reasoningContent)) {
      const thinking = thinkingOf(block.reasoningContent);
      if (thinking === undefined) continue;
      hasThinking = true;
      blocks.push(thinking);
    } else if (isObject(block.citationsContent)) {
      const cited = citedText(block.citationsContent);
      citations.add(block.citationsContent.citations, text.length, text.length + cited.length);
      text += cited;
      blocks.push({ type: 'text', text: cited });
    } else if (isObject(block.toolUse) && block.toolUse.type !== 'server_tool_use') {
      const { toolUseId, name, input } = block.toolUse;
      if (isAnswerTool && name === answerTool) {
        const json = writeJson(input ?? {});
        text += json;
        blocks.push({ type: 'text', text: json });
      } else toolCalls.push({ id: typeof toolUseId === 'string' ? toolUseId : call.newId('call_'), name: String(name), arguments: writeJson(input ?? {}) });
    }
  }
  const held = filter === null ? '' : filter.end();
  if (held !== '') {
    text += held;
    blocks.push({ type: 'text', text: held });
  }
  const native = typeof answer.stopReason === 'string' ? answer.stopReason : '';
  const stopSequence = stopSequenceOf(answer.additionalModelResponseFields);
  const choice: ChatChoice = {
    text, toolCalls, finish: finishOf(native, toolCalls.length > 0), nativeFinish: native,
    ...(hasThinking ? { blocks } : {}),
    ...(stopSequence === undefined ? {} : { stopSequence }),
    ...(citations.annotations.length > 0 ? { annotations: citations.annotations } : {}),
    ...(citations.others.length > 0 ? { extra: { citations: citations.others } } : {}),
  };
  const usage = usageOf(answer.usage);
  return chatCompletion(call, { choices: [choice], ...(usage === undefined ? {} : { usage }), extra: answerExtra(answer, call) });
}

/** The schema that the client wants is asked for as the arguments of a tool. */
export function expectsAnswerTool(call: ProviderCall): boolean {
  return call.body.response_format !== undefined && needsAnswerTool(readResponseFormat(call.body, call), readModel(call.model));
}

export function finishOf(native: string, hasToolCalls: boolean): FinishReason {
  switch (native) {
    case 'max_tokens': case 'model_context_window_exceeded': return 'length';
    case 'guardrail_intervened': case 'content_filtered': return 'content_filter';
    // Bedrock kept back what the model wrote; "stop" would pass it off as whole.
    case 'malformed_model_output': case 'malformed_tool_use': return 'content_filter';
    default: return hasToolCalls ? 'tool_calls' : 'stop';
  }
}

/** Converse counts the input beside the cache apart from what was read from it or written to it. */
export function usageOf(given: Json | undefined): TokenUsage | undefined {
  if (!isObject(given)) return undefined;
  const { cacheReadInputTokens: read, cacheWriteInputTokens: written } = given;
  return {
    input: count(given.inputTokens) + count(read) + count(written),
    output: count(given.outputTokens),
    ...(typeof read === 'number' ? { cachedInput: read } : {}),
    ...(typeof written === 'number' ? { cacheWriteInput: written } : {}),
  };
}

const count = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);

/** Members that the client asked for and OpenAI's API has no place for. */
export function answerExtra(answer: JsonObject, call: ProviderCall): JsonObject {
  return {
    ...(answer.trace === undefined ? {} : { trace: answer.trace }),
    ...(isObject(answer.serviceTier) && typeof answer.serviceTier.type === 'string' ? { service_tier: answer.serviceTier.type } : {}),
    ...(answer.additionalModelResponseFields === undefined || call.body.additionalModelResponseFieldPaths === undefined
      ? {} : { additionalModelResponseFields: answer.additionalModelResponseFields }),
  };
}

export function stopSequenceOf(fields: Json | undefined): string | undefined {
  if (!isObject(fields)) return undefined;
  const holder = isObject(fields.delta) ? fields.delta : fields;
  return typeof holder.stop_sequence === 'string' ? holder.stop_sequence : undefined;
}

function thinkingOf(reasoning: JsonObject): ContentBlock | undefined {
  if (typeof reasoning.redactedContent === 'string') return { type: 'redacted_thinking', data: reasoning.redactedContent };
  const { reasoningText } = reasoning;
  if (!isObject(reasoningText)) return undefined;
  const thinking = typeof reasoningText.text === 'string' ? reasoningText.text : '';
  return { type: 'thinking', thinking, ...(typeof reasoningText.signature === 'string' && reasoningText.signature !== '' ? { signature: reasoningText.signature } : {}) };
}

function citedText(citationsContent: JsonObject): string {
  const { content } = citationsContent;
  return Array.isArray(content) ? content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('') : '';
}

/** Web addresses become OpenAI's annotations; other places (pages, characters of a document) have no form there. */
export class Citations {
  readonly annotations: Json[] = [];
  readonly others: Json[] = [];

  add(citations: Json | undefined, from: number, to: number): void {
    for (const citation of Array.isArray(citations) ? citations : []) {
      if (!isObject(citation)) continue;
      const web = isObject(citation.location) ? citation.location.web : undefined;
      if (!isObject(web) || typeof web.url !== 'string') this.others.push(citation);
      else this.annotations.push({ type: 'url_citation', url_citation: { url: web.url, title: citation.title ?? web.domain ?? web.url, start_index: from, end_index: to } });
    }
  }
}
