import {
  chatUsage, isObject, listOf, ProviderError, readMaxTokens, textOf, type EndpointSpec, type EventSink, type EventStage, type Json, type JsonObject,
  type ProviderCall, type SseEvent, type TokenUsage,
} from '@gateway/plugin-sdk';
import { chatAnswer, finishOf, usageOf } from './chat-answer.js';
import { ChatStage } from './chat-stream.js';
import { mistralError } from './error.js';

type Wire = Record<string, Json>;

const translated: ReadonlySet<string> = new Set([
  'prompt', 'messages', 'max_completion_tokens', 'max_tokens', 'seed', 'n', 'best_of', 'echo', 'logprobs', 'top_logprobs', 'logit_bias', 'frequency_penalty',
  'presence_penalty', 'stream_options', 'user', 'tools', 'functions', 'response_format',
]);

const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null;

/** Text between a prompt and a suffix. */
function fimRequest(body: JsonObject, call: ProviderCall): Json {
  const wire: Wire = {};
  for (const [name, value] of Object.entries(body)) {
    if (!translated.has(name) && value !== null) wire[name] = value;
  }
  wire.prompt = promptOf(body, call);
  const maxTokens = readMaxTokens(body);
  if (maxTokens !== undefined) wire.max_tokens = maxTokens;
  if (isGiven(body.seed)) wire.random_seed = body.seed;
  for (const name of ['n', 'best_of']) {
    if (isGiven(body[name]) && body[name] !== 1) call.omit(name, 'Mistral gives one completion for each call');
  }
  if (body.echo === true) call.omit('echo', 'Mistral does not repeat the prompt');
  for (const name of ['logprobs', 'top_logprobs']) {
    if (isGiven(body[name]) && body[name] !== false && body[name] !== 0) call.omit(name, 'Mistral tells no log probabilities');
  }
  if (isObject(body.logit_bias) && Object.keys(body.logit_bias).length > 0) call.omit('logit_bias', 'Mistral has no bias for tokens');
  if (listOf(body.tools).length > 0 || listOf(body.functions).length > 0) call.omit('tools', 'completions call no tools');
  if (isObject(body.response_format) && body.response_format.type !== 'text') call.omit('response_format', 'completions have no response format');
  for (const name of ['frequency_penalty', 'presence_penalty']) {
    if (isGiven(body[name]) && body[name] !== 0) call.report(name);
  }
  if (isGiven(body.user)) call.report('user');
  return wire;
}

function promptOf(body: JsonObject, call: ProviderCall): string {
  const { prompt } = body;
  if (typeof prompt === 'string') return prompt;
  const [first, ...others] = listOf(prompt);
  if (typeof first === 'string' && others.length === 0) return first;
  if (isGiven(prompt)) return call.refuse('prompt', 'Mistral takes one prompt, as a text');
  const messages = listOf(body.messages);
  const [message] = messages;
  // A chat call that asks for this endpoint: its one message is the prompt.
  return messages.length === 1 && isObject(message) && typeof message.content === 'string' ? message.content : call.refuse('prompt', 'must be a text');
}

function completion(body: Json, call: ProviderCall): Json {
  if (!isObject(body)) throw new ProviderError('the response is not an object');
  const choices = listOf(body.choices).filter(isObject).map((choice, index): Json => {
    const finish = finishOf(textOf(choice.finish_reason), 0);
    if (finish instanceof ProviderError) throw finish;
    return { text: isObject(choice.message) ? contentText(choice.message.content) : '', index, logprobs: null, finish_reason: finish };
  });
  const usage = usageOf(body.usage);
  return { ...head(body, call), choices, ...(usage === undefined ? {} : { usage: chatUsage(usage) }) };
}

const head = (body: JsonObject, call: ProviderCall): JsonObject => ({
  id: textOf(body.id) === '' ? `cmpl-${call.exchange.id}` : textOf(body.id),
  object: 'text_completion',
  created: typeof body.created === 'number' ? body.created : call.createdAt,
  model: textOf(body.model) === '' ? call.model : textOf(body.model),
});

const contentText = (content: Json | undefined): string =>
  (typeof content === 'string' ? content : listOf(content).map((chunk) => (isObject(chunk) && chunk.type === 'text' ? textOf(chunk.text) : '')).join(''));

/** Pieces of a text completion; usage in the last chunk, or in one of its own where the client asked for that. */
class CompletionStage implements EventStage {
  readonly #call: ProviderCall;
  #head: JsonObject | null = null;
  #usage: TokenUsage | undefined;
  #finish = '';
  #isOver = false;

  constructor(call: ProviderCall) {
    this.#call = call;
  }

  push(event: SseEvent, out: EventSink): void {
    if (this.#isOver || event.data === '' || event.data === '[DONE]') return;
    const data: Json = JSON.parse(event.data);
    if (!isObject(data)) return;
    if (!Array.isArray(data.choices)) {
      const fault = mistralError(data);
      if (fault !== undefined) this.#fail(new ProviderError(fault.message, { type: fault.type, code: fault.code }), out);
      return;
    }
    this.#head ??= head(data, this.#call);
    this.#usage = usageOf(data.usage) ?? this.#usage;
    const choice = listOf(data.choices)[0];
    if (!isObject(choice)) return;
    const text = isObject(choice.delta) ? contentText(choice.delta.content) : '';
    if (text !== '') out.write({ event: undefined, data: { ...this.#head, choices: [{ text, index: 0, logprobs: null, finish_reason: null }] } });
    const native = textOf(choice.finish_reason);
    if (native === '') return;
    const finish = finishOf(native, 0);
    if (finish instanceof ProviderError) this.#fail(finish, out);
    else this.#finish = finish;
  }

  end(out: EventSink): void {
    if (this.#isOver) return;
    if (this.#finish === '' || this.#head === null) return out.fail(new Error('the stream ended before the completion was complete'));
    const usage = this.#usage === undefined ? {} : { usage: chatUsage(this.#usage) };
    const isApart = this.#call.includesUsage;
    out.write({ event: undefined, data: { ...this.#head, choices: [{ text: '', index: 0, logprobs: null, finish_reason: this.#finish }], ...(isApart ? {} : usage) } });
    if (isApart && this.#usage !== undefined) out.write({ event: undefined, data: { ...this.#head, choices: [], ...usage } });
  }

  #fail(error: ProviderError, out: EventSink): void {
    this.#isOver = true;
    out.fail(error);
  }
}

export const completions: EndpointSpec = { path: '/fim/completions', request: fimRequest, response: completion, stream: (call) => new CompletionStage(call) };

/** The same for chat calls with the header `mistral-fim-completion: true`; the answer has the shape of a chat already. */
export const fimChat: EndpointSpec = { path: '/fim/completions', request: fimRequest, response: chatAnswer, stream: (call) => new ChatStage(call) };
