// What a plan is compiled with, without a network: the real registry, and origins that only say where they lead.

import { fakeHost } from '@gateway/plugin-sdk/testing';
import type { UpstreamListener } from '@gateway/plugin-sdk';
import { View } from '../../../core/snapshot/view.js';
import type { PlanCacheServices } from '../../../core/plan/plan-cache.js';
import { CacheInstances } from '../../../core/plan/compile-cache.js';
import { Registry } from '../../../core/registry/registry.js';
import { Breakers } from '../../../core/upstream/breaker.js';
import type { Trust, UpstreamClient, UpstreamOrigin, UpstreamRequest } from '../../../core/upstream/client.js';

class FakeOrigin implements UpstreamOrigin {
  readonly sent: UpstreamRequest[] = [];
  constructor(readonly host: string, readonly url: string, readonly trust: Trust) {}

  send(request: UpstreamRequest, listener: UpstreamListener): { pause(): void; resume(): void; cancel(): void } {
    this.sent.push(request);
    listener.onHead(200, []);
    listener.onEnd();
    return { pause() {}, resume() {}, cancel() {} };
  }
}

class FakeUpstream implements UpstreamClient {
  readonly origins = new Map<string, FakeOrigin>();

  origin(url: URL, trust: Trust): FakeOrigin {
    const key = `${trust} ${url.origin}`;
    let origin = this.origins.get(key);
    if (origin === undefined) this.origins.set(key, origin = new FakeOrigin(url.host, url.origin, trust));
    return origin;
  }

  async close(): Promise<void> {}
}

export function planServices(packages: readonly string[] = []): PlanCacheServices & { readonly upstream: FakeUpstream } {
  return {
    registry: new Registry({ packages, fromFolder: '/', hostOf: () => fakeHost() }),
    upstream: new FakeUpstream(),
    breakers: new Breakers(Breakers.allocate(256)),
    userAgent: 'gateway/test',
    rows: { view: new View(null) }, holdsKey: () => false,
    caches: new CacheInstances({ memoryBytesMax: 1024 * 1024, diskBytesMax: 1024 * 1024 }),
    poolCheck: () => ({ evaluate: () => Promise.reject(new Error('no pool here')) }),
  };
}
