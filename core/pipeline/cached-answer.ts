// An answer out of a cache, on its way to the client, and one on its way into it. A plain answer serves a streamed request and the reverse.

import type { AnswerEvent, CacheHit, CacheQuestion, JsonObject, Maybe } from '@gateway/plugin-sdk';
import { isReplayable, replay } from '../dialect/replay/replay.js';
import { reasonOf } from '../errors/gateway-error.js';
import type { Exchange } from '../exchange/exchange.js';
import type { CachePlan } from '../plan/plan.js';
import { writeEvent } from '../stream/sse-writer.js';
import { answerHeaders } from './answer-headers.js';
import { isStreamedEndpoint, withResults, type StreamedEndpoint } from './answer-tail.js';
import { withHookResults } from './hook-result.js';
import type { PipelineServices } from './services.js';

/** A cache that has not answered by then counts as one that knows nothing. */
const lookupTimeoutMs = 2_000;

/** What the client is told of a lookup that found nothing. */
export const missStatus = (plan: CachePlan, question: CacheQuestion): string =>
  (plan.compares === 'meaning' && question.prompt() !== null ? 'SEMANTIC MISS' : 'MISS');

/** A cache that fails is a cache that knows nothing. */
export function lookUp(plan: CachePlan, question: CacheQuestion, services: PipelineServices): Maybe<CacheHit | undefined> {
  const failed = (thrown: unknown): undefined => {
    services.metrics.add(`cache.${plan.mode}.failed`, 1);
    services.logger.warn('a cache could not be asked', { cache: plan.mode, reason: reasonOf(thrown) });
    return undefined;
  };
  try {
    const found = plan.cache.lookup(question);
    return found instanceof Promise ? inTime(found).catch(failed) : found;
  } catch (thrown) {
    return failed(thrown);
  }
}

function inTime(found: Promise<CacheHit | undefined>): Promise<CacheHit | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${lookupTimeoutMs} ms`)), lookupTimeoutMs);
    found.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

/** Not on the stack of the answer, and of no concern to the client. */
export function changeCache(plan: CachePlan, change: () => Maybe<void>, services: PipelineServices): void {
  const failed = (thrown: unknown): void => {
    services.metrics.add(`cache.${plan.mode}.failed`, 1);
    services.logger.warn('a cache could not be written', { cache: plan.mode, reason: reasonOf(thrown) });
  };
  setImmediate(() => {
    try {
      const changing = change();
      if (changing instanceof Promise) changing.catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  });
}

/** Sends the answer; the exchange is to be finished by the caller. */
export function answerFromCache(exchange: Exchange, hit: CacheHit): void {
  const { hooks, route } = exchange;
  exchange.cacheStatus = hit.match === 'exact' ? 'HIT' : 'SEMANTIC HIT';
  exchange.status = hooks !== null && hooks.hasFailed && hit.status === 200 ? 246 : hit.status;
  exchange.firstByteAt = performance.now();
  const headers = answerHeaders(exchange, 0, null);
  const streamed = exchange.json().stream === true && isStreamedEndpoint(route.name) ? streamOf(exchange, hit.body, route.name) : null;
  if (streamed !== null) {
    exchange.isStream = true;
    headers.push('content-type', 'text/event-stream', 'cache-control', 'no-cache');
    exchange.responder.send(exchange.status, headers, streamed);
  } else {
    headers.push('content-type', hit.contentType);
    exchange.responder.send(exchange.status, headers, withHookResults(exchange, hit.body, hit.contentType));
  }
}

/** Null: what was kept is no answer that can be told as a stream. */
function streamOf(exchange: Exchange, body: Uint8Array, endpoint: StreamedEndpoint): string | null {
  // What is in a cache was JSON when it was put there.
  const answer = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')) as JsonObject;
  if (!isReplayable(endpoint, answer)) return null;
  const events: readonly AnswerEvent[] = [...replay(endpoint, answer, { includesUsage: includesUsage(exchange) })];
  let text = '';
  for (const event of withResults(events, exchange, endpoint)) text += writeEvent(event);
  return text;
}

export function includesUsage(exchange: Exchange): boolean {
  const options = exchange.json().stream_options;
  return typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true;
}
