// Takes bodies to one address: compressed, tried again while the far end asks for it or cannot be reached, within bounds. What is given up is the
// exporter's loss, which its queue counts.

import { promisify } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { gzip } from 'node:zlib';
import type { Host, OutboundResponse } from '@gateway/plugin-sdk';

const compress = promisify(gzip);
/** Shorter bodies gain nothing. */
const compressedBytesMin = 1024;
/** Waits between two tries, doubled with each, with chance: many gateways must not come back together. */
const waitMsMin = 250;
const waitMsMax = 5_000;
/** A far end that asks for longer is obeyed for so long. */
const holdMsMax = 300_000;
/** Statuses with which the same body may be taken another time. */
const retried: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
/** Read of an answer, so that its connection may be used again; what counts is its status. */
const answerBytesMax = 64 * 1024;

export interface DeliveryOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly isCompressed: boolean;
  /** Milliseconds for one try. */
  readonly timeoutMs: number;
  /** Tries beyond the first. */
  readonly retriesMax: number;
  /** Rejects when the signal is aborted; for tests. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export class Delivery {
  /** Not before then: the far end asked for it. */
  #notBeforeMs = 0;
  readonly #wait: (ms: number, signal: AbortSignal) => Promise<void>;

  constructor(readonly host: Pick<Host, 'fetch' | 'now' | 'random' | 'count'>, readonly options: DeliveryOptions) {
    this.#wait = options.wait ?? (async (ms, signal) => { await pause(ms, undefined, { signal, ref: false }); });
  }

  /** The answer to the try that was taken. Rejects when none was. */
  async send(body: Uint8Array, contentType: string, signal: AbortSignal): Promise<OutboundResponse> {
    signal.throwIfAborted();
    const { url, isCompressed, retriesMax } = this.options;
    const isZipped = isCompressed && body.length >= compressedBytesMin;
    const sent = isZipped ? await compress(body) : body;
    const headers = { ...this.options.headers, 'content-type': contentType, ...(isZipped ? { 'content-encoding': 'gzip' } : {}) };
    for (let tries = 0; ; tries += 1) {
      const heldMs = this.#notBeforeMs - this.host.now();
      if (heldMs > 0) await this.#wait(heldMs, signal);
      const { answer, fault } = await this.#try(sent, headers, signal);
      if (answer !== null && answer.status >= 200 && answer.status <= 299) return answer;
      signal.throwIfAborted();
      const reason = answer === null ? fault : `status ${answer.status}`;
      const isOver = answer !== null && !retried.has(answer.status);
      const askedMs = answer === null ? undefined : retryAfterMs(answer.header('retry-after'), this.host.now());
      if (askedMs !== undefined) this.#notBeforeMs = this.host.now() + Math.min(askedMs, holdMsMax);
      if (isOver || tries >= retriesMax) throw new Error(`${url.host} did not take it: ${reason}${tries === 0 ? '' : ` (tried ${tries + 1} times)`}`);
      this.host.count('retries');
      if (askedMs === undefined) await this.#wait(Math.min(waitMsMax, waitMsMin * 2 ** tries) * (0.5 + this.host.random() / 2), signal);
    }
  }

  async #try(body: Uint8Array, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<{ readonly answer: OutboundResponse | null; readonly fault: string }> {
    try {
      const answer = await this.host.fetch({ url: this.options.url.href, method: 'POST', headers, body, timeoutMs: this.options.timeoutMs, bytesMax: answerBytesMax, isHeadEnough: true, signal });
      return { answer, fault: '' };
    } catch (thrown) {
      return { answer: null, fault: thrown instanceof Error ? thrown.message : String(thrown) };
    }
  }
}

/** Seconds or a date (RFC 9110, section 10.2.3); undefined: neither. */
function retryAfterMs(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(text)) return Number(text) * 1000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - now);
}
