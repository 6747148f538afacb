// Hot: runs for each answer that has to be whole.
// An answer that is collected before the client gets any of it: because the provider's format has to be turned into the client's, because hooks
// judge it or add their results, because a cache wants it, or because it is an error.

import {
  ByteCollector, exactNumbersRead, hasLongNumber, isBinaryAnswer, isObject, isProviderError, nameFault, readJson, writeJson, type BinaryAnswer,
  type Json, type JsonObject,
} from '@gateway/plugin-sdk';
import { asBuffer } from '../../body/cursor.js';
import { isStackOverflow, isTooDeep, levelsMax } from '../../body/depth.js';
import { answerValuesMax, parseAnswer } from '../../body/parse.js';
import { chatToMessages } from '../../dialect/messages/answer.js';
import { chatToResponse } from '../../dialect/responses/answer.js';
import { atOnce } from '../../errors/at-once.js';
import { fail, isGatewayError, type GatewayError } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import { UsageTap } from '../../stream/usage-tap.js';
import type { Answer } from './answer.js';
import { clientStatus } from '../hooks/before.js';
import type { PreparedRequest } from '../request/prepare.js';
import { providerError } from './provider-error.js';
import { keepResponse, responseContext } from '../request/stored-responses.js';

/** `collect`: the provider's functions or a translation make the answer. `whole`: it stays as it is. `error`: it is an error of the provider. */
export type PlainMode = 'collect' | 'whole' | 'error';

/** Of an error body so much is read; what is longer is no error message. */
const errorBytesMax = 256 * 1024;

export class CollectHandler {
  readonly #collected = new ByteCollector();

  constructor(readonly answer: Answer, readonly mode: PlainMode) {}

  onChunk(chunk: Uint8Array): void {
    const { answer } = this;
    const maximum = this.mode === 'error' ? errorBytesMax : answer.services.settings.collectedBytesMax;
    if (this.#collected.length + chunk.length <= maximum) {
      this.#collected.append(chunk);
      return;
    }
    answer.call?.cancel();
    if (this.mode === 'error') this.#answerError();
    else answer.refuse(fail('UPSTREAM_TOO_LARGE', { provider: answer.exchange.provider, maximum }));
  }

  onEnd(): void {
    if (this.mode === 'error') {
      this.#answerError();
      return;
    }
    const bytes = asBuffer(this.#collected.take());
    try {
      if (this.mode === 'whole') this.#answerWhole(bytes);
      else this.#answerMade(bytes);
    } catch (thrown) {
      this.#refuseFaulty(thrown);
    }
  }

  /** The upstream broke off. What came of an error body says as much as the whole. */
  onError(error: GatewayError): void {
    if (this.mode === 'error') this.#answerError();
    else this.answer.refuse(error);
  }

  /** Parsed only when a hook looks into it. */
  #answerWhole(bytes: Buffer): void {
    const { answer } = this;
    if (answer.phase === null) {
      if (answer.status === 200 && answer.attempt.attempts.question !== null) answer.remember(null, bytes);
      this.#send(bytes, answer.contentType);
    } else {
      const body = this.#parse(bytes);
      const text = bytes.toString('utf8');
      // Of a name that is given twice the client may read the other value: what goes is what was judged.
      const kept = nameFault(text, true) === undefined ? bytes : null;
      this.#judge(body, kept, answer.phase.decides && hasLongNumber(text) ? readJson(text) : body);
    }
  }

