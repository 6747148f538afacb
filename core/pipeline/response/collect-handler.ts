// Hot: runs for each response that has to be whole.
// A response that is collected before the client gets any of it: because the provider's format has to be turned into the client's, because hooks
// judge it or add their results, because a cache wants it, or because it is an error.

import {
  ByteCollector, exactNumbersRead, isBinaryAnswer, isObject, isProviderError, readingOf, readJson, writeJson, type BinaryAnswer,
  type Json, type JsonObject,
} from '@gateway/plugin-sdk';
import { asBuffer } from '../../body/cursor.js';
import { isTooDeep, levelsMax } from '../../body/depth.js';
import { answerValuesMax, parseAnswer, textOf } from '../../body/parse.js';
import type { Translation } from '../../dialect/dialect.js';
import { atOnce } from '../../errors/at-once.js';
import { fail, type GatewayError } from '../../errors/gateway-error.js';
import type { Usage } from '../../exchange/usage.js';
import { UsageTap } from '../../stream/usage-tap.js';
import { callOf, type PreparedRequest } from '../request/prepare.js';
import { answerContext, keepResponse } from '../request/stored-responses.js';
import { clientErrorOf, providerError } from './provider-error.js';
import type { ResponseContext } from './response-context.js';
import type { ResponseHandler } from './response-handler.js';
import { showCost } from './shown-cost.js';
import { asUpstreamInvalid } from './upstream-fault.js';

/** `made`: the provider's functions or a translation make the body. `whole`: it stays as it is. `error`: it is an error of the provider. */
export type CollectMode = 'made' | 'whole' | 'error';

/** Of an error body so much is read; a longer one is not an error message. */
const errorBytesMax = 256 * 1024;

export class CollectHandler implements ResponseHandler {
  readonly #collected = new ByteCollector();
  #tap: UsageTap | null = null;
  /** The answer that hooks judge: it has been paid for, also when the client does not get it. */
  #judged: Uint8Array | JsonObject | null = null;

  constructor(readonly context: ResponseContext, readonly mode: CollectMode) {}

  usage(): Usage | null {
    if (this.#tap === null && this.#judged !== null) this.#read(this.#judged instanceof Uint8Array ? this.#judged : JSON.stringify(this.#judged));
    return this.#tap === null ? null : this.#tap.read();
  }

  onChunk(chunk: Uint8Array): void {
    const { context } = this;
    const maximum = this.mode === 'error' ? errorBytesMax : context.services.settings.collectedBytesMax;
    if (this.#collected.length + chunk.length <= maximum) {
      // Most answers come in one chunk. A copy in the pool of small buffers costs less than memory of its own; a cache that kept it would hold all of the pool.
      if (this.#collected.length === 0 && context.owner.cacheKey === null) this.#collected.append(Buffer.from(chunk));
      else this.#collected.appendCopy(chunk);
      return;
    }
    context.owner.stop();
    if (this.mode === 'error') this.#sendError();
    else context.refuse(fail('UPSTREAM_TOO_LARGE', { provider: context.exchange.provider, maximum }));
  }

  onEnd(): void {
    if (this.mode === 'error') {
      this.#sendError();
      return;
    }
    const bytes = asBuffer(this.#collected.take());
    try {
      if (this.mode === 'whole') this.#sendWhole(bytes);
      else this.#sendMade(bytes);
    } catch (thrown) {
      this.#refuseFaulty(thrown);
    }
  }

  /** The part that came of an error body says as much as the whole. */
  onError(error: GatewayError): void {
    if (this.mode === 'error') this.#sendError();
    else this.context.refuse(error);
  }

  /** Parsed only when a hook looks into it. */
  #sendWhole(bytes: Buffer): void {
    const { context } = this;
    const { hooks, head } = context;
    if (hooks === null) {
      if (head.status === 200 && context.owner.cacheKey !== null) context.remember(null, bytes);
      this.#send(bytes, head.contentType);
    } else {
      const text = textOf(bytes);
      const body = this.#parse(bytes, false, text);
      const { fault, hasLongNumber } = readingOf(text, true);
      // Of a name that is given twice the client may read the other value: what goes is what was judged.
      const kept = fault === undefined ? bytes : null;
      this.#judge(body, kept, hooks.decides && hasLongNumber ? readJson(text) : body);
    }
  }

  #parse(bytes: Buffer, isExact = false, text?: string): Json {
    const parsed = parseAnswer(bytes, isExact, text);
    if (parsed === undefined) throw fail('UPSTREAM_INVALID', { provider: this.context.exchange.provider, reason: `its body holds more than ${answerValuesMax} values` });
    if (isTooDeep(parsed)) throw fail('UPSTREAM_INVALID', { provider: this.context.exchange.provider, reason: `its body nests objects and lists deeper than ${levelsMax} levels` });
    // JSON.parse gives nothing but JSON.
    return parsed as Json;
  }

  #sendMade(bytes: Buffer): void {
    const { prepared } = this.context;
    const before = exactNumbersRead();
    const parsed = this.#parse(bytes, true);
    let made: Json | BinaryAnswer = prepared.spec?.response === undefined ? parsed : atOnce(prepared.spec.response(parsed, callOf(prepared)));
    if (isBinaryAnswer(made)) {
      this.context.send(made.bytes, made.contentType);
      return;
    }
    if (made === undefined) throw new TypeError('the response function gave nothing');
    if (prepared.translation !== null) made = this.#translated(prepared.translation, made, prepared);
    if (exactNumbersRead() === before) this.#judge(made, null);
    else this.#judgeExact(writeJson(made), made);
  }

