// Runs for calls of targets with a cache.
// The part of the cache in a call: it answers it, the response of another call for the same does, or the call goes on, and what comes of it is
// kept under its key.

import type { CacheHit, Maybe } from '@gateway/plugin-sdk';
import { reasonOf } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { Usage } from '../../exchange/usage.js';
import type { CachePlan, TargetPlan } from '../../plan/plan.js';
import { UsageTap } from '../../stream/usage-tap.js';
import { buildBody, type PreparedRequest } from '../request/prepare.js';
import { unsupportedMode } from '../request/provider-call.js';
import type { PipelineServices } from '../services.js';
import { cacheKeyOf, sharingKey, type CacheKey } from './cache-key.js';
import { noCost } from '../response/shown-cost.js';
import { answerFromCache, changeCache, dropHit, lookUp, missStatus } from './cached-answer.js';
import { CoalescedResponse } from './coalesced-response.js';

export interface CachedCallOwner {
  readonly exchange: Exchange;
  readonly services: PipelineServices;
  /** The response of another call, which this one had joined, has ended. */
  onJoinedEnd(): void;
  /** Nobody is left to read the response that others shared. */
  onAbandoned(): void;
}

/** `hit`: the client has its response. `joined`: it gets that of another call. `miss`: the provider is asked. */
export type CacheOutcome = 'hit' | 'joined' | 'miss';

export class CachedCall {
  /** Under what the response may be kept; null: not at all. */
  key: CacheKey | null = null;
  #hitUsage: UsageTap | null = null;
  /** The response of another call that this one waits for. */
  #joined: CoalescedResponse | null = null;

  constructor(readonly owner: CachedCallOwner) {}

  ask(target: TargetPlan, plan: CachePlan, prepared: PreparedRequest): Maybe<CacheOutcome> {
    const { exchange, services } = this.owner;
    const key = this.key = cacheKeyOf(exchange, target, prepared);
    if (key === null) {
      exchange.cacheStatus = 'DISABLED';
      buildBody(prepared);
      return 'miss';
    }
    if (prepared.putOff !== null) {
      const built = `${key.key} ${unsupportedMode(exchange, target)}`;
      const unsupported = services.builtBodies.find(built);
      if (unsupported === undefined) {
        buildBody(prepared);
        services.builtBodies.add(built, [...exchange.unsupported]);
      } else {
        exchange.unsupported = [...unsupported];
      }
    }
    if (exchange.head.cacheForceRefresh === 'true') {
      exchange.cacheStatus = 'REFRESH';
      services.refreshed.add(key.key, exchange.startedAt);
      changeCache(plan, () => plan.cache.remove(key), services);
      buildBody(prepared);
      return 'miss';
    }
    const found = lookUp(plan, key, services);
    return found instanceof Promise ? found.then((hit) => this.#onLookup(target, plan, key, prepared, hit)) : this.#onLookup(target, plan, key, prepared, found);
  }

  usage(): Usage | null {
    if (this.#hitUsage !== null) return this.#hitUsage.read();
    return this.#joined === null ? null : this.#joined.usage;
  }

  /** The client has left. */
  leave(): void {
    this.#joined?.leave(this.owner.exchange);
  }

  #onLookup(target: TargetPlan, plan: CachePlan, key: CacheKey, prepared: PreparedRequest, hit: CacheHit | undefined): CacheOutcome {
    const { exchange } = this.owner;
    // The client has left meanwhile.
    if (exchange.isFinished || exchange.isRefused) return 'miss';
    if (hit !== undefined && this.#sendHit(plan, key, hit)) return 'hit';
    exchange.cacheStatus = missStatus(plan, key);
    if (plan.sharesInFlight && this.#joins(target, key, prepared)) return 'joined';
    buildBody(prepared);
    return 'miss';
  }

  /** False when what was kept cannot be told; nothing has been sent then. */
  #sendHit(plan: CachePlan, key: CacheKey, hit: CacheHit): boolean {
    const { exchange, services } = this.owner;
    try {
      if (services.settings.showsCost) exchange.shownCost = noCost;
      answerFromCache(exchange, hit);
    } catch (thrown) {
      exchange.shownCost = '';
      if (exchange.responder.isStarted) throw thrown;
      dropHit(plan, key, reasonOf(thrown), services);
      return false;
    }
    this.#hitUsage = new UsageTap(false);
    this.#hitUsage.push(hit.body);
    return true;
  }

  /** Joins a call for the same that is on its way; else others may join this one. */
  #joins(target: TargetPlan, { key }: CacheKey, prepared: PreparedRequest): boolean {
    const { exchange, services } = this.owner;
    // Others are waiting for it already, from a target tried before.
    if (exchange.leaveShared !== null) return false;
    // Verdicts of hooks may depend on metadata, which a cache namespace leaves out of the key.
    const said = target.before === null && target.after === null ? '' : exchange.head.metadata ?? '';
    const { stream, stream_options: options = null } = exchange.json();
    // How a stream is delivered is not in the key of what is kept, but all that share one get the same.
    const shareKey = `${key} ${sharingKey(exchange, target, prepared)} ${stream === true} ${JSON.stringify(options)} ${exchange.hooks?.hasFailedBefore === true} ${said}`;
    const running = services.inFlight.find(target, shareKey);
    if (running === undefined) {
      const shared = new CoalescedResponse(exchange, () => services.inFlight.remove(target, shareKey), () => this.owner.onAbandoned());
      shared.join(exchange, exchange.responder, () => undefined);
      exchange.responder = shared;
      exchange.leaveShared = () => shared.leave(exchange);
      services.inFlight.add(target, shareKey, shared);
      return false;
    }
    this.#joined = running;
    exchange.cacheStatus = 'SHARED';
    running.join(exchange, exchange.responder, () => this.owner.onJoinedEnd());
    return true;
  }
}
