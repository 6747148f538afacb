// Answers found by the exact question first, then by a question of the same frame that means the same.

import type { Cache, CacheEntry, CacheHit, CacheLimits, CachePrompt, CacheQuestion, Host, Store } from '@gateway/plugin-sdk';
import { LRUCache } from 'lru-cache';
import type { Embedder } from './embedding.js';
import type { Usearch } from './frame-index.js';
import { Frames } from './frames.js';
import { answerKey, arrivalsEnd, arrivalTime, putWrites, readAnswer, readArrival, readVectored, removeWrites, vectorPrefix, type Answer } from './records.js';
import { Sweeper } from './sweeper.js';
import { toBytes } from './vector.js';
import { judge, wordSimilarityMin } from './veto.js';

export interface SemanticSettings {
  readonly threshold: number;
  readonly veto: boolean;
  readonly charactersMax: number;
}

/** Neighbours that the veto may look at. */
const neighboursMax = 16;
/** Part of the memory for whole answers; the rest is for vectors. */
const answersShare = 0.25;
const answerOverheadBytes = 300;
/** How often what other threads wrote is looked for, at most. */
const refreshPeriodMs = 1000;
/** Clocks and writes of other threads may be this late. */
const refreshOverlapMs = 5000;
/** Rows read in one go when looking for what others wrote. */
const refreshRowsMax = 2000;
/** The loop is given back after this long. */
const refreshSliceMs = 2;
/** How long the note about a removed answer is kept for other threads. */
const noteMs = 60_000;
const warnPeriodMs = 60_000;

export class SemanticCache implements Cache {
  readonly #host: Host;
  readonly #store: Store;
  readonly #embedder: Embedder;
  readonly #settings: SemanticSettings;
  readonly #frames: Frames;
  readonly #answers: LRUCache<string, Answer>;
  readonly #sweeper: Sweeper;
  #seenRevision = -1;
  #seenMs: number;
  #refreshedMs: number;
  #refreshing: Promise<void> | undefined;
  readonly #warnedMs = new Map<string, number>();

  constructor(host: Host, store: Store, embedder: Embedder, settings: SemanticSettings, limits: CacheLimits, usearch: Usearch | undefined) {
    this.#host = host;
    this.#store = store;
    this.#embedder = embedder;
    this.#settings = settings;
    const answerBytesMax = Math.max(1, Math.floor(limits.memoryBytesMax * answersShare));
    this.#frames = new Frames(store, usearch, limits.memoryBytesMax - answerBytesMax);
    this.#answers = new LRUCache({ maxSize: answerBytesMax, sizeCalculation: (answer) => answer.body.length + answer.contentType.length + answerOverheadBytes });
    this.#sweeper = new Sweeper(host, store, limits.diskBytesMax);
    this.#seenMs = host.now();
    this.#refreshedMs = host.now();
  }

  /** Bytes that the vectors and answers of this thread take. */
  get memoryBytes(): number {
    return this.#frames.bytes + this.#answers.calculatedSize;
  }

