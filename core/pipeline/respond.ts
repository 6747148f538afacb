// Hot: runs for each chunk.
// The answer that was chosen, on its way to the client: relayed as the buffers that arrived, with the usage tap beside it, unless the
// provider's own dialect has to be turned into the client's. Back-pressure: a write that says false pauses the upstream until the client
// has read.

import {
  isBinaryAnswer, isProviderError, type AnswerEvent, type BinaryAnswer, type EndpointName, type EventStage, type Json, type JsonObject, type Maybe, type UpstreamCall,
} from '@gateway/plugin-sdk';
import { chatToMessages } from '../dialect/messages/answer.js';
import { MessagesStage } from '../dialect/messages/stream.js';
import { chatToResponse } from '../dialect/responses/answer.js';
import { ResponsesStage } from '../dialect/responses/stream.js';
import { isReplayable } from '../dialect/replay/replay.js';
import { fail, isGatewayError, type GatewayError } from '../errors/gateway-error.js';
import { errorBody, errorEvent, type ToldError } from '../errors/to-response.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Usage } from '../exchange/usage.js';
import { StageChain } from '../stream/stages.js';
import { UsageTap } from '../stream/usage-tap.js';
import { AfterPhase } from './after-phase.js';
import { answerHeaders, headerOf, setHeader } from './answer-headers.js';
import { AnswerTail, isStreamedEndpoint } from './answer-tail.js';
import type { Attempt, AttemptsEnd } from './attempts.js';
import { isJudged, shownStatus } from './before.js';
import { changeCache, includesUsage } from './cached-answer.js';
import { withHookResults } from './hook-result.js';
import type { Prepared } from './prepare.js';
import { providerError } from './provider-error.js';
import type { PipelineServices } from './services.js';
import { keepResponse, responseContext } from './stored-responses.js';

