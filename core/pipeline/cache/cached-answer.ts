// An answer out of a cache, on its way to the client, and one on its way into it. A plain answer serves a streamed request and the reverse.

import type { AnswerEvent, CacheHit, CacheQuestion, JsonObject, Maybe } from '@gateway/plugin-sdk';
import { parseExactObject, parseJsonObject } from '../../body/parse.js';
import { replay } from '../../dialect/common/replay.js';
import { reasonOf } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { CachePlan } from '../../plan/plan.js';
import { writeEvent } from '../../stream/sse-writer.js';
import { answerHeaders } from '../response/response-headers.js';
import { isStreamedEndpoint, withResults, type StreamedEndpoint } from '../response/stream-tail.js';
import { includesUsage, type Question } from './cache-key.js';
import { withHookResults } from '../hooks/hook-result.js';
import { readHit, readKept } from './kept-answer.js';
import type { PipelineServices } from '../services.js';

/** A cache that has not answered by then counts as one that knows nothing. */
const lookupTimeoutMs = 2_000;

/** What the client is told of a lookup that found nothing. */
export const missStatus = (plan: CachePlan, question: CacheQuestion): string =>
  (plan.compares === 'meaning' && question.prompt() !== null ? 'SEMANTIC MISS' : 'MISS');

/** A cache that fails is a cache that knows nothing, and so is one that gives what cannot be used. */
export function lookUp(plan: CachePlan, question: Question, services: PipelineServices): Maybe<CacheHit | undefined> {
  const failed = (thrown: unknown): undefined => {
    services.metrics.add(`cache.${plan.mode}.failed`, 1);
    services.cacheFaults.add(plan.mode, `could not be asked: ${reasonOf(thrown)}`);
    return undefined;
  };
  try {
    const found = plan.cache.lookup(question);
    return isPromiseLike(found) ? inTime(found).then((hit) => usable(plan, question, hit, services)).catch(failed) : usable(plan, question, found, services);
  } catch (thrown) {
    return failed(thrown);
  }
}

const isPromiseLike = <T>(value: Maybe<T>): value is Promise<T> => typeof value === 'object' && value !== null && 'then' in value;

function inTime(found: Promise<CacheHit | undefined>): Promise<CacheHit | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${lookupTimeoutMs} ms`)), lookupTimeoutMs);
    Promise.resolve(found).finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

function usable(plan: CachePlan, question: Question, hit: CacheHit | undefined, services: PipelineServices): CacheHit | undefined {
  if (hit === undefined || hit === null) return undefined;
  const kept = readHit(question.exchange.endpoint, hit);
  if (kept === null) {
    dropHit(plan, question, 'it is not an answer of this endpoint', services);
    return undefined;
  }
  // A cache that forgets what its writers allowed is reminded here.
  return question.ageMsMax === 0 || Date.now() > hit.endsAtMs || (kept.lacksUsage && question.wantsUsage) ? undefined : hit;
}

/** An entry that cannot be used goes: it would be found again with every repeat. */
export function dropHit(plan: CachePlan, question: Question, reason: string, services: PipelineServices): void {
  services.metrics.add(`cache.${plan.mode}.unreadable`, 1);
  services.cacheFaults.add(plan.mode, `an answer could not be read and is removed: ${reason}`);
  changeCache(plan, () => plan.cache.remove(question), services);
}

/** Not on the stack of the answer, and of no concern to the client. */
export function changeCache(plan: CachePlan, change: () => Maybe<void>, services: PipelineServices): void {
  const failed = (thrown: unknown): void => {
    services.metrics.add(`cache.${plan.mode}.failed`, 1);
    services.cacheFaults.add(plan.mode, `could not be written: ${reasonOf(thrown)}`);
  };
  setImmediate(() => {
    try {
      const changing = change();
      if (isPromiseLike(changing)) Promise.resolve(changing).catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  });
}

/** `answer`: the body, when somebody has read it. */
export function keepAnswer(plan: CachePlan, question: Question, body: Uint8Array, answer: JsonObject | null, services: PipelineServices): void {
  // Nobody may ever use it.
  if (question.ageMsMax === 0 || services.refreshed.isOutdated(question.key, question.exchange.startedAt)) return;
  const storedAtMs = Date.now();
  const entry = { status: 200, contentType: 'application/json', body, storedAtMs, endsAtMs: storedAtMs + question.ageMsMax };
  changeCache(plan, () => {
    // An error that came with status 200, half an answer, or no JSON.
    if (readKept(question.exchange.endpoint, body, answer) === null) {
      services.metrics.add(`cache.${plan.mode}.refused`, 1);
      return undefined;
    }
    return plan.cache.store(question, entry);
  }, services);
}

/** Sends the answer; the exchange is to be finished by the caller. Throws, with nothing sent, when the answer cannot be told. */
export function answerFromCache(exchange: Exchange, hit: CacheHit): void {
  const { hooks, route } = exchange;
  const streamed = exchange.json().stream === true && isStreamedEndpoint(route.name) ? streamOf(exchange, hit.body, route.name) : null;
  exchange.cacheStatus = hit.match === 'exact' ? 'HIT' : 'SEMANTIC HIT';
  exchange.status = hooks !== null && hooks.hasFailed && hit.status === 200 ? 246 : hit.status;
  exchange.firstByteAt = performance.now();
  const headers = answerHeaders(exchange, 0, null);
  if (streamed !== null) {
    exchange.isStream = true;
    headers.push('content-type', 'text/event-stream', 'cache-control', 'no-cache');
    exchange.responder.send(exchange.status, headers, streamed);
  } else {
    headers.push('content-type', hit.contentType);
    exchange.responder.send(exchange.status, headers, withHookResults(exchange, hit.body, hit.contentType));
  }
}

function streamOf(exchange: Exchange, body: Uint8Array, endpoint: StreamedEndpoint): string {
  // What was parsed is JSON: a change of name, not of type.
  const answer = parseExactObject(body, parseJsonObject(body)) as JsonObject;
  const events: readonly AnswerEvent[] = [...replay(endpoint, answer, { includesUsage: includesUsage(exchange) })];
  let text = '';
  for (const event of withResults(events, exchange, endpoint)) text += writeEvent(event);
  return text;
}
