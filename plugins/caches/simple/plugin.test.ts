import { conformCache, fakeEntry, fakeHost, fakeQuestion } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import plugin from './plugin.js';

conformCache(plugin, { isPersistent: true });

const limits = { memoryBytesMax: 1024 * 1024, diskBytesMax: 1024 * 1024 };
const big = (text: string, storedAtMs: number): ReturnType<typeof fakeEntry> => ({ ...fakeEntry(text, storedAtMs), body: new Uint8Array(100_000).fill(text.charCodeAt(0)) });

describe('the simple cache', () => {
  it('sees at once what another thread stored or removed', async () => {
    const host = fakeHost();
    const [here, there] = [await plugin.create(host, limits), await plugin.create(host, limits)];
    await here.store(fakeQuestion(), fakeEntry('first', host.now()));
    assert.ok(await here.lookup(fakeQuestion()));
    host.advance(5);
    await there.store(fakeQuestion(), fakeEntry('second', host.now()));
    assert.match(Buffer.from((await here.lookup(fakeQuestion()))!.body).toString(), /second/);
    await there.remove(fakeQuestion());
    assert.equal(await here.lookup(fakeQuestion()), undefined);
  });

  it('answers without a promise from memory', async () => {
    const host = fakeHost();
    const cache = await plugin.create(host, limits);
    await cache.store(fakeQuestion(), fakeEntry('x', host.now()));
    await cache.lookup(fakeQuestion());
    assert.ok(!(cache.lookup(fakeQuestion()) instanceof Promise));
  });

  it('keeps on disk what does not fit into memory', async () => {
    const host = fakeHost();
    const cache = await plugin.create(host, { memoryBytesMax: 1024 * 1024, diskBytesMax: 64 * 1024 * 1024 });
    for (let index = 0; index < 40; index += 1) await cache.store(fakeQuestion({ rest: String(index) }), big(String(index % 10), host.now()));
    for (let index = 0; index < 40; index += 1) assert.equal((await cache.lookup(fakeQuestion({ rest: String(index) })))!.body.length, 100_000);
  });

  it('removes the oldest when the disk limit is passed, and what nobody may ask for any more', async () => {
    const host = fakeHost();
    const cache = await plugin.create(host, limits);
    for (let index = 0; index < 20; index += 1) {
      await cache.store(fakeQuestion({ rest: String(index) }), big(String(index % 10), host.now()));
      host.advance(1000);
    }
    await host.runEvery();
    const kept: number[] = [];
    for (let index = 0; index < 20; index += 1) if (await cache.lookup(fakeQuestion({ rest: String(index) })) !== undefined) kept.push(index);
    assert.ok(kept.length >= 7 && kept.length <= 10, `kept ${kept.length}`);
    assert.equal(kept[0], 20 - kept.length);
    host.advance(91 * 86_400_000);
    await host.runEvery();
    assert.equal(await (await host.store('entries')).size!(), 0);
  });

  it('takes a damaged row for none', async () => {
    const host = fakeHost();
    const cache = await plugin.create(host, limits);
    await cache.store(fakeQuestion(), fakeEntry('x', host.now()));
    await (await host.store('entries')).write([{ op: 'put', key: `e-${fakeQuestion().key}`, value: new Uint8Array([1, 2, 3]) }]);
    assert.equal(await (await plugin.create(host, limits)).lookup(fakeQuestion()), undefined);
  });
});
