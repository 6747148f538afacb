// Hot: runs for each chunk.
// The answer that was chosen, on its way to the client: relayed as the buffers that arrived, with the usage tap beside it, unless the
// provider's own dialect has to be turned into the client's. Back-pressure: a write that says false pauses the upstream until the client
// has read.

import type { EventStage, Json, UpstreamCall } from '@gateway/plugin-sdk';
import { fail, isGatewayError, type GatewayError } from '../errors/gateway-error.js';
import { errorEvent } from '../errors/to-response.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Usage } from '../exchange/usage.js';
import { StageChain } from '../stream/stages.js';
import { UsageTap } from '../stream/usage-tap.js';
import { answerHeaders, headerOf } from './answer-headers.js';
import type { Attempt, AttemptsEnd } from './attempts.js';
import type { PipelineServices } from './services.js';

/** What becomes of the answer; settled at its head. */
type Mode = 'relay' | 'collect' | 'stages';

export class Respond {
  #mode: Mode = 'relay';
  #call: UpstreamCall | null = null;
  #tap: UsageTap | null = null;
  #stages: StageChain | null = null;
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
    const spec = this.attempt.prepared.spec;
    const type = headerOf(headers, 'content-type') ?? '';
    this.#isEventStream = type.startsWith('text/event-stream');
    this.#status = status;
    this.#headers = headers;
    this.#retryCount = retryCount;
    exchange.status = status;
    exchange.isStream = this.#isEventStream;
    responder.onDrain = () => this.#onDrain();
    const isPlain = headerOf(headers, 'content-encoding') === undefined;
    if (isPlain && (this.#isEventStream || type.startsWith('application/json'))) this.#tap = new UsageTap(this.#isEventStream);
    if (spec !== null && status >= 200 && status < 300) {
      if (this.#isEventStream && spec.stream !== undefined) {
        this.#mode = 'stages';
        const stage = this.#stageOf(spec.stream);
        if (stage === null) return;
        this.#stages = new StageChain([stage], (bytes) => this.#write(bytes), (error) => this.onError(asUpstreamInvalid(error, exchange)));
      } else if (!this.#isEventStream && spec.response !== undefined) {
        this.#mode = 'collect';
        this.#collected = [];
        return;
      }
    }
    exchange.firstByteAt = performance.now();
    const length = this.#mode === 'relay' ? headerOf(headers, 'content-length') : undefined;
    responder.start(status, answerHeaders(exchange, retryCount, headers), length === undefined ? -1 : Number(length));
  }

  /** Null when the provider could not make it: nothing has gone to the client, which gets a plain error. */
  #stageOf(make: (exchange: Exchange) => EventStage): EventStage | null {
    const { exchange } = this;
    try {
      return make(exchange);
    } catch (thrown) {
      this.#call?.cancel();
      this.end.refuse(exchange, fail('PLUGIN_FAILED', { plugin: `provider/${exchange.provider}`, reason: 'its stream function failed' }, thrown), this.#retryCount);
      return null;
    }
  }

  onChunk(chunk: Uint8Array): void {
    const tap = this.#tap;
    if (tap !== null) tap.push(chunk);
    switch (this.#mode) {
      case 'relay': this.#write(chunk); return;
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
    if (this.#stages !== null) this.#stages.end();
    if (exchange.isFinished) return;
    exchange.responder.end();
    this.end.finish(exchange);
  }

  /** The upstream broke off. Bytes may be on their way, so the status stands: the client has to be told inside the answer. */
  onError(error: GatewayError): void {
    const { exchange } = this;
    if (exchange.isFinished) return;
    if (this.#mode === 'collect') {
      this.end.refuse(exchange, error, this.#retryCount);
      return;
    }
    exchange.ending = 'upstream';
    exchange.errorCode = error.code;
    this.#call?.cancel();
    if (this.#isEventStream) {
      exchange.responder.write(Buffer.from(errorEvent(error, exchange.route.dialect, this.#isMidEvent())));
      exchange.responder.end();
    } else {
      exchange.responder.abort();
    }
    this.end.finish(exchange);
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
    const maximum = this.services.settings.collectedBytesMax;
    if (this.#collectedBytes <= maximum) {
      this.#collected?.push(chunk);
      return;
    }
    this.#call?.cancel();
    this.end.refuse(this.exchange, fail('UPSTREAM_TOO_LARGE', { provider: this.exchange.provider, maximum }), this.#retryCount);
  }

  #answerCollected(): void {
    const { exchange } = this;
    const transform = this.attempt.prepared.spec?.response;
    let body: string;
    try {
      const parsed: Json = JSON.parse(Buffer.concat(this.#collected ?? []).toString('utf8'));
      body = JSON.stringify(transform === undefined ? parsed : transform(parsed, exchange));
    } catch (thrown) {
      this.end.refuse(exchange, asUpstreamInvalid(thrown, exchange), this.#retryCount);
      return;
    }
    exchange.firstByteAt = performance.now();
    exchange.responder.send(this.#status, answerHeaders(exchange, this.#retryCount, this.#headers), body);
    this.end.finish(exchange);
  }
}

const asUpstreamInvalid = (thrown: unknown, exchange: Exchange): GatewayError => (isGatewayError(thrown)
  ? thrown
  : fail('UPSTREAM_INVALID', { provider: exchange.provider, reason: thrown instanceof SyntaxError ? 'the body is not JSON' : 'the body has another shape than documented' }, thrown));
