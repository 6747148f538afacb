// Hot: runs for each response.
// The head of a response selects what becomes of it: relayed as it comes, transformed while it comes, or collected. Everything that follows is
// told to the handler that is made here.

import type { EndpointSpec } from '@gateway/plugin-sdk';
import { fail } from '../../errors/gateway-error.js';
import { answerDialect } from '../../exchange/endpoint.js';
import type { TargetPlan } from '../../plan/plan.js';
import { clientStatus, isJudged } from '../hooks/before.js';
import { ResponseHooks } from '../hooks/response-hooks.js';
import type { PreparedRequest } from '../request/prepare.js';
import { CollectHandler, type CollectMode } from './collect-handler.js';
import { FirstEventHandler } from './first-event-handler.js';
import { RelayHandler } from './relay-handler.js';
import { ResponseContext } from './response-context.js';
import type { ResponseHandler } from './response-handler.js';
import type { ResponseHead } from './response-head.js';
import type { ResponseOwner } from './response-owner.js';
import { TransformHandler } from './transform-handler.js';

export type HandlerKind = 'relay' | 'transform' | CollectMode;

const jsonType = /^application\/(?:[\w.+-]*\+)?json\b/i;

/** Null: the response is over already, because another try has begun or the client got an error. */
export function selectHandler(owner: ResponseOwner, target: TargetPlan, prepared: PreparedRequest, head: ResponseHead, retryCount: number): ResponseHandler | null {
  const { exchange } = owner;
  const { spec } = prepared;
  const isStream = isStreamOf(head, spec);
  exchange.isStream = isStream;
  const hooks = target.after !== null && isJudged(exchange, head.status) ? new ResponseHooks(exchange, target.after) : null;
  const isHeld = hooks !== null && hooks.decides && (!isStream || hooks.holdsStream);
  if (hooks !== null && !isHeld && owner.triesAgainFor(clientStatus(exchange, head.status), false)) return null;
  const isWatched = hooks !== null || owner.cacheKey !== null || (exchange.hooks !== null && !exchange.hooks.isEmpty);
  let kind: HandlerKind = spec === null ? 'relay' : kindOf(head, isStream, answerDialect(exchange.route) !== null, isWatched, hooks !== null, prepared, target);
  if (kind === 'relay' && owner.services.settings.showsCost && spec !== null && !isStream && head.status < 300 && jsonType.test(head.contentType)) kind = 'whole';
  if (head.isEncoded) {
    if (kind === 'made' || kind === 'transform' || hooks !== null) {
      owner.stop();
      owner.refuse(fail('UPSTREAM_INVALID', { provider: exchange.provider, reason: 'it is compressed, which nobody asked for; do not forward accept-encoding' }), retryCount);
      return null;
    }
    kind = 'relay';
  }
  if (kind === 'made' || kind === 'whole' || kind === 'error') return new CollectHandler(new ResponseContext(owner, target, prepared, head, retryCount, hooks), kind);
  const mayWait = isStream && !head.isEncoded && spec !== null && head.status === 200 && owner.mayTryAgain;
  const handler = kind === 'relay'
    ? new RelayHandler(owner, head, retryCount, isStream && !head.isEncoded, !head.isEncoded && (isStream || head.contentType.startsWith('application/json')), spec === null ? null : answerDialect(exchange.route), prepared.hidesUsage)
    : new TransformHandler(new ResponseContext(owner, target, prepared, head, retryCount, hooks), isHeld, mayWait);
  if (mayWait && spec.framing === undefined) return new FirstEventHandler(owner, handler);
  return handler.begin() ? handler : null;
}

/** Whether the answer is a stream in the provider's framing. */
function isStreamOf(head: ResponseHead, spec: EndpointSpec | null): boolean {
  const type = spec === null || spec.framing === undefined ? 'text/event-stream' : spec.framing.contentType;
  return head.contentType.startsWith(type) || head.contentType.toLowerCase().startsWith(type);
}

/**
 * Status x content type x what the call asks for. `isStreamed`: the endpoint has streams that can be read. `isWatched`: hooks or a cache have to do
 * with the response. `isJudged`: hooks after the request.
 */
export function kindOf(
  head: Pick<ResponseHead, 'status' | 'contentType'>, isStream: boolean, isStreamed: boolean, isWatched: boolean, isJudged: boolean,
  { spec, translation }: Pick<PreparedRequest, 'spec' | 'translation'>, target: { readonly provider: { readonly plugin: Pick<TargetPlan['provider']['plugin'], 'error'> } },
): HandlerKind {
  const { status } = head;
  if (status >= 200 && status < 300) {
    if (isStream) return translation !== null || spec?.stream !== undefined || (isWatched && isStreamed) ? 'transform' : 'relay';
    if (translation !== null || spec?.response !== undefined) return 'made';
    return isWatched && (isJudged || jsonType.test(head.contentType)) ? 'whole' : 'relay';
  }
  if (status < 400) return 'relay';
  const isJson = jsonType.test(head.contentType);
  // A page of something between here and the provider, most likely.
  if (translation !== null || target.provider.plugin.error !== undefined || (!isJson && !isStream)) return 'error';
  return isWatched && isJson ? 'whole' : 'relay';
}
