import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Cache, CacheEntry, CacheHit, CacheLimits, CachePlugin, CacheQuestion } from '../src/kinds/cache.js';
import { fakeHost, type FakeHost, type FakeHostOptions } from './fake-host.js';
import { fakeEntry, fakeQuestion, type FakeQuestionOptions } from './fake-question.js';
import { withDefaults } from './schema-defaults.js';

export interface ConformCacheOptions {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly host?: FakeHostOptions;
  /** The cache keeps its entries in `host.store`: another instance finds them. */
  readonly isPersistent?: boolean;
}

const limits: CacheLimits = { memoryBytesMax: 8 * 1024 * 1024, diskBytesMax: 8 * 1024 * 1024 };

/** Registers the tests that every cache has to pass. */
export function conformCache(plugin: CachePlugin, options: ConformCacheOptions = {}): void {
  const params = Object.freeze(withDefaults(plugin.params, options.params ?? {}));
  const make = async (host: FakeHost): Promise<Cache> => {
    await plugin.checkParams?.(params);
    return await plugin.create(host, limits);
  };
  const questionOf = (question: FakeQuestionOptions = {}): CacheQuestion => fakeQuestion({ params, ...question });
  const ask = async (cache: Cache, question: FakeQuestionOptions = {}): Promise<CacheHit | undefined> => await cache.lookup(questionOf(question));
  const bodyOf = (entry: CacheEntry | undefined): unknown => (entry === undefined ? undefined : (JSON.parse(new TextDecoder().decode(entry.body)) as { text: unknown }).text);

  describe(`cache plugin: ${plugin.title}`, () => {
    it('is defined with a title, a description, an object schema and what it compares', () => {
      assert.equal(plugin.kind, 'cache');
      assert.equal(plugin.contract, 1);
      assert.ok(plugin.title.length > 0 && plugin.describe.length > 0);
      assert.equal(plugin.params.type, 'object');
      assert.ok(plugin.compares === 'exact' || plugin.compares === 'meaning');
    });

    it('finds what was stored under the same key, byte for byte, and nothing before', async () => {
      const host = fakeHost(options.host);
      const cache = await make(host);
      assert.equal(await ask(cache), undefined);
      const entry = fakeEntry('Paris ünï😀', host.now());
      await cache.store(questionOf(), entry);
      const hit = await ask(cache);
      assert.deepEqual(hit === undefined ? undefined : { ...hit, body: Uint8Array.from(hit.body) }, { ...entry, body: Uint8Array.from(entry.body), match: 'exact' });
      await cache.close?.();
    });

    it('keeps partitions and questions apart', async () => {
      const host = fakeHost(options.host);
      const cache = await make(host);
      await cache.store(questionOf({ partition: 'a' }), fakeEntry('for a', host.now()));
      await cache.store(questionOf({ partition: 'a', rest: 'other model' }), fakeEntry('other', host.now()));
      assert.equal(await ask(cache, { partition: 'b' }), undefined);
      assert.equal(await ask(cache, { partition: 'a', rest: 'third model' }), undefined);
      assert.equal(bodyOf(await ask(cache, { partition: 'a' })), 'for a');
      assert.equal(bodyOf(await ask(cache, { partition: 'a', rest: 'other model' })), 'other');
      await cache.close?.();
    });

    it('gives nothing that is older than the question allows', async () => {
      const host = fakeHost(options.host);
      const cache = await make(host);
      await cache.store(questionOf(), fakeEntry('old', host.now()));
      host.advance(60_000);
      assert.equal(await ask(cache, { ageMsMax: 59_999 }), undefined);
      assert.equal(bodyOf(await ask(cache, { ageMsMax: 60_001 })), 'old');
      await cache.close?.();
    });

    it('gives nothing that is older than its writer allowed, whatever the reader allows', async () => {
      const host = fakeHost(options.host);
      const cache = await make(host);
      await cache.store(questionOf({ ageMsMax: 60_000 }), fakeEntry('short', host.now(), 60_000));
      host.advance(59_999);
      assert.equal(bodyOf(await ask(cache, { ageMsMax: 3_600_000 })), 'short');
      host.advance(2);
      assert.equal(await ask(cache, { ageMsMax: 3_600_000 }), undefined);
      await cache.close?.();
    });

    it('gives an answer while it is still being stored', async () => {
      const host = fakeHost(options.host);
      const cache = await make(host);
      const storing = cache.store(questionOf(), fakeEntry('at once', host.now()));
      assert.equal(bodyOf(await ask(cache)), 'at once');
      await storing;
      assert.equal(bodyOf(await ask(cache)), 'at once');
      await cache.close?.();
    });

    it('keeps an answer that is stored while the one before it is being removed', async () => {
      const host = fakeHost(options.host);
      const cache = await make(host);
      await cache.store(questionOf(), fakeEntry('old', host.now()));
      host.advance(1);
      const removing = cache.remove(questionOf());
      assert.notEqual(bodyOf(await ask(cache)), 'old');
      host.advance(1);
      const storing = cache.store(questionOf(), fakeEntry('new', host.now()));
      assert.equal(bodyOf(await ask(cache)), 'new');
      await Promise.all([removing, storing]);
      assert.equal(bodyOf(await ask(cache)), 'new');
      await cache.close?.();
    });

    it('gives the newest answer to a question', async () => {
      const host = fakeHost(options.host);
      const cache = await make(host);
      await cache.store(questionOf(), fakeEntry('first', host.now()));
      host.advance(1000);
      await cache.store(questionOf(), fakeEntry('second', host.now()));
      assert.equal(bodyOf(await ask(cache)), 'second');
      await cache.close?.();
    });

    it('forgets what is removed, and nothing else', async () => {
      const host = fakeHost(options.host);
      const cache = await make(host);
      await cache.store(questionOf(), fakeEntry('gone', host.now()));
      await cache.store(questionOf({ rest: 'kept' }), fakeEntry('kept', host.now()));
      await cache.remove(questionOf());
      await cache.remove(questionOf({ rest: 'never stored' }));
      assert.equal(await ask(cache), undefined);
      assert.equal(bodyOf(await ask(cache, { rest: 'kept' })), 'kept');
      await cache.close?.();
    });

    it('takes many answers at once, and questions while they are stored', async () => {
      const host = fakeHost(options.host);
      const cache = await make(host);
      const rest = Array.from({ length: 50 }, (_, index) => `model ${index}`);
      await Promise.all(rest.map(async (name) => {
        await cache.store(questionOf({ rest: name }), fakeEntry(name, host.now()));
        assert.equal(bodyOf(await ask(cache, { rest: name })), name);
      }));
      for (const name of rest) assert.equal(bodyOf(await ask(cache, { rest: name })), name);
      await cache.close?.();
    });

    if (options.isPersistent === true) {
      it('finds after a restart what was stored before', async () => {
        const host = fakeHost(options.host);
        const first = await make(host);
        await first.store(questionOf(), fakeEntry('Paris', host.now()));
        await first.close?.();
        const second = await make(host);
        assert.equal(bodyOf(await ask(second)), 'Paris');
        await second.close?.();
      });

      it('finds after a restart the answer that was stored while the one before it was being removed', async () => {
        const host = fakeHost(options.host);
        const first = await make(host);
        await first.store(questionOf(), fakeEntry('old', host.now()));
        host.advance(1);
        await Promise.all([first.remove(questionOf()), first.store(questionOf(), fakeEntry('new', host.now()))]);
        await first.close?.();
        assert.equal(bodyOf(await ask(await make(host))), 'new');
      });
    }

    it('may be closed twice', async () => {
      const cache = await make(fakeHost(options.host));
      await cache.close?.();
      await cache.close?.();
    });
  });
}