  /** Whoever looks into it sees the nearest numbers; the client gets the digits. */
  #judgeExact(text: string, made: Json): void {
    this.#judge(JSON.parse(text), Buffer.from(text), made);
  }

  /** `bytes`: of `body`, when there are any. `exact`: the same with all digits of its numbers. */
  #judge(body: Json, bytes: Uint8Array | null, exact = body): void {
    const { context } = this;
    const { hooks } = context;
    if (!isObject(body)) {
      if (hooks !== null) throw fail('UPSTREAM_INVALID', { provider: context.exchange.provider, reason: 'the body is not a JSON object' });
      this.#send(bytes ?? JSON.stringify(body), 'application/json');
      return;
    }
    if (hooks === null || !hooks.decides) {
      if (hooks !== null) hooks.runBackground(body, context.head.status);
      context.remember(body, bytes);
      this.#send(bytes ?? JSON.stringify(body), 'application/json');
      return;
    }
    this.#judged = bytes ?? body;
    const judging = hooks.judge(body, context.head.status, exact);
    if (judging instanceof Promise) judging.then((judged) => this.#settle(judged, body, bytes, exact)).catch((thrown: unknown) => this.#refuseFaulty(thrown));
    else this.#settle(judging, body, bytes, exact);
  }

  /** The hooks have spoken. Parameters as of #judge. */
  #settle(judged: JsonObject | 'denied', body: JsonObject, bytes: Uint8Array | null, exact: Json): void {
    const { context } = this;
    if (context.isOver) return;
    if (judged === 'denied') {
      context.refuseDenied();
      return;
    }
    if (context.triesAgainForStatus()) return;
    const unchanged = judged === exact ? bytes : null;
    const changed = unchanged ?? (exact === body ? null : Buffer.from(writeJson(judged)));
    context.remember(exact === body ? judged : JSON.parse(writeJson(judged)) as JsonObject, changed);
    this.#send(changed ?? JSON.stringify(judged), 'application/json');
  }

  #send(body: string | Uint8Array, type: string): void {
    const tap = this.#read(body);
    const { exchange, services } = this.context;
    if (services.settings.showsCost) showCost(exchange, tap.read(), services.rates, services.rows.view);
    this.context.send(body, type);
  }

  #read(body: string | Uint8Array): UsageTap {
    const tap = new UsageTap(false);
    tap.pushWhole(typeof body === 'string' ? Buffer.from(body) : body);
    this.#tap = tap;
    return tap;
  }

  #translated(translation: Translation, made: Json, prepared: PreparedRequest): JsonObject {
    const { context: { exchange, services: { responses } } } = this;
    if (typeof made !== 'object' || made === null || !('choices' in made)) throw new Error('the body is not a chat completion');
    const about = answerContext(exchange, prepared.call === null ? '' : prepared.call.model, responses);
    if (about.isStored) this.context.keep = (kept) => keepResponse(exchange, kept, responses);
    return translation.answer(made, about);
  }

  #sendError(): void {
    const { context } = this;
    const bytes = asBuffer(this.#collected.take());
    const error = providerError(bytes, context.head, context.target.provider.plugin, context.exchange.route.dialect, context.owner);
    if (error === null) context.send(bytes, '');
    else context.sendProviderError(error);
  }

  #refuseFaulty(thrown: unknown): void {
    const { context } = this;
    if (context.isOver) return;
    if (!isProviderError(thrown)) context.refuse(asUpstreamInvalid(thrown, context.exchange));
    else if (!context.triesAgainAsTold(thrown.status)) context.sendProviderError(clientErrorOf(thrown));
  }
}