/** What becomes of the answer; settled at its head. `whole`: collected as it is, for hooks and caches. */
type Mode = 'relay' | 'collect' | 'whole' | 'error' | 'stages';

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
  #contentType = '';
  #retryCount = 0;
  /** The hooks after the request; null when none has a say in this answer. */
  #phase: AfterPhase | null = null;
  /** Keeps a response for a provider that keeps none, once the hooks have let it pass. */
  #keep: ((response: JsonObject) => void) | null = null;
  /** Nothing goes to the client before the hooks have spoken. */
  #isHeld = false;
  /** The answer was thrown away, and another attempt has begun. */
  #isDropped = false;

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
    this.#contentType = type;
    const { after } = this.attempt.leaf;
    if (after !== null && isJudged(exchange, status)) {
      this.#phase = new AfterPhase(exchange, after);
      this.#isHeld = this.#phase.decides && (!isStream || this.#phase.holdsStream);
      if (!this.#isHeld && this.#isReconsidered(status)) return;
    }
    exchange.status = shownStatus(exchange, status);
    exchange.isStream = isStream;
    responder.onDrain = () => this.#onDrain();
    const isPlain = headerOf(headers, 'content-encoding') === undefined;
    const mode = spec === null ? 'relay' : this.#modeOf(status, isStream, prepared);
    if (!isPlain && (mode === 'collect' || mode === 'stages' || this.#phase !== null)) {
      this.#call?.cancel();
      this.end.refuse(exchange, fail('UPSTREAM_INVALID', { provider: exchange.provider, reason: 'it is compressed, which nobody asked for; do not forward accept-encoding' }), retryCount);
      return;
    }
    this.#mode = isPlain ? mode : 'relay';
    if (this.#mode === 'collect' || this.#mode === 'whole' || this.#mode === 'error') {
      this.#collected = [];
      return;
    }
    if (isPlain && (isStream || type.startsWith('application/json'))) this.#tap = new UsageTap(isStream);
    if (this.#mode === 'stages' && !this.#stage(prepared)) return;
    if (!this.#isHeld) this.#start();
  }

  #start(): void {
    const { exchange } = this;
    exchange.firstByteAt = performance.now();
    const length = this.#mode === 'relay' ? headerOf(this.#headers, 'content-length') : undefined;
    const answer = answerHeaders(exchange, this.#retryCount, this.#headers);
    if (this.#mode === 'stages') setHeader(answer, 'content-type', 'text/event-stream');
    exchange.responder.start(exchange.status, answer, length === undefined ? -1 : Number(length));
  }

  /** The hooks gave the answer another status: true when the strategy, or a retry, would rather have another answer. */
  #isReconsidered(status: number): boolean {
    return this.#isReconsideredAs(shownStatus(this.exchange, status));
  }

  /** Hooks or a cache have to do with this answer. */
  get #isWatched(): boolean {
    const { hooks } = this.exchange;
    return this.#phase !== null || this.attempt.attempts.question !== null || (hooks !== null && !hooks.isEmpty);
  }

  #modeOf(status: number, isStream: boolean, prepared: Prepared): Mode {
    const { spec, translation } = prepared;
    const isWatched = this.#isWatched;
    if (status >= 200 && status < 300) {
      if (isStream) return translation !== null || spec?.stream !== undefined || (isWatched && isStreamedEndpoint(this.exchange.route.name)) ? 'stages' : 'relay';
      if (translation !== null || spec?.response !== undefined) return 'collect';
      return isWatched && (this.#phase !== null || jsonType.test(this.#contentType)) ? 'whole' : 'relay';
    }
    if (status < 400) return 'relay';
    if (translation !== null || this.attempt.leaf.provider.plugin.error !== undefined) return 'error';
    return isWatched && jsonType.test(this.#contentType) ? 'whole' : 'relay';
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
      const tail = this.#tail();
      if (tail !== null && this.#phase !== null && !this.#isHeld) for (const stage of this.#phase.stages(tail.endpoint)) stages.push(stage);
      const decoder = spec?.framing?.decoder() ?? null;
      const isOpenai = translation === null && call !== null && (call.endpoint === 'chatCompletions' || call.endpoint === 'completions');
      this.#stages = new StageChain(stages, (bytes) => this.#pass(bytes), (error) => this.#onStageError(error), decoder, isOpenai && spec?.stream !== undefined ? 'data: [DONE]\n\n' : '', tail);
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
    const keep = context.isStored ? (response: JsonObject): void => keepResponse(exchange, response, this.services.responses) : undefined;
    // What the hooks have not seen yet is not to be read back later.
    if (this.#phase !== null && keep !== undefined) this.#keep = keep;
    this.#responses = new ResponsesStage(context, this.#phase === null ? keep : undefined);
    return this.#responses;
  }

  #tail(): AnswerTail | null {
    const { exchange } = this;
    const { name } = exchange.route;
    if (!this.#isWatched || !isStreamedEndpoint(name)) return null;
    const phase = this.#phase;
    return new AnswerTail(exchange, name, {
      holdsAll: this.#isHeld,
      assembles: this.#isHeld || this.attempt.attempts.question !== null || this.#keep !== null || (phase !== null && phase.assemblesStream),
      bytesMax: this.services.settings.collectedBytesMax,
      includesUsage: includesUsage(exchange),
      onWhole: (answer) => this.#onWholeStream(answer),
    });
  }

  /** The body to replay when the hooks changed a stream that was held; null: the events as they came. */
  #onWholeStream(answer: JsonObject | null): Maybe<JsonObject | null> {
    const phase = this.#phase;
    const settle = (): null => {
      if (answer !== null) this.#remember(answer, null);
      return null;
    };
    if (phase === null) return settle();
    if (!this.#isHeld) {
      const judging = phase.judgeStream(answer, this.#status);
      return judging instanceof Promise ? judging.then(settle) : settle();
    }
    if (answer === null) throw fail('UPSTREAM_INVALID', { provider: this.exchange.provider, reason: 'its stream cannot be put together for the hooks' });
    const settled = (judged: JsonObject): JsonObject | null => {
      this.exchange.status = shownStatus(this.exchange, this.#status);
      this.#remember(judged, null);
      return judged === answer ? null : judged;
    };
    const judging = phase.judge(answer, this.#status);
    return judging instanceof Promise ? judging.then(settled) : settled(judging);
  }

  /** What passed the hooks goes into the cache, and is kept for later calls about it. */
  #remember(answer: JsonObject, bytes: Uint8Array | null): void {
    const { exchange } = this;
    if (this.#keep !== null) this.#keep(answer);
    const { question } = this.attempt.attempts;
    const plan = this.attempt.leaf.cache;
    const { name } = exchange.route;
    // An error that came with status 200, or half an answer.
    if (bytes === null && isStreamedEndpoint(name) && !isReplayable(name, answer)) return;
    if (question === null || plan === null || this.#status !== 200 || exchange.status !== 200) return;
    const body = bytes ?? Buffer.from(JSON.stringify(answer));
    const entry = { status: 200, contentType: 'application/json', body, storedAtMs: Date.now() };
    changeCache(plan, () => plan.cache.store(question, entry), this.services);
  }

  onChunk(chunk: Uint8Array): void {
    switch (this.#mode) {
      case 'relay': {
        const tap = this.#tap;
        if (tap !== null) tap.push(chunk);
        this.#write(chunk);
        return;
      }
      case 'stages':
        this.#stages?.push(chunk);
        if (this.#phase !== null && this.#phase.isDenied) this.#denyStream(fail('HOOKS_FAILED'));
        return;
      default: this.#collect(chunk);
    }
  }

  onEnd(): void {
    const { exchange } = this;
    if (this.#isDropped) return;
    if (this.#mode === 'collect' || this.#mode === 'whole') {
      this.#answerCollected();
      return;
    }
    if (this.#mode === 'error') {
      this.#answerError();
      return;
    }
    if (this.#stages !== null) {
      this.#stages.end(() => this.#onStreamed());
      return;
    }
    if (this.#isEventStream && this.#isCutShort()) this.onError(fail('UPSTREAM_BROKE', { provider: exchange.provider, reason: 'its stream ended without its last event' }));
    if (exchange.isFinished) return;
    exchange.responder.end();
    this.end.finish(exchange);
  }

  /** The last byte that the stages made was written, or they have failed. */
  #onStreamed(): void {
    const { exchange } = this;
    if (exchange.isFinished || exchange.isRefused || this.#isDropped) return;
    if (this.#phase !== null && this.#phase.isDenied) {
      this.#denyStream(fail('HOOKS_FAILED'));
      return;
    }
    // Held, and there was not one event.
    if (!exchange.responder.isStarted) this.#start();
    exchange.responder.end();
    this.end.finish(exchange);
  }

  /** A hook denies: as a plain answer while nothing has gone, else as the last event. */
  #denyStream(error: GatewayError): void {
    const { exchange } = this;
    if (exchange.isFinished || exchange.isRefused || this.#isDropped) return;
    if (exchange.responder.isStarted) {
      exchange.ending = 'gateway';
      this.#endWithError(error, error);
      return;
    }
    this.#refuse(error);
  }

  /** The answer is not for the client; another target may have a better one. */
  #refuse(error: GatewayError): void {
    if (error.code === 'HOOKS_FAILED' && this.#isReconsideredAs(error.status)) return;
    this.end.refuse(this.exchange, error, this.#retryCount);
  }

  #isReconsideredAs(status: number): boolean {
    if (!this.attempt.attempts.reconsider(this.attempt, status)) return false;
    this.#isDropped = true;
    this.#call?.cancel();
    return true;
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
    if (exchange.isFinished || this.#isDropped) return;
    if (this.#mode === 'error') {
      this.#answerError();
      return;
    }
    if (this.#mode === 'collect' || this.#mode === 'whole' || (this.#isHeld && !exchange.responder.isStarted)) {
      this.end.refuse(exchange, error, this.#retryCount);
      return;
    }
    this.#breakOff(error, error);
  }

  /** The provider told of an error inside its stream, or the stream is not what it should be. */
  #onStageError(error: Error): void {
    const { exchange } = this;
    if (exchange.isFinished || this.#isDropped) return;
    if (isGatewayError(error) && error.code === 'HOOKS_FAILED') {
      this.#denyStream(error);
      return;
    }
    if (!isProviderError(error)) {
      this.onError(asUpstreamInvalid(error, exchange));
      return;
    }
    const { status, message, type, code } = error;
    if (this.#isHeld && !exchange.responder.isStarted) {
      this.#refuseAsProvider({ status, message, type: type ?? 'upstream_error', param: null, code: code ?? null });
      return;
    }
    this.#breakOff(fail('UPSTREAM_FAILED', { provider: exchange.provider, reason: message }, error), { status, message, type: type ?? 'upstream_error', param: null, code: code ?? null });
  }

  #breakOff(error: GatewayError, toClient: GatewayError | ToldError): void {
    const { exchange } = this;
    exchange.ending = 'upstream';
    this.#endWithError(error, toClient);
  }

  #endWithError(error: GatewayError, toClient: GatewayError | ToldError): void {
    const { exchange } = this;
    exchange.errorCode = error.code;
    this.#call?.cancel();
    if (this.#isEventStream) {
      exchange.responder.write(Buffer.from(errorEvent(toClient, exchange.route.dialect, this.#isMidEvent(), this.#phase?.nextSequence ?? (this.#responses === null ? 0 : this.#responses.nextSequence), exchange.hooks === null || exchange.hooks.isEmpty ? undefined : exchange.hooks.wire())));
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
    if (this.#isHeld && !this.exchange.responder.isStarted) this.#start();
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
    const { prepared } = this.attempt;
    const bytes = whole(this.#collected ?? []);
    let made: Json | BinaryAnswer;
    try {
      if (this.#mode === 'whole') {
        this.#answerWhole(bytes);
        return;
      }
      const parsed: Json = JSON.parse(bytes.toString('utf8'));
      made = prepared.spec?.response === undefined ? parsed : prepared.spec.response(parsed, callOf(prepared));
      if (!isBinaryAnswer(made) && prepared.translation !== null) made = this.#translated(prepared.translation, made, prepared);
    } catch (thrown) {
      this.#onFaultyAnswer(thrown);
      return;
    }
    if (isBinaryAnswer(made)) this.#sendPlain(made.bytes, made.contentType);
    else this.#judgePlain(made, null);
  }

  /** The provider's answer needs no change of ours. Parsed only when a hook looks into it. */
  #answerWhole(bytes: Buffer): void {
    if (this.#phase === null) {
      if (this.#status === 200 && this.attempt.attempts.question !== null) this.#remember(emptyAnswer, bytes);
      this.#sendPlain(bytes, this.#contentType);
    } else {
      this.#judgePlain(JSON.parse(bytes.toString('utf8')), bytes);
    }
  }

  /** `bytes`: of `body`, when there are any. */
  #judgePlain(body: Json, bytes: Uint8Array | null): void {
    const phase = this.#phase;
    if (phase === null || !isMembers(body)) {
      if (phase !== null) throw fail('UPSTREAM_INVALID', { provider: this.exchange.provider, reason: 'the body is no JSON object' });
      if (isMembers(body)) this.#remember(body, null);
      this.#sendPlain(JSON.stringify(body), 'application/json');
      return;
    }
    const settle = (judged: JsonObject): void => {
      const { exchange } = this;
      if (exchange.isFinished || exchange.isRefused) return;
      if (this.#isReconsidered(this.#status)) return;
      exchange.status = shownStatus(exchange, this.#status);
      const unchanged = judged === body ? bytes : null;
      this.#remember(judged, unchanged);
      this.#sendPlain(unchanged ?? JSON.stringify(judged), 'application/json');
    };
    const refuse = (thrown: unknown): void => {
      if (this.exchange.isFinished || this.exchange.isRefused) return;
      this.#refuse(isGatewayError(thrown) ? thrown : fail('INTERNAL', { id: this.exchange.id }, thrown));
    };
    if (!phase.decides) {
      phase.runBackground(body, this.#status);
      this.#remember(body, bytes);
      this.#sendPlain(bytes ?? JSON.stringify(body), 'application/json');
      return;
    }
    try {
      const judging = phase.judge(body, this.#status);
      if (judging instanceof Promise) judging.then(settle).catch(refuse);
      else settle(judging);
    } catch (thrown) {
      refuse(thrown);
    }
  }

  #sendPlain(body: string | Uint8Array, type: string): void {
    const { exchange } = this;
    if (typeof body === 'string' || this.#mode === 'whole') {
      this.#tap = new UsageTap(false);
      this.#tap.push(typeof body === 'string' ? Buffer.from(body) : body);
    }
    exchange.firstByteAt = performance.now();
    const headers = answerHeaders(exchange, this.#retryCount, this.#headers);
    setHeader(headers, 'content-type', type);
    exchange.responder.send(exchange.status, headers, withHookResults(exchange, body, type));
    this.end.finish(exchange);
  }

  #onFaultyAnswer(thrown: unknown): void {
    const { exchange } = this;
    if (isProviderError(thrown)) this.#refuseAsProvider({ status: thrown.status, message: thrown.message, type: thrown.type ?? 'upstream_error', param: null, code: thrown.code ?? null });
    else this.end.refuse(exchange, asUpstreamInvalid(thrown, exchange), this.#retryCount);
  }

  #translated(translation: NonNullable<Prepared['translation']>, made: Json, prepared: Prepared): JsonObject {
    const { exchange } = this;
    if (typeof made !== 'object' || made === null || !('choices' in made)) throw new Error('the answer is no chat completion');
    const model = prepared.call === null ? '' : prepared.call.model;
    if (translation === 'messages') return chatToMessages(made, { id: exchange.id, model });
    const context = responseContext(exchange, model, this.services.responses);
    const response = chatToResponse(made, context);
    if (context.isStored) this.#keep = (kept) => keepResponse(exchange, kept, this.services.responses);
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
    exchange.responder.send(this.#status, answerHeaders(exchange, this.#retryCount, this.#headers), withHookResults(exchange, bytes, this.#contentType));
    this.end.finish(exchange);
  }

  #refuseAsProvider(error: ToldError): void {
    const { exchange } = this;
    exchange.status = error.status;
    exchange.firstByteAt = performance.now();
    const headers = answerHeaders(exchange, this.#retryCount, this.#headers);
    setHeader(headers, 'content-type', 'application/json');
    exchange.responder.send(error.status, headers, withHookResults(exchange, errorBody(error, exchange.route.dialect), 'application/json'));
    this.end.finish(exchange);
  }
}

/** A cache that is asked nothing about the answer but its bytes gets no object of it. */
const emptyAnswer: JsonObject = Object.freeze({});
const jsonType = /^application\/(?:[\w.+-]*\+)?json\b/i;
/** Most answers come in one piece, which is not copied. */
function whole(chunks: readonly Uint8Array[]): Buffer {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? Buffer.from(first.buffer, first.byteOffset, first.byteLength) : Buffer.concat(chunks);
}

const isMembers = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

function callOf(prepared: Prepared): NonNullable<Prepared['call']> {
  if (prepared.call === null) throw new Error('an endpoint with functions was prepared without a call');
  return prepared.call;
}

const asUpstreamInvalid = (thrown: unknown, exchange: Exchange): GatewayError => (isGatewayError(thrown)
  ? thrown
  : fail('UPSTREAM_INVALID', { provider: exchange.provider, reason: thrown instanceof SyntaxError ? 'the body is not JSON' : 'the body has another shape than documented' }, thrown));
