// One outbound call as a promise, for plugins and the control plane: same pools, same egress guard; on request trust, unless the operator wrote the address down. Not for the path of a call.

import { ByteCollector, type OutboundRequest, type OutboundResponse, type UpstreamCall, type UpstreamListener } from '@gateway/plugin-sdk';
import { asBuffer } from '../body/cursor.js';
import { fail } from '../errors/gateway-error.js';
import { timerMs } from '../settings/timer-limit.js';
import type { Trust, UpstreamClient } from './client.js';
import { parseCustomHost } from './custom-host.js';

class Collector implements UpstreamListener {
  #status = 0;
  #headers: readonly string[] = [];
  #isOver = false;
  readonly #collected = new ByteCollector();
  call: UpstreamCall | undefined = undefined;

  constructor(
    readonly bytesMax: number,
    readonly isHeadEnough: boolean,
    readonly host: string,
    readonly resolve: (response: OutboundResponse) => void,
    readonly reject: (fault: Error) => void,
  ) {}

  onHead(status: number, headers: readonly string[]): void {
    this.#status = status;
    this.#headers = headers;
  }

  onChunk(chunk: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#collected.length + chunk.length <= this.bytesMax) {
      this.#collected.appendCopy(chunk);
      return;
    }
    this.call?.cancel();
    this.onError(fail('UPSTREAM_TOO_LARGE', { provider: this.host, maximum: this.bytesMax }));
  }

  onEnd(): void {
    this.#isOver = true;
    const headers = this.#headers;
    const body = asBuffer(this.#collected.take());
    this.resolve({
      status: this.#status,
      header: (name) => {
        const wanted = name.toLowerCase();
        for (let index = 0; index < headers.length; index += 2) if (headers[index] === wanted) return headers[index + 1];
        return undefined;
      },
      bytes: () => Promise.resolve(body),
    });
  }

  onError(fault: Error): void {
    if (this.#isOver) return;
    if (this.isHeadEnough && this.#status !== 0) return this.onEnd();
    this.#isOver = true;
    this.reject(fault);
  }
}

export function fetchBytes(upstream: UpstreamClient, request: OutboundRequest, bytesMaxDefault: number, caller = '', trust: Trust = 'request'): Promise<OutboundResponse> {
  return new Promise((resolve, reject) => {
    const url = new URL(request.url);
    parseCustomHost(url.origin);
    if (url.username !== '' || url.password !== '') throw fail('CUSTOM_HOST_INVALID', { reason: 'must not carry a user name or password' });
    const headers: string[] = [];
    for (const [name, value] of Object.entries(request.headers ?? {})) headers.push(name.toLowerCase(), value);
    const { signal } = request;
    if (signal?.aborted === true) throw new Error('aborted');
    const collector = new Collector(request.bytesMax ?? bytesMaxDefault, request.isHeadEnough === true, url.host, settle(resolve), settle(reject));
    // Before the call: it may be over when send() returns.
    const timer = setTimeout(() => {
      collector.call?.cancel();
      collector.onError(fail('ATTEMPT_TIMEOUT', { timeoutMs: request.timeoutMs }));
    }, timerMs(request.timeoutMs));
    const onAbort = (): void => {
      collector.call?.cancel();
      collector.onError(new Error('aborted'));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body ?? null;
    collector.call = upstream.origin(url, trust).send(
      { method: request.method ?? 'GET', path: url.pathname + url.search, headers, body, caller }, collector);
    function settle<T>(pass: (value: T) => void): (value: T) => void {
      return (value) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        pass(value);
      };
    }
  });
}