  #parse(bytes: Buffer, isExact = false): Json {
    const parsed = parseAnswer(bytes, isExact);
    if (parsed === undefined) throw fail('UPSTREAM_INVALID', { provider: this.answer.exchange.provider, reason: `its body holds more than ${answerValuesMax} values` });
    if (isTooDeep(parsed)) throw fail('UPSTREAM_INVALID', { provider: this.answer.exchange.provider, reason: `its body nests objects and lists deeper than ${levelsMax} levels` });
    // JSON.parse gives nothing but JSON.
    return parsed as Json;
  }

  #answerMade(bytes: Buffer): void {
    const { prepared } = this.answer.attempt;
    const before = exactNumbersRead();
    const parsed = this.#parse(bytes, true);
    let made: Json | BinaryAnswer = prepared.spec?.response === undefined ? parsed : atOnce(prepared.spec.response(parsed, callOf(prepared)));
    if (isBinaryAnswer(made)) {
      this.answer.send(made.bytes, made.contentType);
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
    const { answer } = this;
    const { phase } = answer;
    if (!isObject(body)) {
      if (phase !== null) throw fail('UPSTREAM_INVALID', { provider: answer.exchange.provider, reason: 'the body is no JSON object' });
      this.#send(bytes ?? JSON.stringify(body), 'application/json');
      return;
    }
    if (phase === null || !phase.decides) {
      phase?.runBackground(body, answer.status);
      answer.remember(body, bytes);
      this.#send(bytes ?? JSON.stringify(body), 'application/json');
      return;
    }
    const settle = (judged: JsonObject): void => {
      if (answer.isOver || answer.isReconsideredAsShown()) return;
      answer.exchange.status = clientStatus(answer.exchange, answer.status);
      const unchanged = judged === exact ? bytes : null;
      const changed = unchanged ?? (exact === body ? null : Buffer.from(writeJson(judged)));
      answer.remember(exact === body ? judged : JSON.parse(writeJson(judged)) as JsonObject, changed);
      this.#send(changed ?? JSON.stringify(judged), 'application/json');
    };
    const judging = phase.judge(body, answer.status, exact);
    if (judging instanceof Promise) judging.then(settle).catch((thrown: unknown) => this.#refuseFaulty(thrown));
    else settle(judging);
  }

  #send(body: string | Uint8Array, type: string): void {
    const tap = new UsageTap(false);
    tap.push(typeof body === 'string' ? Buffer.from(body) : body);
    this.answer.tap = tap;
    this.answer.send(body, type);
  }

  #translated(translation: NonNullable<PreparedRequest['translation']>, made: Json, prepared: PreparedRequest): JsonObject {
    const { answer } = this;
    const { exchange } = answer;
    const { responses } = answer.services;
    if (typeof made !== 'object' || made === null || !('choices' in made)) throw new Error('the answer is no chat completion');
    const model = prepared.call === null ? '' : prepared.call.model;
    if (translation === 'messages') return chatToMessages(made, { id: exchange.id, model });
    const context = responseContext(exchange, model, responses);
    if (context.isStored) answer.keep = (kept) => keepResponse(exchange, kept, responses);
    return chatToResponse(made, context);
  }

  #answerError(): void {
    const { answer } = this;
    const bytes = asBuffer(this.#collected.take());
    const error = providerError(bytes, answer.status, answer.headers, answer.attempt.target.provider.plugin, answer.exchange.route.dialect, (thrown) => answer.attempt.attempts.onPluginThrow(thrown));
    if (error === null) answer.send(bytes, '');
    else answer.refuseAsProvider(error);
  }

  #refuseFaulty(thrown: unknown): void {
    const { answer } = this;
    if (answer.isOver) return;
    if (isProviderError(thrown) && answer.isReconsideredAsTold(thrown.status)) return;
    if (isProviderError(thrown)) answer.refuseAsProvider({ status: thrown.status, message: thrown.message, type: thrown.type ?? 'upstream_error', param: null, code: thrown.code ?? null });
    else answer.refuse(asUpstreamInvalid(thrown, answer.exchange));
  }
}

export function callOf(prepared: PreparedRequest): NonNullable<PreparedRequest['call']> {
  if (prepared.call === null) throw new Error('an endpoint with functions was prepared without a call');
  return prepared.call;
}

export const asUpstreamInvalid = (thrown: unknown, exchange: Exchange): GatewayError => (isGatewayError(thrown)
  ? thrown
  : fail('UPSTREAM_INVALID', { provider: exchange.provider, reason: thrown instanceof SyntaxError ? 'the body is not JSON' : isStackOverflow(thrown) ? 'it nests too deep' : 'the body has another shape than documented' }, thrown));
