import { defineCache } from '@gateway/plugin-sdk';
import { EntryStore } from './entry-store.js';
import { SimpleCache } from './simple-cache.js';

const sweepPeriodMs = 30_000;

export default defineCache({
  title: 'Simple',
  describe: 'Answers the same request with the same answer. In memory first, then in the gateway\'s storage, so that threads share it and it outlives a restart.',
  params: { type: 'object', properties: {} },
  compares: 'exact',
  create: async (host, limits) => {
    const entries = new EntryStore(host, await host.store('entries'), limits.diskBytesMax);
    host.every(sweepPeriodMs, () => entries.sweep());
    return new SimpleCache(host, entries, limits.memoryBytesMax);
  },
});
