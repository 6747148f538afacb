// Hot: runs for each upstream call.
// One upstream call, from its request to the last news of it. Its response goes to the handler that the loop selects; late news of a call that is
// no longer the current one ends here.

import { inspect } from 'node:util';
import { ByteCollector, type UpstreamCall, type UpstreamListener } from '@gateway/plugin-sdk';
import { fail, isGatewayError, reasonOf, type GatewayError } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { TargetPlan } from '../../plan/plan.js';
import type { SendWatcher, UpstreamRequest } from '../../upstream/client.js';
import { FanOut } from '../../upstream/fan-out.js';
import { WheelTimeout, type TimeoutOwner } from '../../upstream/timer-wheel.js';
import type { PreparedRequest } from '../request/prepare.js';
import type { ResponseHandler } from '../response/response-handler.js';
import { ResponseHead } from '../response/response-head.js';
import type { PipelineServices } from '../services.js';
import { send, sign, WaitingCall, type SendOwner } from './send-request.js';

/** Of an answer nobody wants, this much is read so that its connection can be used again. */
const drainBytesMax = 64 * 1024;
/** And for so long: a server that never comes to its end would have the connection for ever. */
export const drainMsMax = 5_000;

/** The loop, as an attempt knows it. */
export interface AttemptOwner extends SendOwner {
  readonly exchange: Exchange;
  readonly services: PipelineServices;
  /** The head of a response is here: who handles it, or what else becomes of it. */
  onHead(attempt: Attempt, head: ResponseHead): void;
  /** No response came. */
  onFault(attempt: Attempt, error: GatewayError): void;
  /** The connection sent the request anew by itself. */
  onRepeat(): void;
}

export class Attempt implements UpstreamListener, SendWatcher, TimeoutOwner {
  /** Of the response; null until its head is here, and when nobody wants it. */
  handler: ResponseHandler | null = null;
  #call: UpstreamCall | null = null;
  #isPaused = false;
  #isOver = false;
  #hasHead = false;
  /** The response is passed over: it is read, so that its connection can be used again, and thrown away. */
  #isDraining = false;
  #drained = 0;
  /** Of the reading of a response that was passed over. */
  #drainTimeout: WheelTimeout | null = null;
  /** The part that came of a response that was passed over, as long as it may be wanted; null when it is not. */
  #kept: ByteCollector | null = null;
  /** The response that was passed over has come whole. */
  #isWhole = false;
  #sentAt = 0;

  constructor(readonly owner: AttemptOwner, readonly target: TargetPlan, readonly prepared: PreparedRequest) {}

  /** Its request holds the provider's key: who prints what leads here means something else. */
  [inspect.custom](): string {
    return '[attempt]';
  }

  toJSON(): string {
    return '[attempt]';
  }

  begin(): void {
    const { owner, target, prepared } = this;
    if (prepared.parts !== null) this.#sendParts(prepared.parts);
    else if (target.provider.plugin.auth.type === 'signed') sign(owner, target, prepared, prepared.request, (signed) => this.#send(signed), (error) => owner.onFault(this, error));
    else this.#send(prepared.request);
  }

  #send(request: UpstreamRequest): void {
    if (this.#isOver) return;
    this.#sentAt = performance.now();
    this.#attach(send(this.owner, this.target, this.prepared, request, this, this));
  }

  #sendParts(parts: readonly Uint8Array[]): void {
    const { owner, target, prepared } = this;
    this.#sentAt = performance.now();
    const fanOut = new FanOut(parts.length, owner.services.settings.collectedBytesMax, (index, listener) => {
      const request = { ...prepared.request, body: parts[index] ?? null };
      if (target.provider.plugin.auth.type !== 'signed') return send(owner, target, prepared, request, listener, this);
      const waiting = new WaitingCall();
      sign(owner, target, prepared, request, (signed) => waiting.begin(() => send(owner, target, prepared, signed, listener, this)), (error) => listener.onError(error));
      return waiting;
    }, this);
    this.#attach(fanOut);
    fanOut.begin();
  }

