// Hot: runs for each chunk.
// The answer that was chosen, on its way to the client: relayed as the buffers that arrived, with the usage tap beside it, unless the
// provider's own dialect has to be turned into the client's. Back-pressure: a write that says false pauses the upstream until the client
// has read.

import {
  isBinaryAnswer, isProviderError, type AnswerEvent, type EndpointName, type EventStage, type Json, type JsonObject, type UpstreamCall,
} from '@gateway/plugin-sdk';
import { chatToMessages } from '../dialect/messages/answer.js';
import { MessagesStage } from '../dialect/messages/stream.js';
import { chatToResponse } from '../dialect/responses/answer.js';
import { ResponsesStage } from '../dialect/responses/stream.js';
import { fail, isGatewayError, type GatewayError } from '../errors/gateway-error.js';
import { errorBody, errorEvent, type ToldError } from '../errors/to-response.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Usage } from '../exchange/usage.js';
import { StageChain } from '../stream/stages.js';
import { UsageTap } from '../stream/usage-tap.js';
import { answerHeaders, headerOf, setHeader } from './answer-headers.js';
import type { Attempt, AttemptsEnd } from './attempts.js';
import type { Prepared } from './prepare.js';
import { providerError } from './provider-error.js';
import type { PipelineServices } from './services.js';
import { keepResponse, responseContext } from './stored-responses.js';

/** What becomes of the answer; settled at its head. */
type Mode = 'relay' | 'collect' | 'error' | 'stages';

