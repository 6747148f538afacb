// The `cache` of a config -> the cache of a target. Runs when a config is seen for the first time. One instance for each mode and parameters
// in a thread, however many configs name it: they share what it keeps, in partitions.

import type { Cache, CacheLimits } from '@gateway/plugin-sdk';
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
/** Sets of parameters that one thread keeps caches for. */
const instancesMax = 64;

export class CacheInstances {
  readonly #made = new Map<string, Promise<Cache>>();
  readonly #retired: Promise<Cache>[] = [];

  constructor(readonly limits: CacheLimits) {}

  find(key: string, make: (limits: CacheLimits) => Promise<Cache>): Promise<Cache> {
    let cache = this.#made.get(key);
    if (cache === undefined) {
      if (this.#made.size >= instancesMax) throw fail('CONFIG_INVALID', { path: 'config.cache', param: 'config.cache', reason: `more than ${instancesMax} different sets of cache parameters are in use` });
      cache = make(this.limits);
      this.#made.set(key, cache);
      cache.catch(() => this.#made.delete(key));
    }
    return cache;
  }

  /** This kind of cache has another version now. What plans hold of the old one goes on, and is closed with the others at the end. */
  retire(mode: string): void {
    for (const [key, cache] of this.#made) {
      if (!key.startsWith(`${mode} `)) continue;
      this.#made.delete(key);
      this.#retired.push(cache);
    }
  }

  async close(): Promise<void> {
    for (const made of [...this.#made.values(), ...this.#retired]) await (await made.catch(() => undefined))?.close?.();
    this.#made.clear();
    this.#retired.length = 0;
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
  const cache = await services.caches.find(`${mode} ${JSON.stringify(values)}`, async (limits) => {
    try {
      return await plugin.create(values, registry.host(`cache/${mode}`), limits);
    } catch (thrown) {
      if (isGatewayError(thrown)) throw thrown;
      const named = parameterPath(thrown);
      if (named !== undefined) throw invalid(`${path}.${named}`, reasonOf(thrown));
      throw fail('PLUGIN_FAILED', { plugin: `cache/${mode}`, reason: reasonOf(thrown) }, thrown);
    }
  });
  return Object.freeze({
    mode, cache, compares: plugin.compares, sharesInFlight: sharesInFlight === true,
    ageMsMax: Math.min(ageSeconds ?? ageSecondsDefault, ageSecondsMax) * 1000,
  });
}

const invalid = (path: string, reason: string): Error => fail('CONFIG_INVALID', { path, param: path, reason });
