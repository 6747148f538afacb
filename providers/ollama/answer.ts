import {
  isObject, listOf, textOf, writeJson, type FinishReason, type Json, type JsonObject, type ProviderCall, type TokenUsage, type ToolCall,
} from '@gateway/plugin-sdk';

const countOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Arguments come as an object; a provider behind Ollama may still write them as a text. */
export function toolCallsOf(message: JsonObject, call: ProviderCall): ToolCall[] {
  if (!Array.isArray(message.tool_calls)) return [];
  return (message.tool_calls as readonly Json[]).flatMap((toolCall): ToolCall[] => {
    if (!isObject(toolCall) || !isObject(toolCall.function)) return [];
    const given = toolCall.function.arguments;
    return [{
      id: textOf(toolCall.id) || call.newId('call_'),
      name: textOf(toolCall.function.name),
      arguments: typeof given === 'string' ? given : writeJson(given ?? {}),
    }];
  });
}

/** Counts that are zero are left out by Ollama, as is everything before the end. */
export const usageOf = (answer: JsonObject): TokenUsage => ({ input: countOf(answer.prompt_eval_count), output: countOf(answer.eval_count) });

/** `stop`, `length`; `load` and `unload` for calls that only move the model; none from older servers. */
export function finishOf(reason: string, hasToolCalls: boolean): FinishReason {
  if (reason === 'length') return 'length';
  return hasToolCalls ? 'tool_calls' : 'stop';
}

interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: Json;
}

const tokenOf = (value: Json): TokenLogprob | undefined => (isObject(value) && typeof value.token === 'string' && typeof value.logprob === 'number'
  ? { token: value.token, logprob: value.logprob, bytes: value.bytes ?? null }
  : undefined);

/** As a chat completion has them; undefined when there are none. */
export function chatLogprobs(list: Json | undefined): JsonObject | undefined {
  const content = listOf(list).flatMap((value) => {
    const token = tokenOf(value);
    if (token === undefined || !isObject(value)) return [];
    return [{ ...token, top_logprobs: listOf(value.top_logprobs).flatMap((other) => { const top = tokenOf(other); return top === undefined ? [] : [{ ...top }]; }) }];
  });
  return content.length === 0 ? undefined : { content, refusal: null };
}

/** As a legacy completion has them. `offset`: characters of the text before the first token. */
export function completionLogprobs(list: Json | undefined, offset: number): { readonly wire: JsonObject | null; readonly end: number } {
  const tokens: string[] = [];
  const logprobs: number[] = [];
  const tops: JsonObject[] = [];
  const offsets: number[] = [];
  let end = offset;
  for (const value of listOf(list)) {
    const token = tokenOf(value);
    if (token === undefined || !isObject(value)) continue;
    tokens.push(token.token);
    logprobs.push(token.logprob);
    offsets.push(end);
    end += token.token.length;
    tops.push(Object.fromEntries(listOf(value.top_logprobs).flatMap((other) => { const top = tokenOf(other); return top === undefined ? [] : [[top.token, top.logprob]]; })));
  }
  return tokens.length === 0 ? { wire: null, end } : { wire: { tokens, token_logprobs: logprobs, top_logprobs: tops, text_offset: offsets }, end };
}
