import {
  chatCompletion, isObject, listOf, ProviderError, textOf, writeJson, type ChatChoice, type ContentBlock, type FinishReason, type Json,
  type JsonObject, type ProviderCall, type TokenUsage, type ToolCall,
} from '@gateway/plugin-sdk';

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'], ['length', 'length'], ['model_length', 'length'], ['tool_calls', 'tool_calls'], ['content_filter', 'content_filter'],
]);

/** OpenAI's word for why the answer ended; an error when the provider broke off. */
export function finishOf(native: string, toolCount: number): FinishReason | ProviderError {
  if (native === 'error') return new ProviderError('the generation failed', { code: native });
  const finish = finishReasons.get(native) ?? 'stop';
  return finish === 'stop' && toolCount > 0 ? 'tool_calls' : finish;
}

export function usageOf(usage: Json | undefined): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const count = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined);
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const cached = count(details.cached_tokens) ?? count(usage.num_cached_tokens);
  const total = count(usage.total_tokens);
  const audioSeconds = count(usage.prompt_audio_seconds);
  return {
    input: count(usage.prompt_tokens) ?? 0,
    output: count(usage.completion_tokens) ?? 0,
    ...(total === undefined ? {} : { total }),
    ...(cached === undefined ? {} : { cachedInput: cached }),
    ...(audioSeconds === undefined ? {} : { audioSeconds }),
  };
}

/** The text of a thinking chunk, which holds chunks itself. */
export function thinkingOf(chunk: JsonObject): string {
  if (typeof chunk.thinking === 'string') return chunk.thinking;
  return listOf(chunk.thinking).map((part) => (isObject(part) ? textOf(part.text) : '')).join('');
}

function thinkingBlock(chunk: JsonObject): ContentBlock {
  const thinking = thinkingOf(chunk);
  return typeof chunk.signature === 'string' ? { type: 'thinking', thinking, signature: chunk.signature } : { type: 'thinking', thinking };
}

export function readToolCall(toolCall: Json, call: ProviderCall): ToolCall {
  const given = isObject(toolCall) ? toolCall : {};
  const called = isObject(given.function) ? given.function : {};
  const id = textOf(given.id);
  const args = called.arguments;
  return {
    // Answers without an id say `null`, as a text.
    id: id === '' || id === 'null' ? call.newId('call_') : id,
    name: textOf(called.name),
    arguments: typeof args === 'string' ? args : args === undefined || args === null ? '{}' : writeJson(args),
  };
}

export function chatAnswer(body: Json, call: ProviderCall): Json {
  if (!isObject(body)) throw new ProviderError('the response is not an object');
  const choices = listOf(body.choices).filter(isObject);
  if (choices.length === 0) throw new ProviderError('the response has no choices');
  const ordered = choices.length === 1 ? choices : [...choices].sort((one, other) => Number(one.index) - Number(other.index));
  const usage = usageOf(body.usage);
  return chatCompletion(call, {
    ...(typeof body.id === 'string' ? { id: body.id } : {}),
    ...(typeof body.model === 'string' ? { model: body.model } : {}),
    ...(typeof body.created === 'number' ? { created: body.created } : {}),
    choices: ordered.map((choice) => readChoice(choice, call)),
    ...(usage === undefined ? {} : { usage }),
  });
}

/** With Mistral's own tools a choice holds several messages; those of the assistant are the answer. */
const messagesOf = (choice: JsonObject): JsonObject[] =>
  (isObject(choice.message) ? [choice.message] : listOf(choice.messages).filter(isObject).filter(({ role }) => role === 'assistant' || role === undefined || role === null));

function readChoice(choice: JsonObject, call: ProviderCall): ChatChoice {
  let text = '';
  const blocks: ContentBlock[] = [];
  const references: Json[] = [];
  const toolCalls: ToolCall[] = [];
  const addText = (piece: string): void => {
    text += piece;
    const last = blocks.at(-1);
    if (last?.type === 'text') blocks[blocks.length - 1] = { type: 'text', text: last.text + piece };
    else if (piece !== '') blocks.push({ type: 'text', text: piece });
  };
  for (const message of messagesOf(choice)) {
    const { content } = message;
    if (typeof content === 'string') addText(content);
    for (const chunk of listOf(content)) {
      if (!isObject(chunk)) continue;
      if (chunk.type === 'text') addText(textOf(chunk.text));
      else if (chunk.type === 'thinking') blocks.push(thinkingBlock(chunk));
      else references.push(chunk);
    }
    for (const toolCall of listOf(message.tool_calls)) toolCalls.push(readToolCall(toolCall, call));
  }
  const native = textOf(choice.finish_reason);
  const finish = finishOf(native, toolCalls.length);
  if (finish instanceof ProviderError) throw finish;
  return {
    text, toolCalls, finish, nativeFinish: native,
    ...(blocks.some((block) => block.type === 'thinking') ? { blocks } : {}),
    ...(references.length === 0 ? {} : { extra: { references } }),
  };
}
