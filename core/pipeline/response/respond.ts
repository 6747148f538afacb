// Hot: runs for each chunk.
// The answer that was chosen, on its way to the client: relayed as the buffers that arrived, with the usage tap beside it, unless the
// provider's own dialect has to be turned into the client's. Back-pressure: a write that says false pauses the upstream until the client
// has read.

import { isProviderError, type AnswerEvent, type EndpointName, type EventStage, type FrameDecoder, type JsonObject, type Maybe, type UpstreamCall } from '@gateway/plugin-sdk';
import { MessagesStage } from '../../dialect/messages/stream.js';
import { ResponsesStage } from '../../dialect/responses/stream.js';
import { atOnce } from '../../errors/at-once.js';
import { fail, isGatewayError, type GatewayError } from '../../errors/gateway-error.js';
import { errorEvent, type ClientError } from '../../dialect/common/client-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { Usage } from '../../exchange/usage.js';
import { StageChain } from '../../stream/stages.js';
import { UsageTap } from '../../stream/usage-tap.js';
import { ResponseHooks } from '../hooks/response-hooks.js';
import { Answer } from './answer.js';
import { answerHeaders, headerOf, setHeader } from './response-headers.js';
import { StreamTail, isStreamedEndpoint } from './stream-tail.js';
import type { Attempt, CallEnd } from '../routing/retry-loop.js';
import { isJudged, clientStatus } from '../hooks/before.js';
import { includesUsage } from '../cache/cache-key.js';
import { asUpstreamInvalid, callOf, CollectHandler, type PlainMode } from './collect-handler.js';
import { FirstEvent } from './first-event.js';
import type { PreparedRequest } from '../request/prepare.js';
import type { PipelineServices } from '../services.js';
import { keepResponse, responseContext } from '../request/stored-responses.js';

/** What becomes of the answer; settled at its head. */
type Mode = 'relay' | 'stages' | 'waiting' | PlainMode;

