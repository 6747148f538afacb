import {
  chatUsage, isObject, ProviderError, textOf, type EndpointSpec, type EventSink, type EventStage, type Json, type JsonObject, type ProviderCall,
  type SseEvent, type TokenUsage,
} from '@gateway/plugin-sdk';
import { completionLogprobs, finishOf, usageOf } from './answer.js';
import { errorOf } from './chat-stream.js';
import { judgeFields, optionsOf, ownFields, topLogprobs } from './options.js';

type Open = Record<string, Json>;

/** `/api/generate` takes one prompt; a list of prompts becomes as many calls. */
export function completionsEndpoint(call: ProviderCall): Omit<EndpointSpec, 'framing'> {
  const prompts = promptsOf(call.body, call);
  const spec = { path: '/api/generate', stream: () => new OllamaCompletionStage(call) };
  if (prompts.length === 1) {
    return {
      ...spec,
      request: (body) => generateBody(body, prompts[0] ?? '', call),
      response: (answer) => completion([answer], call),
    };
  }
  if (call.isStream) call.refuse('prompt', 'ollama streams the answer to one prompt only');
  return {
    ...spec,
    isFanOut: true,
    request: (body) => prompts.map((prompt) => generateBody(body, prompt, call)),
    response: (answers) => completion(Array.isArray(answers) ? answers as readonly Json[] : [answers], call),
  };
}

function promptsOf(body: JsonObject, call: ProviderCall): readonly string[] {
  const { prompt } = body;
  if (prompt === undefined || prompt === null) return [''];
  if (typeof prompt === 'string') return [prompt];
  const list: readonly Json[] = Array.isArray(prompt) ? prompt as readonly Json[] : [];
  const texts = list.filter((item): item is string => typeof item === 'string');
  return texts.length > 0 && texts.length === list.length ? texts : call.refuse('prompt', 'must be a text or a list of texts; ollama takes no tokens');
}

function generateBody(body: JsonObject, prompt: string, call: ProviderCall): JsonObject {
  judgeFields(body, call);
  if (typeof body.best_of === 'number' && body.best_of !== 1) call.omit('best_of', 'ollama gives one answer for each call');
  if (body.echo === true) call.omit('echo', 'ollama does not give the prompt back');
  const wire: Open = { ...ownFields(body), model: call.model, prompt, stream: call.isStream };
  const options = optionsOf(body);
  if (options !== undefined) wire.options = options;
  const top = topLogprobs(body.logprobs, 'logprobs', call);
  if (top !== undefined) {
    wire.logprobs = true;
    if (top > 0) wire.top_logprobs = top;
  }
  return wire;
}

function completion(answers: readonly Json[], call: ProviderCall): JsonObject {
  const usage = { input: 0, output: 0 };
  let model = call.model;
  const choices = answers.map((answer, index) => {
    if (!isObject(answer)) throw new ProviderError('ollama answered with something that is not a JSON object');
    if (answer.done !== true) throw errorOf(answer) ?? new ProviderError('ollama broke off before the answer was complete');
    const counts = usageOf(answer);
    usage.input += counts.input;
    usage.output += counts.output;
    model = textOf(answer.model) || model;
    return { index, text: textOf(answer.response), logprobs: completionLogprobs(answer.logprobs, 0).wire, finish_reason: finishOf(textOf(answer.done_reason), false) };
  });
  return { id: `cmpl-${call.exchange.id}`, object: 'text_completion', created: call.createdAt, model, choices, usage: chatUsage(usage) };
}

class OllamaCompletionStage implements EventStage {
  #finish = '';
  #usage: TokenUsage = { input: 0, output: 0 };
  #model: string;
  #offset = 0;
  #hasFailed = false;

  constructor(readonly call: ProviderCall) {
    this.#model = call.model;
  }

  push(event: SseEvent, out: EventSink): void {
    if (this.#hasFailed || this.#finish !== '') return;
    const line: Json = JSON.parse(event.data);
    if (!isObject(line)) return;
    const error = errorOf(line);
    if (error !== undefined) {
      this.#hasFailed = true;
      out.fail(error);
      return;
    }
    this.#model = textOf(line.model) || this.#model;
    const text = textOf(line.response);
    const { wire, end } = completionLogprobs(line.logprobs, this.#offset);
    this.#offset = end;
    if (text !== '' || wire !== null) out.write({ event: undefined, data: this.#chunk([{ index: 0, text, logprobs: wire, finish_reason: null }]) });
    if (line.done !== true) return;
    this.#finish = finishOf(textOf(line.done_reason), false);
    this.#usage = usageOf(line);
  }

  end(out: EventSink): void {
    if (this.#hasFailed) return;
    if (this.#finish === '') {
      out.fail(new Error('the stream ended before the answer was complete'));
      return;
    }
    const usage = chatUsage(this.#usage);
    const last = this.#chunk([{ index: 0, text: '', logprobs: null, finish_reason: this.#finish }]);
    out.write({ event: undefined, data: this.call.includesUsage ? last : { ...last, usage } });
    if (this.call.includesUsage) out.write({ event: undefined, data: { ...this.#chunk([]), usage } });
  }

  #chunk(choices: Json): JsonObject {
    return { id: `cmpl-${this.call.exchange.id}`, object: 'text_completion', created: this.call.createdAt, model: this.#model, choices };
  }
}
