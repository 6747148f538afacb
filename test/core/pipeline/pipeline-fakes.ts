// What handlers and the loop are given in tests without a gateway: services that remember, an owner that says what it was asked, responses as scripts.

import type { UpstreamCall, UpstreamListener } from '@gateway/plugin-sdk';
import type { GatewayError } from '../../../core/errors/gateway-error.js';
import type { Exchange } from '../../../core/exchange/exchange.js';
import type { CacheKey } from '../../../core/pipeline/cache/cache-key.js';
import type { ResponseHandler } from '../../../core/pipeline/response/response-handler.js';
import type { ResponseOwner } from '../../../core/pipeline/response/response-owner.js';
import type { PipelineServices } from '../../../core/pipeline/services.js';
import { Breakers } from '../../../core/upstream/breaker.js';
import type { UpstreamOrigin, UpstreamRequest } from '../../../core/upstream/client.js';
import { TimerWheel } from '../../../core/upstream/timer-wheel.js';
import { exchangeOf, type ExchangeParts, RecordingResponder } from '../exchange/fakes.js';

export const collectedBytesMax = 1_000;

export function pipelineServices(): PipelineServices {
  const services: Pick<PipelineServices, 'settings' | 'breakers' | 'timers'> & Record<'plans' | 'metrics' | 'logger' | 'responses', object> = {
    settings: { retryDelayMs: 0, requestsMax: 10, collectedBytesMax, showsCost: false },
    breakers: new Breakers(Breakers.allocate(16)),
    timers: new TimerWheel(),
    plans: { acquire() {}, release() {} },
    metrics: { add() {} },
    logger: { error() {}, warn() {} },
    responses: { keeps: false },
  };
  // The parts that these tests reach.
  return services as never;
}

/** Answers as it is told to, and remembers what it was asked. */
export class FakeOwner implements ResponseOwner {
  readonly exchange: Exchange;
  readonly services = pipelineServices();
  readonly responder = new RecordingResponder();
  mayTryAgain = false;
  cacheKey: CacheKey | null = null;
  /** What it says when it is asked for another try. */
  triesAgain = false;
  handler: ResponseHandler | null = null;
  readonly asked: string[] = [];

  constructor(parts: ExchangeParts = {}) {
    this.exchange = exchangeOf({ body: '{"model":"m","messages":[],"stream":true}', ...parts, responder: this.responder });
  }

  retryCount(): number { return 0; }
  pause(): void { this.asked.push('pause'); }
  resume(): void { this.asked.push('resume'); }
  stop(): void { this.asked.push('stop'); }

  triesAgainFor(status: number, isTold: boolean): boolean {
    this.asked.push(`try again for ${status}${isTold ? ', told' : ''}`);
    return this.triesAgain;
  }

  triesAgainAfter(error: GatewayError): boolean {
    if (this.responder.isStarted) return false;
    this.asked.push(`try again after ${error.code}`);
    return this.triesAgain;
  }

  handOver(handler: ResponseHandler): void {
    this.asked.push('hand over');
    this.handler = handler;
  }

  finish(): void {
    this.asked.push('finish');
    this.exchange.isFinished = true;
  }

  refuse(error: GatewayError): void {
    this.asked.push(`refuse ${error.code}`);
    this.exchange.isRefused = true;
  }

  onPluginThrow(thrown: unknown): void { this.asked.push(`thrown ${String(thrown)}`); }
}

/** One answer of a provider, told at once: head, chunks, and how it ends. */
export interface Scripted {
  readonly status?: number;
  readonly headers?: readonly string[];
  readonly chunks?: readonly string[];
  /** In the place of the end; without a status, of everything. */
  readonly error?: Error;
  /** Nothing more comes. */
  readonly isOpen?: boolean;
}

export class ScriptedOrigin implements UpstreamOrigin {
  readonly host = 'scripted.example';
  readonly sent: UpstreamRequest[] = [];
  readonly calls: string[] = [];
  listener: UpstreamListener | null = null;

  constructor(readonly script: readonly Scripted[]) {}

  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    const { status, headers = ['content-type', 'application/json'], chunks = [], error, isOpen = false } = this.script[this.sent.length] ?? {};
    this.sent.push(request);
    this.listener = listener;
    queueMicrotask(() => {
      if (status !== undefined) listener.onHead(status, headers);
      for (const chunk of chunks) listener.onChunk(Buffer.from(chunk));
      if (error !== undefined) listener.onError(error);
      else if (!isOpen) listener.onEnd();
    });
    return { pause: () => { this.calls.push('pause'); }, resume: () => { this.calls.push('resume'); }, cancel: () => { this.calls.push('cancel'); } };
  }
}