  lookup(question: CacheQuestion): CacheHit | undefined | Promise<CacheHit | undefined> {
    this.#refreshWhenDue();
    const answer = this.#answers.get(answerKey(question.partition, question.key));
    if (answer !== undefined && this.#isFresh(answer, question)) return hit(answer, 'exact');
    return this.#find(question);
  }

  async store(question: CacheQuestion, entry: CacheEntry): Promise<void> {
    const { partition, key } = question;
    try {
      const prompt = this.#comparable(question);
      const vector = prompt === undefined ? undefined : await this.#vector(prompt.text);
      const isCompared = prompt !== undefined && vector !== undefined;
      const answer: Answer = {
        status: entry.status, contentType: entry.contentType, body: Uint8Array.from(entry.body), storedAtMs: entry.storedAtMs, frame: isCompared ? prompt.frame : '',
      };
      const vectored = isCompared ? { key, text: prompt.text, storedAtMs: entry.storedAtMs, vector: toBytes(vector) } : undefined;
      const before = await this.#stored(partition, key);
      const writes = putWrites({ partition, key, answer, vectored, endsAtMs: entry.storedAtMs + question.ageMsMax }, before);
      let bytes = 0;
      for (const { value } of writes) bytes += value?.length ?? 0;
      if (!await this.#sweeper.admits(bytes)) return;
      if (!await this.#store.write(writes)) throw new Error('the store refused the answer');
      this.#answers.set(answerKey(partition, key), answer);
      if (before !== undefined && before.frame !== answer.frame) this.#frames.remove(partition, before.frame, key);
      if (vectored !== undefined) this.#frames.add(partition, answer.frame, vectored);
    } catch (thrown) {
      this.#host.count('store_failures');
      this.#warn('an answer could not be cached', thrown);
    }
  }

  async remove(question: CacheQuestion): Promise<void> {
    const { partition, key } = question;
    await this.#drop(partition, key);
    const prompt = this.#comparable(question);
    if (prompt === undefined) return;
    const index = await this.#frames.open(partition, prompt.frame);
    if (index.size === 0) return;
    const vector = await this.#vector(prompt.text);
    if (vector === undefined) return;
    for (;;) {
      const near = index.search(vector, neighboursMax, this.#settings.threshold);
      if (near.length === 0) return;
      for (const { item } of near) {
        await this.#drop(partition, item.key);
        // Also when the store had nothing left of it: the index must not find it again.
        this.#frames.remove(partition, prompt.frame, item.key);
        index.remove(item.key);
      }
    }
  }

  sweep(): Promise<void> {
    return this.#sweeper.sweep();
  }

  async close(): Promise<void> {
    await this.#refreshing;
    this.#frames.close();
    this.#answers.clear();
  }

  async #find(question: CacheQuestion): Promise<CacheHit | undefined> {
    try {
      const stored = await this.#stored(question.partition, question.key);
      if (stored !== undefined && this.#isFresh(stored, question)) {
        this.#answers.set(answerKey(question.partition, question.key), stored);
        return hit(stored, 'exact');
      }
      const prompt = this.#comparable(question);
      return prompt === undefined ? undefined : await this.#findByMeaning(question, prompt);
    } catch (thrown) {
      this.#host.count('lookup_failures');
      this.#warn('a cached answer could not be looked up', thrown);
      return undefined;
    }
  }

  async #findByMeaning(question: CacheQuestion, prompt: CachePrompt): Promise<CacheHit | undefined> {
    const { partition } = question;
    const index = await this.#frames.open(partition, prompt.frame);
    // Most frames hold nothing: then the model is not asked before the answer is out.
    if (index.size === 0) return undefined;
    const vector = await this.#vector(prompt.text);
    if (vector === undefined) return undefined;
    for (const { item } of index.search(vector, neighboursMax, this.#settings.threshold)) {
      if (!this.#isFresh(item, question)) continue;
      if (this.#settings.veto && !await this.#isSame(prompt.text, item.text)) {
        this.#host.count('vetoes');
        continue;
      }
      const answer = this.#answers.get(answerKey(partition, item.key)) ?? await this.#stored(partition, item.key);
      if (answer === undefined || answer.frame !== prompt.frame) {
        this.#frames.remove(partition, prompt.frame, item.key);
        continue;
      }
      if (!this.#isFresh(answer, question)) continue;
      this.#answers.set(answerKey(partition, item.key), answer);
      return hit(answer, 'semantic');
    }
    return undefined;
  }

  async #isSame(left: string, right: string): Promise<boolean> {
    const judgement = judge(left, right);
    if (judgement.verdict !== 'compare') return judgement.verdict === 'same';
    return await this.#embedder.similarity(judgement.left, judgement.right) >= wordSimilarityMin;
  }

  async #vector(text: string): Promise<Float32Array | undefined> {
    try {
      return await this.#embedder.vector(text);
    } catch (thrown) {
      this.#host.count('embedding_failures');
      this.#warn('a question could not be embedded, only the same question hits the cache', thrown);
      return undefined;
    }
  }

  #comparable(question: CacheQuestion): CachePrompt | undefined {
    const prompt = question.prompt();
    return prompt === null || prompt.text.trim() === '' || prompt.text.length > this.#settings.charactersMax ? undefined : prompt;
  }

  async #stored(partition: string, key: string): Promise<Answer | undefined> {
    const row = await this.#store.get(answerKey(partition, key));
    return row === undefined ? undefined : readAnswer(row);
  }

  async #drop(partition: string, key: string): Promise<void> {
    this.#answers.delete(answerKey(partition, key));
    const answer = await this.#stored(partition, key);
    if (answer === undefined) return;
    const nowMs = this.#host.now();
    await this.#store.write(removeWrites(partition, key, answer.frame, answer.storedAtMs, { nowMs, endsAtMs: nowMs + noteMs }));
    this.#answers.delete(answerKey(partition, key));
    if (answer.frame !== '') this.#frames.remove(partition, answer.frame, key);
  }

