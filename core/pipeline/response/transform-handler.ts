// Hot: runs for each chunk of a stream that something on the route changes.
// A stream that goes to the client in other events than it came in: another dialect or framing, or hooks that read it. The stages are made when
// the handler begins; bytes in, bytes out, and usage is read in what comes out.

import { isProviderError, type AnswerEvent, type EventStage, type FrameDecoder, type JsonObject, type Maybe } from '@gateway/plugin-sdk';
import type { Translation, TranslationStage } from '../../dialect/dialect.js';
import { atOnce } from '../../errors/at-once.js';
import { fail, type GatewayError } from '../../errors/gateway-error.js';
import { answerDialect } from '../../exchange/endpoint.js';
import { StageChain, type StreamCut, type StreamEnd } from '../../stream/stages.js';
import { UsageFilter } from '../../stream/usage-filter.js';
import { includesUsage } from '../cache/cache-key.js';
import { callOf, type PreparedRequest } from '../request/prepare.js';
import { answerContext, keepResponse } from '../request/stored-responses.js';
import { beginResponse } from './client-response.js';
import { ClientStream, endsEvent } from './client-stream.js';
import { clientErrorOf } from './provider-error.js';
import { isCutShort, withoutLastEvent } from './relay-handler.js';
import { tapFor } from './delivery-tap.js';
import type { ResponseContext } from './response-context.js';
import type { StreamHandler } from './response-handler.js';
import { StreamTail } from './stream-tail.js';
import { asUpstreamInvalid } from './upstream-fault.js';

export class TransformHandler extends ClientStream implements StreamHandler {
  #stages: StageChain | null = null;
  #translator: TranslationStage | null = null;
  #tail: StreamTail | null = null;
  /** The chunk that was written last. */
  #last: Uint8Array | null = null;
  /** Null: all that comes out goes to the client. */
  readonly #filter: UsageFilter | null;
  /** For the client; what hooks say later changes it only where all is held for them. */
  #status = 0;

  /**
   * `isHeld`: nothing goes to the client before the hooks have spoken. `startsLate`: the head waits for the first bytes, since another try may be
   * due before there are any.
   */
  constructor(readonly context: ResponseContext, readonly isHeld: boolean, readonly startsLate: boolean) {
    super(context.owner, context.head, context.retryCount, true);
    this.tap = tapFor(this.exchange, true, false);
    this.#filter = context.prepared.hidesUsage ? new UsageFilter((bytes) => this.write(bytes)) : null;
  }

  /** False when a plugin could not make its part: nothing has gone to the client, which gets a plain error. */
  begin(): boolean {
    // Now, and not when the first bytes have come out: how much of a stream one read brings is chance.
    this.#status = this.context.clientStatus;
    try {
      this.#stages = this.#makeStages();
    } catch (thrown) {
      this.owner.stop();
      this.owner.refuse(fail('PLUGIN_FAILED', { plugin: `provider/${this.exchange.provider}`, reason: 'its stream function failed' }, thrown), this.retryCount);
      return false;
    }
    if (!this.isHeld && !this.startsLate) this.start();
    return true;
  }

