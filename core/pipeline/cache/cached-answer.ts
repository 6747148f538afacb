// An answer out of a cache, on its way to the client, and one on its way into it. A plain answer serves a streamed request and the reverse.

import type { AnswerEvent, CacheHit, CacheQuestion, JsonObject, Maybe } from '@gateway/plugin-sdk';
import { parseExactObject, parseJsonObject } from '../../body/parse.js';
import { replay } from '../../dialect/common/replay.js';
import type { Dialect } from '../../dialect/dialect.js';
import { reasonOf } from '../../errors/gateway-error.js';
import { answerDialect } from '../../exchange/endpoint.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { CachePlan } from '../../plan/plan.js';
import { writeEvent } from '../../stream/sse-writer.js';
import { softFailStatus } from '../hooks/before.js';
import { sendEvents, sendResponse } from '../response/client-response.js';
import { withResults } from '../response/stream-tail.js';
import { includesUsage, type CacheKey } from './cache-key.js';
import { readHit, readKept } from './kept-answer.js';
import type { PipelineServices } from '../services.js';

/** A cache that has not answered by then counts as one that knows nothing. */
const lookupTimeoutMs = 2_000;

/** The status for the client when a lookup found nothing. */
export const missStatus = (plan: CachePlan, key: CacheQuestion): string =>
  (plan.compares === 'meaning' && key.prompt() !== null ? 'SEMANTIC MISS' : 'MISS');

/** A cache that fails is a cache that knows nothing, and so is one that gives what cannot be used. */
export function lookUp(plan: CachePlan, key: CacheKey, services: PipelineServices): Maybe<CacheHit | undefined> {
  const failed = (thrown: unknown): undefined => {
    services.metrics.add(`cache.${plan.mode}.failed`, 1);
    services.cacheFaults.add(plan.mode, `could not be asked: ${reasonOf(thrown)}`);
    return undefined;
  };
  try {
    const found = plan.cache.lookup(key);
    return isPromiseLike(found) ? inTime(found).then((hit) => usable(plan, key, hit, services)).catch(failed) : usable(plan, key, found, services);
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

function usable(plan: CachePlan, key: CacheKey, hit: CacheHit | undefined, services: PipelineServices): CacheHit | undefined {
  if (hit === undefined || hit === null) return undefined;
  const kept = readHit(key.exchange.route, hit);
  if (kept === null) {
    dropHit(plan, key, 'it is not an answer of this endpoint', services);
    return undefined;
  }
  // A cache that forgets what its writers allowed is reminded here.
  return key.ageMsMax === 0 || Date.now() > hit.endsAtMs || (kept.lacksUsage && key.wantsUsage) ? undefined : hit;
}

/** An entry that cannot be used goes: it would be found again with every repeat. */
export function dropHit(plan: CachePlan, key: CacheKey, reason: string, services: PipelineServices): void {
  services.metrics.add(`cache.${plan.mode}.unreadable`, 1);
  services.cacheFaults.add(plan.mode, `an answer could not be read and is removed: ${reason}`);
  changeCache(plan, () => plan.cache.remove(key), services);
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
export function keepAnswer(plan: CachePlan, key: CacheKey, body: Uint8Array, answer: JsonObject | null, services: PipelineServices): void {
  // Nobody may ever use it.
  if (key.ageMsMax === 0 || services.refreshed.isOutdated(key.key, key.exchange.startedAt)) return;
  const storedAtMs = Date.now();
  const entry = { status: 200, contentType: 'application/json', body, storedAtMs, endsAtMs: storedAtMs + key.ageMsMax };
  changeCache(plan, () => {
    // An error that came with status 200, half an answer, or no JSON.
    if (readKept(key.exchange.route, body, answer) === null) {
      services.metrics.add(`cache.${plan.mode}.refused`, 1);
      return undefined;
    }
    return plan.cache.store(key, entry);
  }, services);
}

/** Sends the answer; the exchange is to be finished by the caller. Throws, with nothing sent, when the answer cannot be told. */
export function answerFromCache(exchange: Exchange, hit: CacheHit): void {
  const { hooks, route } = exchange;
  const dialect = answerDialect(route);
  const streamed = exchange.json().stream === true && dialect !== null ? streamOf(exchange, hit.body, dialect) : null;
  exchange.cacheStatus = hit.match === 'exact' ? 'HIT' : 'SEMANTIC HIT';
  const status = hooks !== null && hooks.hasFailed && hit.status === 200 ? softFailStatus : hit.status;
  if (streamed !== null) sendEvents(exchange, status, streamed);
  else sendResponse(exchange, status, 0, null, hit.contentType, hit.body);
}

function streamOf(exchange: Exchange, body: Uint8Array, dialect: Dialect): string {
  // A parsed body is JSON: a change of name, not of type.
  const answer = parseExactObject(body, parseJsonObject(body)) as JsonObject;
  const events: readonly AnswerEvent[] = [...replay(dialect, answer, { includesUsage: includesUsage(exchange) })];
  let text = '';
  for (const event of withResults(events, exchange, dialect)) text += writeEvent(event);
  return text;
}