/** What the end of a stream has in it, by endpoint; an error event of the provider's own is an end, too. */
const lastEvents: ReadonlyMap<EndpointName, RegExp> = new Map([
  ['chatCompletions', /\[DONE\]|"finish_reason": ?"|"error"/],
  ['messages', /message_stop|"type": ?"error"/],
  ['responses', /response\.(?:completed|incomplete|failed)|"type": ?"error"/],
]);

export class Respond {
  #mode: Mode = 'relay';
  readonly #answer: Answer;
  #plain: CollectHandler | null = null;
  #stages: StageChain | null = null;
  #responses: ResponsesStage | null = null;
  #tail: StreamTail | null = null;
  #isPaused = false;
  #isEventStream = false;
  #lastChunk: Uint8Array | null = null;
  /** Nothing goes to the client before the hooks have spoken. */
  #isHeld = false;
  /** The head waits for the first bytes, since another try may be due before there are any. */
  #startsLate = false;
  /** The beginning of a stream, until it is known whether it is one. */
  #first: FirstEvent | null = null;
  /** What the mode is from then on. */
  #modeAfter: Mode = 'relay';

  constructor(readonly exchange: Exchange, readonly attempt: Attempt, readonly services: PipelineServices, readonly end: CallEnd) {
    this.#answer = new Answer(exchange, attempt, services, end);
  }

  attach(call: UpstreamCall): void {
    this.#answer.call = call;
    if (this.#isPaused) call.pause();
  }

  usage(): Usage | null {
    const { tap } = this.#answer;
    return tap === null ? null : tap.read();
  }

  onHead(status: number, headers: readonly string[], retryCount: number): void {
    const { exchange } = this;
    const { responder } = exchange;
    const { prepared } = this.attempt;
    const { spec } = prepared;
    const type = headerOf(headers, 'content-type') ?? '';
    const isStream = type.toLowerCase().startsWith(spec === null || spec.framing === undefined ? 'text/event-stream' : spec.framing.contentType);
    this.#isEventStream = isStream;
    this.#answer.status = status;
    this.#answer.headers = headers;
    this.#answer.retryCount = retryCount;
    this.#answer.contentType = type;
    const { after } = this.attempt.target;
    if (after !== null && isJudged(exchange, status)) {
      this.#answer.phase = new ResponseHooks(exchange, after);
      this.#isHeld = this.#answer.phase.decides && (!isStream || this.#answer.phase.holdsStream);
      if (!this.#isHeld && this.#answer.isReconsideredAsShown()) return;
    }
    exchange.status = clientStatus(exchange, status);
    exchange.isStream = isStream;
    responder.onDrain = () => this.#onDrain();
    const isPlain = headerOf(headers, 'content-encoding') === undefined;
    const mode = spec === null ? 'relay' : this.#modeOf(status, isStream, prepared);
    if (!isPlain && (mode === 'collect' || mode === 'stages' || this.#answer.phase !== null)) {
      this.#answer.call?.cancel();
      this.end.refuse(exchange, fail('UPSTREAM_INVALID', { provider: exchange.provider, reason: 'it is compressed, which nobody asked for; do not forward accept-encoding' }), retryCount);
      return;
    }
    this.#mode = isPlain ? mode : 'relay';
    if (this.#mode === 'collect' || this.#mode === 'whole' || this.#mode === 'error') {
      this.#plain = new CollectHandler(this.#answer, this.#mode);
      return;
    }
    if (isPlain && (isStream || type.startsWith('application/json'))) this.#answer.tap = new UsageTap(isStream);
    if (isStream && isPlain && spec !== null && status === 200 && this.attempt.attempts.mayTryAgain) {
      this.#startsLate = true;
      if (spec.framing === undefined) {
        this.#first = new FirstEvent();
        this.#modeAfter = this.#mode;
        this.#mode = 'waiting';
        return;
      }
    }
    this.#proceed();
  }

  /** False: the answer is over. */
  #proceed(): boolean {
    if (this.#mode === 'stages' && !this.#stage(this.attempt.prepared)) return false;
    if (!this.#isHeld && !this.#startsLate) this.#start();
    return true;
  }

  /** Its first event is there, or will not come: the stream is one like others. */
  #endWaiting(): void {
    const first = this.#first;
    if (first === null) return;
    this.#first = null;
    this.#mode = this.#modeAfter;
    if (!this.#proceed()) return;
    const bytes = first.take();
    if (bytes.length > 0) this.onChunk(bytes);
  }

  #wait(chunk: Uint8Array): void {
    const first = this.#first;
    if (first === null || this.#answer.isDropped) return;
    first.push(chunk);
    if (first.status < 0 || (first.status > 0 && this.#answer.isReconsideredAsTold(first.status))) return;
    this.#endWaiting();
  }

  #start(): void {
    const { exchange } = this;
    exchange.firstByteAt = performance.now();
    const length = this.#mode === 'relay' ? headerOf(this.#answer.headers, 'content-length') : undefined;
    const answer = answerHeaders(exchange, this.#answer.retryCount, this.#answer.headers);
    if (this.#mode === 'stages') setHeader(answer, 'content-type', 'text/event-stream');
    exchange.responder.start(exchange.status, answer, length === undefined ? -1 : Number(length));
  }

  #modeOf(status: number, isStream: boolean, prepared: PreparedRequest): Mode {
    const { spec, translation } = prepared;
    const isWatched = this.#answer.isWatched;
    if (status >= 200 && status < 300) {
      if (isStream) return translation !== null || spec?.stream !== undefined || (isWatched && isStreamedEndpoint(this.exchange.route.name)) ? 'stages' : 'relay';
      if (translation !== null || spec?.response !== undefined) return 'collect';
      return isWatched && (this.#answer.phase !== null || jsonType.test(this.#answer.contentType)) ? 'whole' : 'relay';
    }
    if (status < 400) return 'relay';
    const isJson = jsonType.test(this.#answer.contentType);
    // A page of something between here and the provider, most likely.
    if (translation !== null || this.attempt.target.provider.plugin.error !== undefined || (!isJson && !isStream)) return 'error';
    return isWatched && isJson ? 'whole' : 'relay';
  }

  /** False when the provider could not make its stage: nothing has gone to the client, which gets a plain error. */
  #stage(prepared: PreparedRequest): boolean {
    const { exchange } = this;
    const { spec, call, translation } = prepared;
    const stages: EventStage<AnswerEvent>[] = [];
    try {
      if (spec?.stream !== undefined) stages.push(stageOf(atOnce(spec.stream(callOf(prepared)))));
      const translator = translation === null ? null : this.#translator(translation, prepared);
      if (translator !== null) stages.push(translator);
      const tail = this.#makeTail();
      this.#tail = tail;
      if (tail !== null && this.#answer.phase !== null && !this.#isHeld) for (const stage of this.#answer.phase.stages(tail.endpoint)) stages.push(stage);
      const decoder = spec?.framing === undefined ? null : decoderOf(atOnce(spec.framing.decoder()));
      const isOpenai = translation === null && call !== null && (call.endpoint === 'chatCompletions' || call.endpoint === 'completions');
      this.#stages = new StageChain(stages, (bytes) => this.#pass(bytes), (error) => this.#onStageError(error), decoder, isOpenai && spec?.stream !== undefined ? 'data: [DONE]\n\n' : '', tail);
      return true;
    } catch (thrown) {
      this.#answer.call?.cancel();
      this.end.refuse(exchange, fail('PLUGIN_FAILED', { plugin: `provider/${exchange.provider}`, reason: 'its stream function failed' }, thrown), this.#answer.retryCount);
      return false;
    }
  }

  #translator(translation: NonNullable<PreparedRequest['translation']>, prepared: PreparedRequest): EventStage<AnswerEvent> {
    const { exchange } = this;
    const model = prepared.call === null ? '' : prepared.call.model;
    if (translation === 'messages') return new MessagesStage({ id: exchange.id, model });
    const context = responseContext(exchange, model, this.services.responses);
    const keep = context.isStored ? (response: JsonObject): void => keepResponse(exchange, response, this.services.responses) : undefined;
    // What the hooks have not seen yet is not to be read back later.
    if (this.#answer.phase !== null && keep !== undefined) this.#answer.keep = keep;
    this.#responses = new ResponsesStage(context, this.#answer.phase === null ? keep : undefined);
    return this.#responses;
  }

  #makeTail(): StreamTail | null {
    const { exchange } = this;
    const { name } = exchange.route;
    if (!this.#answer.isWatched || !isStreamedEndpoint(name)) return null;
    const phase = this.#answer.phase;
    return new StreamTail(exchange, name, {
      holdsAll: this.#isHeld,
      assembles: this.#isHeld || this.attempt.attempts.question !== null || this.#answer.keep !== null || (phase !== null && phase.assemblesStream),
      bytesMax: this.services.settings.collectedBytesMax,
      includesUsage: includesUsage(exchange),
      onWhole: (answer) => this.#onWholeStream(answer),
    });
  }

  /** The body to replay when the hooks changed a stream that was held; null: the events as they came. */
  #onWholeStream(answer: JsonObject | null): Maybe<JsonObject | null> {
    const phase = this.#answer.phase;
    const settle = (): null => {
      if (answer !== null) this.#answer.remember(answer, null);
      return null;
    };
    if (phase === null) return settle();
    if (!this.#isHeld) {
      const judging = phase.judgeStream(answer, this.#answer.status);
      return judging instanceof Promise ? judging.then(settle) : settle();
    }
    const told = this.#tail === null ? null : this.#tail.providerError;
    if (answer === null && told !== null) throw told;
    if (answer === null) throw fail('UPSTREAM_INVALID', { provider: this.exchange.provider, reason: 'its stream cannot be put together for the hooks' });
    const settled = (judged: JsonObject): JsonObject | null => {
      // Ends the chain; another answer is on its way.
      if (this.#answer.isReconsideredAsShown()) throw fail('HOOKS_FAILED');
      this.exchange.status = clientStatus(this.exchange, this.#answer.status);
      this.#answer.remember(judged, null);
      return judged === answer ? null : judged;
    };
    const judging = phase.judge(answer, this.#answer.status);
    return judging instanceof Promise ? judging.then(settled) : settled(judging);
  }

  onChunk(chunk: Uint8Array): void {
    switch (this.#mode) {
      case 'relay': {
        const tap = this.#answer.tap;
        if (tap !== null) tap.push(chunk);
        this.#write(chunk);
        return;
      }
      case 'stages':
        this.#stages?.push(chunk);
        if (this.#answer.phase !== null && this.#answer.phase.isDenied) this.#denyStream(fail('HOOKS_FAILED'));
        return;
      case 'waiting':
        this.#wait(chunk);
        return;
      default: this.#plain?.onChunk(chunk);
    }
  }

  onEnd(): void {
    const { exchange } = this;
    if (this.#answer.isDropped) return;
    if (this.#plain !== null) {
      this.#plain.onEnd();
      return;
    }
    if (this.#first !== null) {
      if (this.#answer.isReconsideredAsFaulty(fail('UPSTREAM_BROKE', { provider: exchange.provider, reason: 'its stream ended before its first event' }))) return;
      this.#endWaiting();
      if (exchange.isFinished || exchange.isRefused) return;
    }
    if (this.#stages !== null) {
      const { spec, translation } = this.attempt.prepared;
      // What the provider's own stage or a translator would notice, nobody does in a stream that is only watched.
      const isBare = spec?.stream === undefined && translation === null && this.#tail !== null && !this.#tail.hasEnd && !this.#isHeld;
      if (isBare && this.#isCutShort()) this.onError(fail('UPSTREAM_BROKE', { provider: exchange.provider, reason: 'its stream ended without its last event' }));
      else this.#stages.end(() => this.#onStreamed());
      return;
    }
    if (this.#isEventStream && this.#isCutShort()) this.onError(fail('UPSTREAM_BROKE', { provider: exchange.provider, reason: 'its stream ended without its last event' }));
    if (exchange.isFinished) return;
    if (!exchange.responder.isStarted) this.#start();
    exchange.responder.end();
    this.end.finish(exchange);
  }

  /** The last byte that the stages made was written, or they have failed. */
  #onStreamed(): void {
    const { exchange } = this;
    if (exchange.isFinished || exchange.isRefused || this.#answer.isDropped) return;
    if (this.#answer.phase !== null && this.#answer.phase.isDenied) {
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
    if (exchange.isFinished || exchange.isRefused || this.#answer.isDropped) return;
    if (exchange.responder.isStarted) {
      exchange.ending = 'gateway';
      this.#endWithError(error, error);
      return;
    }
    this.#answer.refuse(error);
  }

  /** A relayed stream whose connection closed in good order, though the provider had not finished: nothing of what ends one has come. */
  #isCutShort(): boolean {
    const { prepared } = this.attempt;
    if (prepared.spec === null || this.#answer.status !== 200 || this.#answer.tap === null || this.exchange.suffix !== '') return false;
    const marks = lastEvents.get(this.exchange.route.name);
    if (marks === undefined) return false;
    const last = this.#lastChunk;
    const text = last === null ? '' : Buffer.from(last.buffer, last.byteOffset, last.byteLength).toString('latin1');
    // The mark may be cut in two; then, and only then, all that was kept is looked at.
    if (marks.test(text) || marks.test(this.#answer.tap.kept().toString('latin1'))) return false;
    const usage = this.#answer.tap.read();
    // A response names no reason when it is complete; Anthropic's streams count tokens from their beginning.
    return usage.finishReason === '' && (this.exchange.route.name !== 'responses' || usage.outputTokens === -1);
  }

  /** The upstream broke off. Bytes may be on their way, so the status stands: the client has to be told inside the answer. */
  onError(error: GatewayError): void {
    const { exchange } = this;
    if (exchange.isFinished || this.#answer.isDropped) return;
    if (this.#plain !== null) {
      this.#plain.onError(error);
      return;
    }
    if (this.#isHeld && !exchange.responder.isStarted) {
      this.#answer.refuse(error);
      return;
    }
    if (this.#answer.isReconsideredAsFaulty(error)) return;
    this.#endWaiting();
    if (!exchange.isFinished) this.#breakOff(error, error);
  }

  /** The provider told of an error inside its stream, or the stream is not what it should be. */
  #onStageError(error: Error): void {
    const { exchange } = this;
    if (exchange.isFinished || this.#answer.isDropped) return;
    if (isGatewayError(error) && error.code === 'HOOKS_FAILED') {
      this.#denyStream(error);
      return;
    }
    if (!isProviderError(error)) {
      this.onError(asUpstreamInvalid(error, exchange));
      return;
    }
    const { status, message, type, code } = error;
    if (this.#answer.isReconsideredAsTold(status)) return;
    if (this.#isHeld && !exchange.responder.isStarted) {
      this.#answer.refuseAsProvider({ status, message, type: type ?? 'upstream_error', param: null, code: code ?? null });
      return;
    }
    this.#breakOff(fail('UPSTREAM_FAILED', { provider: exchange.provider, reason: message }, error), { status, message, type: type ?? 'upstream_error', param: null, code: code ?? null });
  }

  #breakOff(error: GatewayError, toClient: GatewayError | ClientError): void {
    const { exchange } = this;
    exchange.ending = 'upstream';
    this.#endWithError(error, toClient);
  }

  #endWithError(error: GatewayError, toClient: GatewayError | ClientError): void {
    const { exchange } = this;
    exchange.errorCode = error.code;
    this.#answer.call?.cancel();
    if (!exchange.responder.isStarted) this.#start();
    if (this.#isEventStream) {
      exchange.responder.write(Buffer.from(errorEvent(toClient, exchange.route.dialect, this.#isMidEvent(), this.#answer.phase?.nextSequence ?? (this.#responses === null ? 0 : this.#responses.nextSequence), exchange.hooks === null || exchange.hooks.isEmpty ? undefined : exchange.hooks.wire())));
      exchange.responder.end();
    } else {
      exchange.responder.abort();
    }
    this.end.finish(exchange);
  }

  /** What the stages made: usage is read where its shape is known. */
  #pass(bytes: Uint8Array): void {
    const tap = this.#answer.tap;
    if (tap !== null) tap.push(bytes);
    this.#write(bytes);
  }

  #write(chunk: Uint8Array): void {
    this.#lastChunk = chunk;
    if ((this.#isHeld || this.#startsLate) && !this.exchange.responder.isStarted) this.#start();
    if (!this.exchange.responder.write(chunk) && !this.#isPaused) {
      this.#isPaused = true;
      this.#answer.call?.pause();
    }
  }

  #onDrain(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#answer.call?.resume();
  }

  #isMidEvent(): boolean {
    const last = this.#lastChunk;
    if (last === null) return false;
    const text = Buffer.from(last.buffer, last.byteOffset, last.byteLength).subarray(-4).toString('latin1');
    return !text.endsWith('\n\n') && !text.endsWith('\r\n\r\n') && !text.endsWith('\r\r');
  }
}

const jsonType = /^application\/(?:[\w.+-]*\+)?json\b/i;

/** Plugins of others are not all written in TypeScript. */
function stageOf(stage: EventStage<AnswerEvent>): EventStage<AnswerEvent> {
  if (typeof stage?.push !== 'function' || typeof stage.end !== 'function') throw new TypeError('its stream function gave no stage');
  return stage;
}

function decoderOf(decoder: FrameDecoder): FrameDecoder {
  if (typeof decoder?.push !== 'function' || typeof decoder.end !== 'function') throw new TypeError('its framing gave no decoder');
  return decoder;
}
