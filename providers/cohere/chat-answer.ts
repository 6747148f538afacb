import { Buffer } from 'node:buffer';
import {
  chatCompletion, isObject, listOf, ProviderError, textOf, type ContentBlock, type FinishReason, type Json, type JsonObject, type ProviderCall,
  type TokenUsage, type ToolCall,
} from '@gateway/plugin-sdk';

const countOf = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined);

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['COMPLETE', 'stop'], ['STOP_SEQUENCE', 'stop'], ['USER_CANCEL', 'stop'], ['MAX_TOKENS', 'length'], ['ERROR_LIMIT', 'length'], ['TOOL_CALL', 'tool_calls'],
  ['ERROR_TOXIC', 'content_filter'],
]);

/** OpenAI's word for why the answer ended; an error when the provider broke off. */
export function finishOf(native: string, toolCount: number, message = ''): FinishReason | ProviderError {
  if (native === 'ERROR' || native === 'TIMEOUT') {
    const reason = message !== '' ? message : native === 'ERROR' ? 'the generation failed' : 'the generation took too long';
    return new ProviderError(reason, { status: native === 'ERROR' ? 502 : 504, code: native });
  }
  const finish = finishReasons.get(native) ?? 'stop';
  return finish === 'stop' && toolCount > 0 ? 'tool_calls' : finish;
}

/** All tokens that went in and out; what is billed may be less. */
export function usageOf(usage: Json | undefined): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const tokens = isObject(usage.tokens) ? usage.tokens : isObject(usage.billed_units) ? usage.billed_units : undefined;
  if (tokens === undefined) return undefined;
  const cached = countOf(usage.cached_tokens);
  return { input: countOf(tokens.input_tokens) ?? 0, output: countOf(tokens.output_tokens) ?? 0, ...(cached === undefined ? {} : { cachedInput: cached }) };
}

/**
 * Cohere tells log probabilities for each piece of text, which may be several tokens: the sum is that of the piece.
 * OpenAI's shape has one entry for each.
 */
export function logprobsOf(items: Json | undefined): Json | undefined {
  const list = Array.isArray(items) ? items as readonly Json[] : isObject(items) ? [items] : [];
  const content = list.flatMap((item): Json[] => {
    if (!isObject(item)) return [];
    const values = listOf(item.logprobs);
    if (values.length === 0) return [];
    const token = textOf(item.text);
    const logprob = values.reduce<number>((sum, value) => sum + (typeof value === 'number' ? value : 0), 0);
    return [{ token, logprob, bytes: [...Buffer.from(token)], top_logprobs: [] }];
  });
  return content.length === 0 ? undefined : { content, refusal: null };
}

/** OpenAI's annotation for a citation of a document with an address. `offset` is where the cited text begins in the whole answer. */
export function annotationsOf(citation: Json, offset = 0): JsonObject[] {
  if (!isObject(citation) || (citation.type !== undefined && citation.type !== 'TEXT_CONTENT')) return [];
  const start = (countOf(citation.start) ?? 0) + offset;
  const end = (countOf(citation.end) ?? 0) + offset;
  return listOf(citation.sources).flatMap((source): JsonObject[] => {
    const document = isObject(source) ? source.document : undefined;
    if (!isObject(document)) return [];
    const url = textOf(document.url);
    return url === '' ? [] : [{ type: 'url_citation', url_citation: { start_index: start, end_index: end, url, title: textOf(document.title) } }];
  });
}

export function chatAnswer(body: Json, call: ProviderCall): Json {
  if (!isObject(body) || !isObject(body.message)) throw new ProviderError('the response has no message');
  const { message } = body;
  const plan = textOf(message.tool_plan);
  const blocks: ContentBlock[] = plan === '' ? [] : [{ type: 'thinking', thinking: plan }];
  const offsets: number[] = [];
  let text = '';
  for (const item of listOf(message.content)) {
    offsets.push(text.length);
    if (!isObject(item)) continue;
    if (item.type === 'thinking') {
      blocks.push({ type: 'thinking', thinking: textOf(item.thinking) });
    } else if (item.type === 'text' && textOf(item.text) !== '') {
      text += textOf(item.text);
      blocks.push({ type: 'text', text: textOf(item.text) });
    }
  }
  const toolCalls = listOf(message.tool_calls).map((toolCall) => readToolCall(toolCall, call));
  const native = textOf(body.finish_reason);
  const finish = finishOf(native, toolCalls.length);
  if (finish instanceof ProviderError) throw finish;
  const citations = listOf(message.citations);
  const annotations = citations.flatMap((citation) => annotationsOf(citation, offsets[isObject(citation) ? countOf(citation.content_index) ?? 0 : 0] ?? 0));
  const usage = usageOf(body.usage);
  const logprobs = logprobsOf(body.logprobs);
  return chatCompletion(call, {
    ...(typeof body.id === 'string' ? { id: body.id } : {}),
    choices: [{
      text, toolCalls, finish, nativeFinish: native,
      ...(blocks.some((block) => block.type === 'thinking') ? { blocks } : {}),
      ...(logprobs === undefined ? {} : { logprobs }),
      ...(annotations.length === 0 ? {} : { annotations }),
      ...(citations.length === 0 ? {} : { extra: { citations } }),
    }],
    ...(usage === undefined ? {} : { usage }),
  });
}

export function readToolCall(toolCall: Json, call: ProviderCall): ToolCall {
  const given = isObject(toolCall) ? toolCall : {};
  const called = isObject(given.function) ? given.function : {};
  const id = textOf(given.id);
  return { id: id === '' ? call.newId('call_') : id, name: textOf(called.name), arguments: textOf(called.arguments) };
}
