import { isObject, ProviderError, type EventSink, type EventStage, type Json, type JsonObject, type ProviderCall, type SseEvent } from '@gateway/plugin-sdk';
import { chatToMessages, messagesStage, messagesToChat } from '../common/anthropic.js';

// The Text Completions API is retired, and its models with it: a prompt goes up as the one user message of a Messages request.

/** A request for a text completion as a Messages request. */
export function completionToMessages(body: JsonObject, call: ProviderCall): JsonObject {
  const { prompt, best_of, echo, suffix, logprobs, ...rest } = body;
  if (typeof best_of === 'number' && best_of !== 1) call.omit('best_of', 'must be 1; the models give one answer a call');
  if (echo === true) call.omit('echo', 'is not supported');
  if (typeof suffix === 'string' && suffix !== '') call.omit('suffix', 'is not supported');
  if (logprobs !== undefined && logprobs !== null) call.omit('logprobs', 'the models give no log probabilities');
  return chatToMessages({ ...rest, messages: [{ role: 'user', content: promptOf(prompt, call) }] }, call);
}

function promptOf(prompt: Json | undefined, call: ProviderCall): string {
  if (typeof prompt === 'string') return prompt;
  const list: readonly Json[] = Array.isArray(prompt) ? prompt : [];
  const [only] = list;
  return list.length === 1 && typeof only === 'string' ? only : call.refuse('prompt', 'must be one text');
}

/** A whole message as a text completion. */
export function messagesToCompletion(answer: Json, call: ProviderCall): JsonObject {
  return asCompletion(messagesToChat(answer, call), 'message', call);
}

/** Events of the Messages API to chunks of a text completion. */
export function completionStage(call: ProviderCall): EventStage {
  const stage = messagesStage(call);
  const through = (out: EventSink): EventSink => ({
    write: ({ event, data }) => {
      const chunk = typeof data === 'string' ? undefined : asChunk(data, call);
      if (chunk !== undefined) out.write({ event, data: chunk });
    },
    end: () => { out.end(); },
    fail: (error: Error | ProviderError) => { out.fail(error); },
  });
  return {
    push: (event: SseEvent, out) => { stage.push(event, through(out)); },
    end: (out) => { stage.end(through(out)); },
  };
}

/** Chunks without text, finish or usage have no place in a text completion: the role, reasoning. */
function asChunk(chunk: JsonObject, call: ProviderCall): JsonObject | undefined {
  const [choice] = Array.isArray(chunk.choices) ? (chunk.choices as readonly Json[]) : [];
  if (isObject(choice) && choice.finish_reason === null && textOf(choice, 'delta') === '') return undefined;
  return asCompletion(chunk, 'delta', call);
}

function asCompletion(chat: JsonObject, member: 'message' | 'delta', call: ProviderCall): JsonObject {
  const choices = Array.isArray(chat.choices) ? (chat.choices as readonly Json[]) : [];
  return {
    id: typeof chat.id === 'string' ? chat.id : `cmpl-${call.exchange.id}`,
    object: 'text_completion',
    created: chat.created ?? call.createdAt,
    model: chat.model ?? call.model,
    choices: choices.map((choice, index): Json => {
      if (!isObject(choice)) return choice;
      const native = choice.native_finish_reason === undefined ? {} : { native_finish_reason: choice.native_finish_reason };
      return { index, text: textOf(choice, member), logprobs: null, finish_reason: choice.finish_reason ?? null, ...native };
    }),
    ...(chat.usage === undefined ? {} : { usage: chat.usage }),
  };
}

function textOf(choice: JsonObject, member: 'message' | 'delta'): string {
  const said = choice[member];
  return isObject(said) && typeof said.content === 'string' ? said.content : '';
}
