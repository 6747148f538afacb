// Hot: runs for each upstream call.
// A prepared request on its way out: signed where the provider signs, and sent over its connection or through the provider's own transport.

import { isProviderError, type UpstreamCall, type UpstreamListener } from '@gateway/plugin-sdk';
import { plainBytes } from '../../body/body-buffer.js';
import { atOnce } from '../../errors/at-once.js';
import { fail, isGatewayError, reasonOf, type GatewayError } from '../../errors/gateway-error.js';
import { parameterPath } from '../../plan/parameter-path.js';
import type { TargetPlan } from '../../plan/plan.js';
import type { SendWatcher, UpstreamRequest } from '../../upstream/client.js';
import type { PreparedRequest } from '../request/prepare.js';
import type { PipelineServices } from '../services.js';

export interface SendOwner {
  readonly services: PipelineServices;
  /** Something threw that nobody expected to, on nobody's stack. */
  onThrown(thrown: unknown): void;
  /** A plugin threw where nobody waits for it. */
  onPluginThrow(thrown: unknown): void;
}

/** Throws what a transport throws. */
export function send(owner: SendOwner, target: TargetPlan, prepared: PreparedRequest, request: UpstreamRequest, listener: UpstreamListener, watcher: SendWatcher): UpstreamCall {
  const { transport, id } = target.provider;
  if (transport === null) return prepared.base.origin.send(request, listener, watcher);
  try {
    const call = atOnce(transport.send({
      method: request.method,
      // Not resolved against the origin: a path that begins with two slashes would become a host.
      url: new URL(prepared.base.originUrl + request.path),
      headers: request.headers,
      body: request.body instanceof Uint8Array ? plainBytes(request.body) : undefined,
    }, listener));
    for (const what of ['pause', 'resume', 'cancel'] as const) if (typeof call?.[what] !== 'function') throw new TypeError('its transport gave no call');
    return new FencedCall(call, owner);
  } catch (thrown) {
    throw isGatewayError(thrown) ? thrown : fail('PLUGIN_FAILED', { plugin: `provider/${id}`, reason: reasonOf(thrown) }, thrown);
  }
}

/** A signature covers the time and the body, so it is made for each attempt anew. Calls `then` or `onFault`; at once where the provider signs at once. */
export function sign(
  owner: SendOwner, target: TargetPlan, prepared: PreparedRequest, request: UpstreamRequest, then: (signed: UpstreamRequest) => void, onFault: (error: GatewayError) => void,
): void {
  const { id, plugin } = target.provider;
  const url = new URL(prepared.base.originUrl + request.path);
  const headers = request.headers.slice();
  const body = request.body instanceof Uint8Array ? plainBytes(request.body) : undefined;
  const signed = (): void => then({ ...request, path: url.pathname + url.search, headers });
  let signing: void | Promise<void>;
  try {
    signing = plugin.sign?.({ method: request.method, url, headers, body }, prepared.keys, owner.services.hostOf(`provider/${id}`));
  } catch (thrown) {
    const fault = signingFault(thrown, id);
    // Not on the stack of whoever sends: it may be a strategy's next target.
    queueMicrotask(() => {
      try {
        onFault(fault);
      } catch (again) {
        owner.onThrown(again);
      }
    });
    return;
  }
  if (signing instanceof Promise) signing.then(signed, (thrown: unknown) => onFault(signingFault(thrown, id))).catch((thrown: unknown) => owner.onThrown(thrown));
  else signed();
}

function signingFault(thrown: unknown, provider: string): GatewayError {
  if (isGatewayError(thrown)) return thrown;
  if (isProviderError(thrown)) return fail(thrown.status < 500 ? 'CREDENTIAL_REFUSED' : 'UPSTREAM_FAILED', { provider, reason: thrown.message }, thrown);
  const param = parameterPath(thrown);
  if (param !== undefined) return fail('CREDENTIAL_INVALID', { provider, param, reason: reasonOf(thrown) });
  return fail('PLUGIN_FAILED', { plugin: `provider/${provider}`, reason: reasonOf(thrown) }, thrown);
}

/** A call of a plugin's transport, which may throw whenever it is told something. */
class FencedCall implements UpstreamCall {
  constructor(readonly call: UpstreamCall, readonly owner: SendOwner) {}

  pause(): void { this.#tell('pause'); }
  resume(): void { this.#tell('resume'); }
  cancel(): void { this.#tell('cancel'); }

  #tell(what: keyof UpstreamCall): void {
    try {
      atOnce(this.call[what]());
    } catch (thrown) {
      this.owner.onPluginThrow(thrown);
    }
  }
}

/** Stands for a call whose signature is still being made. */
export class WaitingCall implements UpstreamCall {
  #call: UpstreamCall | null = null;
  #isCancelled = false;

  begin(start: () => UpstreamCall): void {
    if (!this.#isCancelled) this.#call = start();
  }

  pause(): void { this.#call?.pause(); }
  resume(): void { this.#call?.resume(); }

  cancel(): void {
    this.#isCancelled = true;
    this.#call?.cancel();
  }
}