/** What the end of a stream has in it, by endpoint; an error event of the provider's own is an end, too. */
const lastEvents: ReadonlyMap<EndpointName, RegExp> = new Map([
  ['chatCompletions', /\[DONE\]|"finish_reason": ?"|"error"/],
  ['messages', /message_stop|"type": ?"error"/],
  ['responses', /response\.(?:completed|incomplete|failed)|"type": ?"error"/],
]);

/** Of an error body so much is read; what is longer is no error message. */
const errorBytesMax = 256 * 1024;

export class Respond {
  #mode: Mode = 'relay';
  #call: UpstreamCall | null = null;
  #tap: UsageTap | null = null;
  #stages: StageChain | null = null;
  #responses: ResponsesStage | null = null;
  #collected: Uint8Array[] | null = null;
  #collectedBytes = 0;
  #isPaused = false;
  #isEventStream = false;
  #lastChunk: Uint8Array | null = null;
  #status = 0;
  #headers: readonly string[] = [];
  #retryCount = 0;

  constructor(readonly exchange: Exchange, readonly attempt: Attempt, readonly services: PipelineServices, readonly end: AttemptsEnd) {}

  attach(call: UpstreamCall): void {
    this.#call = call;
    if (this.#isPaused) call.pause();
  }

  usage(): Usage | null {
    return this.#tap === null ? null : this.#tap.read();
  }

  onHead(status: number, headers: readonly string[], retryCount: number): void {
    const { exchange } = this;
    const { responder } = exchange;
    const { prepared } = this.attempt;
    const { spec } = prepared;
    const type = headerOf(headers, 'content-type') ?? '';
    const isStream = type.startsWith(spec === null || spec.framing === undefined ? 'text/event-stream' : spec.framing.contentType);
    this.#isEventStream = isStream;
    this.#status = status;
    this.#headers = headers;
    this.#retryCount = retryCount;
    exchange.status = status;
    exchange.isStream = isStream;
    responder.onDrain = () => this.#onDrain();
    const isPlain = headerOf(headers, 'content-encoding') === undefined;
    const mode = spec === null ? 'relay' : this.#modeOf(status, isStream, prepared);
    if (!isPlain && (mode === 'collect' || mode === 'stages')) {
      this.#call?.cancel();
      this.end.refuse(exchange, fail('UPSTREAM_INVALID', { provider: exchange.provider, reason: 'it is compressed, which nobody asked for; do not forward accept-encoding' }), retryCount);
      return;
    }
    this.#mode = isPlain ? mode : 'relay';
    if (this.#mode === 'collect' || this.#mode === 'error') {
      this.#collected = [];
      return;
    }
    if (isPlain && (isStream || type.startsWith('application/json'))) this.#tap = new UsageTap(isStream);
    if (this.#mode === 'stages' && !this.#stage(prepared)) return;
    exchange.firstByteAt = performance.now();
    const length = this.#mode === 'relay' ? headerOf(headers, 'content-length') : undefined;
    const answer = answerHeaders(exchange, retryCount, headers);
    if (this.#mode === 'stages') setHeader(answer, 'content-type', 'text/event-stream');
    responder.start(status, answer, length === undefined ? -1 : Number(length));
  }

  #modeOf(status: number, isStream: boolean, prepared: Prepared): Mode {
    const { spec, translation } = prepared;
    if (status >= 200 && status < 300) {
      if (isStream) return translation !== null || spec?.stream !== undefined ? 'stages' : 'relay';
      return translation !== null || spec?.response !== undefined ? 'collect' : 'relay';
    }
    if (status < 400) return 'relay';
    return translation !== null || this.attempt.leaf.provider.plugin.error !== undefined ? 'error' : 'relay';
  }

  /** False when the provider could not make its stage: nothing has gone to the client, which gets a plain error. */
  #stage(prepared: Prepared): boolean {
    const { exchange } = this;
    const { spec, call, translation } = prepared;
    const stages: EventStage<AnswerEvent>[] = [];
    try {
      if (spec?.stream !== undefined) stages.push(spec.stream(callOf(prepared)));
      const translator = translation === null ? null : this.#translator(translation, prepared);
      if (translator !== null) stages.push(translator);
      const decoder = spec?.framing?.decoder() ?? null;
      const isOpenai = translation === null && call !== null && (call.endpoint === 'chatCompletions' || call.endpoint === 'completions');
      this.#stages = new StageChain(stages, (bytes) => this.#pass(bytes), (error) => this.#onStageError(error), decoder, isOpenai ? 'data: [DONE]\n\n' : '');
      return true;
    } catch (thrown) {
      this.#call?.cancel();
      this.end.refuse(exchange, fail('PLUGIN_FAILED', { plugin: `provider/${exchange.provider}`, reason: 'its stream function failed' }, thrown), this.#retryCount);
      return false;
    }
  }

  #translator(translation: NonNullable<Prepared['translation']>, prepared: Prepared): EventStage<AnswerEvent> {
    const { exchange } = this;
    const model = prepared.call === null ? '' : prepared.call.model;
    if (translation === 'messages') return new MessagesStage({ id: exchange.id, model });
    const context = responseContext(exchange, model, this.services.responses);
    this.#responses = new ResponsesStage(context, context.isStored ? (response) => keepResponse(exchange, response, this.services.responses) : undefined);
    return this.#responses;
  }

  onChunk(chunk: Uint8Array): void {
    switch (this.#mode) {
      case 'relay': {
        const tap = this.#tap;
        if (tap !== null) tap.push(chunk);
        this.#write(chunk);
        return;
      }
      case 'stages': this.#stages?.push(chunk); return;
      default: this.#collect(chunk);
    }
  }

  onEnd(): void {
    const { exchange } = this;
    if (this.#mode === 'collect') {
      this.#answerCollected();
      return;
    }
    if (this.#mode === 'error') {
      this.#answerError();
      return;
    }
    if (this.#stages !== null) this.#stages.end();
    else if (this.#isEventStream && this.#isCutShort()) this.onError(fail('UPSTREAM_BROKE', { provider: exchange.provider, reason: 'its stream ended without its last event' }));
    if (exchange.isFinished) return;
    exchange.responder.end();
    this.end.finish(exchange);
  }

  /** A relayed stream whose connection closed in good order, though the provider had not finished: nothing of what ends one has come. */
  #isCutShort(): boolean {
    const { prepared } = this.attempt;
    if (prepared.spec === null || this.#status !== 200 || this.#tap === null || this.exchange.suffix !== '') return false;
    const marks = lastEvents.get(this.exchange.route.name);
    if (marks === undefined) return false;
    const last = this.#lastChunk;
    const text = last === null ? '' : Buffer.from(last.buffer, last.byteOffset, last.byteLength).toString('latin1');
    // The mark may be cut in two; then, and only then, all that was kept is looked at.
    if (marks.test(text) || marks.test(this.#tap.kept().toString('latin1'))) return false;
    const usage = this.#tap.read();
    // A response names no reason when it is complete; Anthropic's streams count tokens from their beginning.
    return usage.finishReason === '' && (this.exchange.route.name !== 'responses' || usage.outputTokens === -1);
  }

  /** The upstream broke off. Bytes may be on their way, so the status stands: the client has to be told inside the answer. */
  onError(error: GatewayError): void {
    const { exchange } = this;
    if (exchange.isFinished) return;
    if (this.#mode === 'error') {
      this.#answerError();
      return;
    }
    if (this.#mode === 'collect') {
      this.end.refuse(exchange, error, this.#retryCount);
      return;
    }
    this.#breakOff(error, error);
  }

  /** The provider told of an error inside its stream, or the stream is not what it should be. */
  #onStageError(error: Error): void {
    const { exchange } = this;
    if (exchange.isFinished) return;
    if (!isProviderError(error)) {
      this.onError(asUpstreamInvalid(error, exchange));
      return;
    }
    const { status, message, type, code } = error;
    this.#breakOff(fail('UPSTREAM_FAILED', { provider: exchange.provider, reason: message }, error), { status, message, type: type ?? 'upstream_error', param: null, code: code ?? null });
  }

  #breakOff(error: GatewayError, toClient: GatewayError | ToldError): void {
    const { exchange } = this;
    exchange.ending = 'upstream';
    exchange.errorCode = error.code;
    this.#call?.cancel();
    if (this.#isEventStream) {
      exchange.responder.write(Buffer.from(errorEvent(toClient, exchange.route.dialect, this.#isMidEvent(), this.#responses === null ? 0 : this.#responses.nextSequence)));
      exchange.responder.end();
    } else {
      exchange.responder.abort();
    }
    this.end.finish(exchange);
  }

  /** What the stages made: usage is read where its shape is known. */
  #pass(bytes: Uint8Array): void {
    const tap = this.#tap;
    if (tap !== null) tap.push(bytes);
    this.#write(bytes);
  }

  #write(chunk: Uint8Array): void {
    this.#lastChunk = chunk;
    if (!this.exchange.responder.write(chunk) && !this.#isPaused) {
      this.#isPaused = true;
      this.#call?.pause();
    }
  }

  #onDrain(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#call?.resume();
  }

  #isMidEvent(): boolean {
    const last = this.#lastChunk;
    if (last === null) return false;
    const text = Buffer.from(last.buffer, last.byteOffset, last.byteLength).subarray(-4).toString('latin1');
    return !text.endsWith('\n\n') && !text.endsWith('\r\n\r\n') && !text.endsWith('\r\r');
  }

  #collect(chunk: Uint8Array): void {
    this.#collectedBytes += chunk.length;
    const maximum = this.#mode === 'error' ? errorBytesMax : this.services.settings.collectedBytesMax;
    if (this.#collectedBytes <= maximum) {
      this.#collected?.push(chunk);
      return;
    }
    this.#call?.cancel();
    if (this.#mode === 'error') this.#answerError();
    else this.end.refuse(this.exchange, fail('UPSTREAM_TOO_LARGE', { provider: this.exchange.provider, maximum }), this.#retryCount);
  }

  #answerCollected(): void {
    const { exchange } = this;
    const { prepared } = this.attempt;
    let body: string | Uint8Array;
    let type = 'application/json';
    try {
      const parsed: Json = JSON.parse(Buffer.concat(this.#collected ?? []).toString('utf8'));
      const made = prepared.spec?.response === undefined ? parsed : prepared.spec.response(parsed, callOf(prepared));
      if (isBinaryAnswer(made)) {
        body = made.bytes;
        type = made.contentType;
      } else {
        body = JSON.stringify(prepared.translation === null ? made : this.#translated(prepared.translation, made, prepared));
      }
    } catch (thrown) {
      if (isProviderError(thrown)) this.#refuseAsProvider({ status: thrown.status, message: thrown.message, type: thrown.type ?? 'upstream_error', param: null, code: thrown.code ?? null });
      else this.end.refuse(exchange, asUpstreamInvalid(thrown, exchange), this.#retryCount);
      return;
    }
    if (typeof body === 'string') {
      this.#tap = new UsageTap(false);
      this.#tap.push(Buffer.from(body));
    }
    exchange.firstByteAt = performance.now();
    const headers = answerHeaders(exchange, this.#retryCount, this.#headers);
    setHeader(headers, 'content-type', type);
    exchange.responder.send(this.#status, headers, body);
    this.end.finish(exchange);
  }

  #translated(translation: NonNullable<Prepared['translation']>, made: Json, prepared: Prepared): JsonObject {
    const { exchange } = this;
    if (typeof made !== 'object' || made === null || !('choices' in made)) throw new Error('the answer is no chat completion');
    const model = prepared.call === null ? '' : prepared.call.model;
    if (translation === 'messages') return chatToMessages(made, { id: exchange.id, model });
    const context = responseContext(exchange, model, this.services.responses);
    const response = chatToResponse(made, context);
    if (context.isStored) keepResponse(exchange, response, this.services.responses);
    return response;
  }

  #answerError(): void {
    const { exchange } = this;
    const bytes = Buffer.concat(this.#collected ?? []);
    const error = providerError(bytes, this.#status, this.#headers, this.attempt.leaf.provider.plugin, exchange.route.dialect);
    if (error !== null) {
      this.#refuseAsProvider(error);
      return;
    }
    exchange.firstByteAt = performance.now();
    exchange.responder.send(this.#status, answerHeaders(exchange, this.#retryCount, this.#headers), bytes);
    this.end.finish(exchange);
  }

  #refuseAsProvider(error: ToldError): void {
    const { exchange } = this;
    exchange.status = error.status;
    exchange.firstByteAt = performance.now();
    const headers = answerHeaders(exchange, this.#retryCount, this.#headers);
    setHeader(headers, 'content-type', 'application/json');
    exchange.responder.send(error.status, headers, errorBody(error, exchange.route.dialect));
    this.end.finish(exchange);
  }
}

function callOf(prepared: Prepared): NonNullable<Prepared['call']> {
  if (prepared.call === null) throw new Error('an endpoint with functions was prepared without a call');
  return prepared.call;
}

const asUpstreamInvalid = (thrown: unknown, exchange: Exchange): GatewayError => (isGatewayError(thrown)
  ? thrown
  : fail('UPSTREAM_INVALID', { provider: exchange.provider, reason: thrown instanceof SyntaxError ? 'the body is not JSON' : 'the body has another shape than documented' }, thrown));