  #attach(call: UpstreamCall): void {
    this.#call = call;
    // A listener may be told everything before send() returns.
    if (this.#isOver) call.cancel();
    else if (this.#isPaused) call.pause();
  }

  pause(): void {
    this.#isPaused = true;
    if (this.#call !== null) this.#call.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#call !== null) this.#call.resume();
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#endDrain();
    if (this.#call !== null) this.#call.cancel();
  }

  /** Another attempt has taken its place. */
  drop(): void {
    this.handler = null;
    this.cancel();
  }

  /** The response is not for the client; `isKept`: it may be yet. */
  passOver(isKept: boolean): void {
    this.#isDraining = true;
    if (isKept) this.#kept = new ByteCollector();
    this.#drainTimeout = new WheelTimeout(this.owner.services.timers, this);
    this.#drainTimeout.start(drainMsMax);
  }

  /** The response that was passed over takes too long. */
  onTimeout(): void {
    this.#kept = null;
    this.cancel();
  }

  #endDrain(): void {
    if (this.#drainTimeout === null) return;
    this.#drainTimeout.remove();
    this.#drainTimeout = null;
  }

  get isRevivable(): boolean {
    return this.#kept !== null;
  }

  /** The response that was passed over is the one for the client after all: `handler` is told what came of it. */
  revive(handler: ResponseHandler): void {
    const kept = this.#kept;
    if (kept === null) return;
    this.#kept = null;
    this.#isDraining = false;
    this.#endDrain();
    this.handler = handler;
    if (kept.length > 0) handler.onChunk(kept.take());
    if (!this.#isWhole) return;
    this.#isOver = true;
    handler.onEnd();
  }

  // ---- news of the call. An upstream, or a transport, is told nothing of what its news led to. ----

  onRepeat(): void {
    if (!this.#isOver) this.owner.onRepeat();
  }

  onHead(status: number, headers: readonly string[]): void {
    if (this.#isOver || this.#hasHead) return;
    this.#hasHead = true;
    const { owner } = this;
    try {
      owner.exchange.upstreamMs += performance.now() - this.#sentAt;
      owner.onHead(this, new ResponseHead(status, headers));
    } catch (thrown) {
      owner.onThrown(thrown);
    }
  }

  onChunk(chunk: Uint8Array): void {
    if (this.#isOver) return;
    const { handler } = this;
    if (handler === null) {
      this.#drain(chunk);
      return;
    }
    try {
      handler.onChunk(chunk);
    } catch (thrown) {
      this.owner.onThrown(thrown);
    }
  }

  #drain(chunk: Uint8Array): void {
    if (!this.#isDraining) return;
    this.#drained += chunk.length;
    if (this.#drained <= drainBytesMax) {
      if (this.#kept !== null) this.#kept.appendCopy(chunk);
      return;
    }
    this.#kept = null;
    this.cancel();
  }

  onEnd(): void {
    if (this.#isOver) return;
    const { handler } = this;
    if (handler === null) {
      this.#isWhole = true;
      this.#endDrain();
      return;
    }
    // Whatever a transport tells behind its end is not listened to.
    this.#isOver = true;
    try {
      handler.onEnd();
    } catch (thrown) {
      this.owner.onThrown(thrown);
    }
  }

  onError(error: Error): void {
    if (this.#isOver) return;
    try {
      this.#takeError(error);
    } catch (thrown) {
      this.owner.onThrown(thrown);
    }
  }

  #takeError(error: Error): void {
    const { handler, owner } = this;
    const provider = this.target.provider.id;
    if (handler !== null) {
      this.#isOver = true;
      handler.onError(isGatewayError(error) ? error : fail('UPSTREAM_BROKE', { provider, reason: reasonOf(error) }, error));
    } else if (this.#isDraining) {
      this.#kept = null;
      this.#endDrain();
    } else {
      this.#isOver = true;
      owner.exchange.upstreamMs += performance.now() - this.#sentAt;
      owner.onFault(this, isGatewayError(error) ? error : fail('UPSTREAM_RESET', { provider, reason: reasonOf(error) }, error));
    }
  }
}
