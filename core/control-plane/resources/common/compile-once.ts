// Compiles a config as a serving thread would, to check that it can be compiled. The instances made for it are closed again, and nothing is sent.

import type { Cache } from '@gateway/plugin-sdk';
import type { Config } from '../../../config/config.js';
import { CacheInstances } from '../../../plan/compile-cache.js';
import { closeAll, compilePlan, type CompileServices } from '../../../plan/compile.js';
import type { PlanSources } from '../../../plan/plan-sources.js';
import type { Plan } from '../../../plan/plan.js';
import type { Registry } from '../../../registry/registry.js';
import { Breakers } from '../../../upstream/breaker.js';

/** The plan, to be looked at: its plugins are closed. */
export async function compileOnce(config: Config, workspaceId: string, registry: Registry, sources?: PlanSources): Promise<Plan> {
  const context = { workspaceId, provider: await anyProvider(registry), customHost: undefined, digest: 'check' };
  const plan = await compilePlan(config, sources === undefined ? context : { ...context, sources }, servicesOf(registry));
  closeAll(plan.instances);
  return plan;
}

/** For targets that leave the provider to the call: one that any call could name. */
async function anyProvider(registry: Registry): Promise<string | undefined> {
  for (const id of registry.list('provider')) {
    const plugin = await registry.find('provider', id).catch(() => undefined);
    if (typeof plugin?.baseUrl === 'string' && /^https:[^{]+$/.test(plugin.baseUrl) && plugin.auth.type === 'bearer') return id;
  }
  return undefined;
}

const unused = (): never => { throw new TypeError('a plan that is only checked was called'); };
const noCache: Cache = Object.freeze({ lookup: unused, store: unused, remove: unused });

/** Those of a serving thread share what they keep; a check keeps nothing. */
class NoCaches extends CacheInstances {
  override find(): Promise<Cache> {
    return Promise.resolve(noCache);
  }
}

const servicesByRegistry = new WeakMap<Registry, CompileServices>();
const breakerSlots = 64;

function servicesOf(registry: Registry): CompileServices {
  let services = servicesByRegistry.get(registry);
  if (services === undefined) {
    services = {
      registry, userAgent: '', holdsKey: () => false, poolCheck: unused,
      upstream: { origin: ({ host }) => ({ host, send: unused }), close: () => Promise.resolve() },
      breakers: new Breakers(Breakers.allocate(breakerSlots)), caches: new NoCaches({ memoryBytesMax: 0, diskBytesMax: 0 }),
    };
    servicesByRegistry.set(registry, services);
  }
  return services;
}
