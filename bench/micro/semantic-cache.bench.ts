// The semantic cache: a frame of 100,000 questions (made-up vectors around a thousand topics), and whole lookups with the real model on this thread.
// The first argument is another number of questions.
import { fakeExchange, fakeHost } from '@gateway/plugin-sdk/testing';
import { FrameIndex, loadUsearch } from '../../plugins/caches/semantic/frame-index.js';
import plugin from '../../plugins/caches/semantic/plugin.js';
import { normalise, toBytes } from '../../plugins/caches/semantic/vector.js';
import { judge } from '../../plugins/caches/semantic/veto.js';

const count = Number(process.argv[2] ?? (process.env.BENCH_QUICK === '1' ? 2_000 : 100_000));
const dimensions = 384;
const topics = 1000;
const asked = 2000;
const spread = 0.8;

/** Roughly normal, from a fixed seed. */
let state = 1;
const random = (): number => {
  let sum = 0;
  for (let turn = 0; turn < 4; turn += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    sum += state / 2 ** 32 - 0.5;
  }
  return sum;
};
const vectorNear = (centre: Float32Array, share: number): Float32Array => normalise(centre.map((value) => value + (share * random()) / Math.sqrt(dimensions / 3)));
const share = (times: readonly number[], part: number): string => `${((times.toSorted((left, right) => left - right)[Math.floor(times.length * part)] ?? 0) * 1000).toFixed(0)} µs`;
const timed = (times: number[], work: () => void): void => {
  const startedMs = performance.now();
  work();
  times.push(performance.now() - startedMs);
};
const line = (name: string, times: readonly number[], more = ''): void => {
  const totalMs = times.reduce((sum, time) => sum + time, 0);
  console.log(`${name}: ${(times.length / totalMs * 1000).toFixed(0)}/s, p50 ${share(times, 0.5)}, p99 ${share(times, 0.99)}, most ${share(times, 0.99999)}${more}`);
};

const centres = Array.from({ length: topics }, () => normalise(Float32Array.from({ length: dimensions }, random)));
const index = new FrameIndex(loadUsearch());
const inserts: number[] = [];
const samples: { readonly key: string; readonly vector: Float32Array }[] = [];
const before = process.memoryUsage().rss;
for (let number = 0; number < count; number += 1) {
  const vector = vectorNear(centres[number % topics] ?? new Float32Array(dimensions), spread);
  const key = String(number).padStart(43, '0');
  if (number % Math.ceil(count / asked) === 0) samples.push({ key, vector });
  const bytes = toBytes(vector);
  timed(inserts, () => index.add({ key, text: `How do I do the thing with the number ${number} at home?`, storedAtMs: number, vector: bytes }));
}
line(`insert, up to ${count}`, inserts, `, memory +${((process.memoryUsage().rss - before) / 1e6).toFixed(0)} MB, counted as ${(index.bytes / 1e6).toFixed(0)} MB`);
const searches: number[] = [];
let found = 0;
for (const { key, vector } of samples) {
  const near = vectorNear(vector, 0.4);
  timed(searches, () => { if (index.search(near, 16, 0.85)[0]?.item.key === key) found += 1; });
}
line(`search, ${index.size} in the frame`, searches, `, nearest found ${(100 * found / samples.length).toFixed(1)} %`);
const removals: number[] = [];
for (const { key } of samples) timed(removals, () => { index.remove(key); });
line('remove', removals);

const judged: number[] = [];
for (let turn = 0; turn < 20_000; turn += 1) timed(judged, () => { judge('How do I reset my password on an iPhone?', `How can I reset the password ${turn} of my iPhone?`); });
line('veto, one pair', judged);

const host = fakeHost();
const cache = await plugin.create(host, { memoryBytesMax: 500e6, diskBytesMax: 500e6 });
const params = { threshold: 0.85, veto: true, characters_max: 1000, timeout: 60_000 };
const question = (number: number, text: string) => ({ exchange: fakeExchange(), partition: 'partition', key: `${number}`, ageMsMax: 1e12, params, prompt: () => ({ frame: 'frame', text }) });
const whole: number[] = [];
let hits = 0;
for (let number = 0; number < 200; number += 1) {
  await cache.store(question(number, `How do I fix the error number ${number}?`), { status: 200, contentType: 'application/json', body: Buffer.alloc(1000), storedAtMs: host.now(), endsAtMs: host.now() + 1e12 });
}
for (let number = 0; number < 200; number += 1) {
  const startedMs = performance.now();
  if (await cache.lookup(question(1000 + number, `How can I fix error number ${number}?`)) !== undefined) hits += 1;
  whole.push(performance.now() - startedMs);
}
line('whole lookup with embedding, 200 in the frame', whole, `, ${hits} hits`);
const exact: number[] = [];
for (let turn = 0; turn < 20_000; turn += 1) timed(exact, () => { void cache.lookup(question(5, 'How do I fix the error number 5?')); });
line('exact hit from memory', exact);
await cache.close?.();