  onChunk(chunk: Uint8Array): void {
    if (this.#stages !== null) this.#stages.push(chunk);
  }

  onEnd(): void {
    const { context, exchange } = this;
    if (this.#stages === null || context.isOver) return;
    const { spec, translation } = context.prepared;
    // In a stream that is only watched, nobody notices the errors that the provider's stage or a translator would.
    const isBare = spec !== null && spec.stream === undefined && translation === null && this.#tail !== null && !this.#tail.hasEnd && !this.isHeld;
    if (isBare && isCutShort(exchange.suffix === '' ? answerDialect(exchange.route) : null, context.head.status, this.tap)) this.onError(withoutLastEvent(exchange.provider));
    else this.#stages.end();
  }

  onError(error: GatewayError): void {
    if (!this.context.isOver && !this.context.triesAgainAfter(error)) this.breakOff(error);
  }

  breakOff(error: GatewayError): void {
    if (this.context.isOver) return;
    if (this.isHeld && !this.exchange.responder.isStarted) this.context.refuseAtLast(error);
    else this.endBroken('upstream', error, error, this.#nextSequence);
  }

  protected override start(): void {
    beginResponse(this.exchange, this.isHeld ? this.context.clientStatus : this.#status, this.retryCount, this.head, 'text/event-stream', -1);
  }

  protected override isMidEvent(): boolean {
    return this.#last !== null && !endsEvent(this.#last);
  }

  // ---- the stages ----

  #makeStages(): StageChain {
    const { context } = this;
    const { prepared, hooks } = context;
    const { spec, translation } = prepared;
    const stages: EventStage<AnswerEvent>[] = [];
    if (spec?.stream !== undefined) stages.push(stageOf(atOnce(spec.stream(callOf(prepared)))));
    if (translation !== null) stages.push(this.#translate(translation, prepared));
    const tail = this.#tail = this.#makeTail();
    if (tail !== null && hooks !== null && !this.isHeld) for (const stage of hooks.stages(tail.dialect, () => chain.cut('denied'))) stages.push(stage);
    const decoder = spec?.framing === undefined ? null : decoderOf(atOnce(spec.framing.decoder()));
    // A provider's own stage writes the events, and not what closes them.
    const own = translation === null && spec?.stream !== undefined ? answerDialect(this.exchange.route) : null;
    const closing = own === null || own.closing === '' ? '' : `data: ${own.closing}\n\n`;
    const chain = new StageChain(stages, (bytes) => this.#onBytes(bytes), (error) => this.#onStageError(error), decoder, closing, tail);
    chain.onEnd = (end) => this.#onStagesEnd(end);
    return chain;
  }

  #translate(translation: Translation, prepared: PreparedRequest): TranslationStage {
    const { exchange, context: { services: { responses }, hooks } } = this;
    const about = answerContext(exchange, prepared.call === null ? '' : prepared.call.model, responses);
    const keep = about.isStored ? (response: JsonObject): void => keepResponse(exchange, response, responses) : null;
    // Text that the hooks have not seen yet must not be read back later.
    if (hooks !== null && keep !== null) this.context.keep = keep;
    return this.#translator = translation.stage(about, hooks === null ? keep : null);
  }

  #makeTail(): StreamTail | null {
    const { exchange, isHeld, context: { hooks, keep, owner, services } } = this;
    const dialect = answerDialect(exchange.route);
    const isWatched = hooks !== null || owner.cacheKey !== null || (exchange.hooks !== null && !exchange.hooks.isEmpty);
    if (!isWatched || dialect === null) return null;
    return new StreamTail(exchange, dialect, {
      holdsAll: isHeld,
      assembles: isHeld || owner.cacheKey !== null || keep !== null || (hooks !== null && hooks.assemblesStream),
      bytesMax: services.settings.collectedBytesMax,
      includesUsage: includesUsage(exchange) || this.context.prepared.hidesUsage,
      onWhole: (answer) => this.#onWhole(answer),
    });
  }

  /** The output of the stages: usage is read where its shape is known. */
  #onBytes(bytes: Uint8Array): void {
    if (this.tap !== null) this.tap.push(bytes);
    this.#last = bytes;
    if (!this.exchange.responder.isStarted) this.start();
    if (this.#filter === null) this.write(bytes);
    else this.#filter.push(bytes);
  }

  /** The provider told of an error inside its stream, or the stream is not what it should be. */
  #onStageError(error: Error): void {
    const { context, exchange } = this;
    if (context.isOver) return;
    if (!isProviderError(error)) {
      this.onError(asUpstreamInvalid(error, exchange));
      return;
    }
    if (context.triesAgainAsTold(error.status)) return;
    const told = clientErrorOf(error);
    if (this.isHeld && !exchange.responder.isStarted) context.sendProviderError(told);
    else this.endBroken('upstream', fail('UPSTREAM_FAILED', { provider: exchange.provider, reason: error.message }, error), told, this.#nextSequence);
  }

  // ---- the end ----

  /** The body to replay when the hooks changed a stream that was held; null: the events as they came. */
  #onWhole(answer: JsonObject | null): Maybe<JsonObject | StreamCut | null> {
    const { hooks, head } = this.context;
    if (hooks === null) return this.#remember(answer);
    if (!this.isHeld) {
      const judging = hooks.judgeStream(answer, head.status);
      return judging instanceof Promise ? judging.then((judged) => (judged === 'denied' ? judged : this.#remember(answer))) : judging === 'denied' ? judging : this.#remember(answer);
    }
    const told = this.#tail === null ? null : this.#tail.providerError;
    if (answer === null && told !== null) throw told;
    if (answer === null) throw fail('UPSTREAM_INVALID', { provider: this.exchange.provider, reason: 'its stream cannot be put together for the hooks' });
    const judging = hooks.judge(answer, head.status);
    return judging instanceof Promise ? judging.then((judged) => this.#onJudged(judged, answer)) : this.#onJudged(judging, answer);
  }

  #remember(answer: JsonObject | null): null {
    if (answer !== null) this.context.remember(answer, null);
    return null;
  }

  #onJudged(judged: JsonObject | 'denied', answer: JsonObject): JsonObject | StreamCut | null {
    if (judged === 'denied') return judged;
    if (this.context.triesAgainForStatus()) return 'retried';
    this.context.remember(judged, null);
    return judged === answer ? null : judged;
  }

  #onStagesEnd(end: StreamEnd): void {
    const { context, exchange } = this;
    if (context.isOver) return;
    switch (end) {
      case 'whole':
        // Held, and there was not one event.
        if (!exchange.responder.isStarted) this.start();
        if (this.#filter !== null) this.#filter.end();
        this.endWhole();
        return;
      case 'denied': {
        // As a plain response while nothing has gone, else as the last event.
        if (!exchange.responder.isStarted) {
          context.refuseDenied();
          return;
        }
        const error = fail('HOOKS_FAILED');
        this.endBroken('gateway', error, error, this.#nextSequence);
        return;
      }
      case 'retried':
    }
  }

  /** For the error event of a stream whose events have numbers. */
  get #nextSequence(): number {
    return this.context.hooks?.nextSequence ?? (this.#translator === null ? 0 : this.#translator.nextSequence);
  }
}

/** Plugins of others are not all written in TypeScript. */
function stageOf(stage: EventStage<AnswerEvent>): EventStage<AnswerEvent> {
  if (typeof stage?.push !== 'function' || typeof stage.end !== 'function') throw new TypeError('its stream function gave no stage');
  return stage;
}

function decoderOf(decoder: FrameDecoder): FrameDecoder {
  if (typeof decoder?.push !== 'function' || typeof decoder.end !== 'function') throw new TypeError('its framing gave no decoder');
  return decoder;
}
