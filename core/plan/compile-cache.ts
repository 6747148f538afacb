// The `cache` of a config -> the cache of a target. Runs when a config is seen for the first time. One instance for each mode
// in a thread, however many configs name it, with whatever parameters: they share what it keeps, in partitions, and its limits.

import type { Cache, CacheLimits, Maybe } from '@gateway/plugin-sdk';
import type { CacheConfig } from '../config/config.js';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import type { Registry } from '../registry/registry.js';
import { didYouMean } from '../settings/nearest-name.js';
import { parameterPath } from './parameter-path.js';
import type { CachePlan } from './plan.js';

export interface CacheServices {
  readonly registry: Registry;
  readonly caches: CacheInstances;
}

const ageSecondsDefault = 604_800;
const ageSecondsMax = 7_776_000;

export class CacheInstances {
  readonly #made = new Map<string, Promise<Cache>>();
  readonly #retired: Promise<Cache>[] = [];

  constructor(readonly limits: CacheLimits) {}

  /** The cache of this kind; there are no more than plugins that are installed. */
  find(mode: string, make: (limits: CacheLimits) => Promise<Cache>): Promise<Cache> {
    let cache = this.#made.get(mode);
    if (cache === undefined) {
      const made = make(this.limits);
      cache = made;
      this.#made.set(mode, made);
      // A failure is not kept: the next config tries again.
      made.catch(() => { if (this.#made.get(mode) === made) this.#made.delete(mode); });
    }
    return cache;
  }

  /** This kind of cache has another version now. What plans hold of the old one goes on, and is closed with the others at the end. */
  retire(mode: string): void {
    const cache = this.#made.get(mode);
    if (cache === undefined) return;
    this.#made.delete(mode);
    this.#retired.push(cache);
  }

  async close(): Promise<void> {
    const all = [...this.#made.values(), ...this.#retired];
    this.#made.clear();
    this.#retired.length = 0;
    const closed = await Promise.allSettled(all.map(async (made) => (await made.catch(() => undefined))?.close?.()));
    const failed = closed.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}

export async function cachePlan(config: CacheConfig, path: string, services: CacheServices): Promise<CachePlan> {
  const { mode, max_age: ageSeconds, share_in_flight: sharesInFlight, ...params } = config;
  const { registry } = services;
  const plugin = await registry.find('cache', mode);
  if (plugin === undefined) throw invalid(`${path}.mode`, `no cache ${mode} is installed${didYouMean(mode, registry.list('cache')) || `; use ${registry.list('cache').join(' or ')}`}`);
  const values: Record<string, unknown> = structuredClone(params);
  const fault = registry.checkParams(plugin, values);
  if (fault !== undefined) throw invalid(fault.path === '' ? path : `${path}.${fault.path}`, fault.reason);
  const asked = async <T>(work: () => Maybe<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      if (isGatewayError(thrown)) throw thrown;
      const named = parameterPath(thrown);
      if (named !== undefined) throw invalid(`${path}.${named}`, reasonOf(thrown));
      throw fail('PLUGIN_FAILED', { plugin: `cache/${mode}`, reason: reasonOf(thrown) }, thrown);
    }
  };
  await asked(() => plugin.checkParams?.(values));
  const cache = await services.caches.find(mode, (limits) => asked(async () => plugin.create(registry.host(`cache/${mode}`), limits)));
  return Object.freeze({
    mode, cache, params: Object.freeze(values), compares: plugin.compares, sharesInFlight: sharesInFlight === true,
    ageMsMax: Math.min(ageSeconds ?? ageSecondsDefault, ageSecondsMax) * 1000,
  });
}

const invalid = (path: string, reason: string): Error => fail('CONFIG_INVALID', { path, param: path, reason });