  #isFresh({ storedAtMs }: { readonly storedAtMs: number }, { ageMsMax }: CacheQuestion): boolean {
    return this.#host.now() - storedAtMs <= ageMsMax;
  }

  /** Looks for what other threads wrote; no call waits for it. */
  #refreshWhenDue(): void {
    const nowMs = this.#host.now();
    if (this.#refreshing !== undefined || nowMs - this.#refreshedMs < refreshPeriodMs) return;
    this.#refreshedMs = nowMs;
    this.#refreshing = this.#refresh(nowMs)
      .catch((thrown: unknown) => this.#warn('the cache could not read what other threads wrote', thrown))
      .finally(() => { this.#refreshing = undefined; });
  }

  async #refresh(nowMs: number): Promise<void> {
    const revision = await this.#store.revision();
    if (revision === this.#seenRevision) return;
    let from = arrivalTime(this.#seenMs - refreshOverlapMs);
    let sliceStartMs = performance.now();
    for (;;) {
      let count = 0;
      for await (const row of this.#store.range({ from, to: arrivalsEnd, limit: refreshRowsMax })) {
        count += 1;
        from = `${row.key} `;
        const arrival = readArrival(row);
        if (arrival === undefined) continue;
        const { partition, frame, key, storedAtMs, bytes } = arrival;
        const answer = this.#answers.peek(answerKey(partition, key));
        if (answer !== undefined && (answer.storedAtMs < storedAtMs || bytes === 0 && answer.storedAtMs <= storedAtMs)) this.#answers.delete(answerKey(partition, key));
        const index = frame === '' ? undefined : this.#frames.peek(partition, frame);
        if (index === undefined) continue;
        if (bytes === 0) {
          if (!index.has(key, storedAtMs + 1)) this.#frames.remove(partition, frame, key);
        } else if (!index.has(key, storedAtMs)) {
          const found = await this.#store.get(vectorPrefix(partition, frame) + key);
          const vectored = found === undefined ? undefined : readVectored(found);
          if (vectored !== undefined) this.#frames.add(partition, frame, vectored);
        }
        if (performance.now() - sliceStartMs < refreshSliceMs) continue;
        await new Promise<void>((resolve) => { setImmediate(resolve); });
        sliceStartMs = performance.now();
      }
      if (count < refreshRowsMax) break;
    }
    this.#seenMs = nowMs;
    this.#seenRevision = revision;
  }

  /** Each kind of trouble once a minute. */
  #warn(message: string, thrown: unknown): void {
    const nowMs = this.#host.now();
    const last = this.#warnedMs.get(message);
    if (last !== undefined && nowMs - last < warnPeriodMs) return;
    this.#warnedMs.set(message, nowMs);
    this.#host.log.warn(message, { reason: thrown instanceof Error ? thrown.message : String(thrown) });
  }
}

const hit = ({ status, contentType, body, storedAtMs }: Answer, match: CacheHit['match']): CacheHit => ({ status, contentType, body, storedAtMs, match });
