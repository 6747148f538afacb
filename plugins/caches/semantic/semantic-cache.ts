// Answers found by the exact question first, then by a question of the same frame that means the same.

import type { Cache, CacheEntry, CacheHit, CacheLimits, CacheQuestion, Host, Store } from '@gateway/plugin-sdk';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { Turns } from '../common/turns.js';
import { endpointEmbedder, localEmbedder, RememberedVectors, type Embedder } from './embedding.js';
import type { Usearch } from './frame-index.js';
import { Frames } from './frames.js';
import { answerKey, arrivalsEnd, arrivalTime, putWrites, readAnswer, readArrival, readVectored, removeWrites, vectorPrefix, vectorWrite, type Answer, type Arrival } from './records.js';
import { Sweeper } from './sweeper.js';
import { toBytes } from './vector.js';
import { judge, wordSimilarityMin } from './veto.js';

/** As the schema in plugin.ts has them. */
export interface SemanticParams {
  readonly threshold: number;
  readonly veto: boolean;
  readonly characters_max: number;
  readonly timeout: number;
  readonly embedding?: { readonly url: string; readonly model: string; readonly api_key?: string; readonly dimensions?: number };
}

type Question = CacheQuestion<SemanticParams>;

interface Compared {
  readonly embedder: Embedder;
  /** Of the host, and of the model. */
  readonly frame: string;
  readonly text: string;
}

/** Neighbours that the veto may look at. */
const neighboursMax = 16;
/** Part of the memory for whole answers, and for vectors of texts that were asked for of late; the rest is for the vectors of questions. */
const answersShare = 0.25;
const rememberedShare = 1 / 16;
/** Questions of other threads whose vectors had not been made when their answers came, and how long they may take. */
const awaitedMax = 1000;
const awaitedMs = 120_000;
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

export class SemanticCache implements Cache<SemanticParams> {
  readonly #host: Host;
  readonly #store: Store;
  readonly #remembered: RememberedVectors;
  /** One for the parameters of each target, which are the same object in all its questions. */
  readonly #embedders = new WeakMap<object, Embedder>();
  readonly #frames: Frames;
  readonly #answers: LRUCache<string, Answer>;
  readonly #sweeper: Sweeper;
  readonly #turns = new Turns();
  /** Answers that are being removed, and since when: older ones are not found any more. */
  readonly #removing = new Map<string, number>();
  readonly #awaited = new Map<string, Arrival & { readonly untilMs: number }>();
  #seenRevision = -1;
  #seenMs: number;
  #refreshedMs: number;
  #refreshing: Promise<void> | undefined;
  readonly #warnedMs = new Map<string, number>();

  constructor(host: Host, store: Store, limits: CacheLimits, usearch: Usearch | undefined) {
    this.#host = host;
    this.#store = store;
    const answerBytesMax = Math.max(1, Math.floor(limits.memoryBytesMax * answersShare));
    const rememberedBytesMax = Math.floor(limits.memoryBytesMax * rememberedShare);
    this.#remembered = new RememberedVectors(rememberedBytesMax);
    this.#frames = new Frames(store, usearch, limits.memoryBytesMax - answerBytesMax - rememberedBytesMax);
    this.#answers = new LRUCache({ maxSize: answerBytesMax, sizeCalculation: (answer) => answer.body.length + answer.contentType.length + answerOverheadBytes });
    this.#sweeper = new Sweeper(host, store, limits.diskBytesMax);
    this.#seenMs = host.now();
    this.#refreshedMs = host.now();
  }

  /** Bytes that the vectors and answers of this thread take. */
  get memoryBytes(): number {
    return this.#frames.bytes + this.#answers.calculatedSize + this.#remembered.bytes;
  }

  lookup(question: Question): CacheHit | undefined | Promise<CacheHit | undefined> {
    this.#refreshWhenDue();
    const answer = this.#answers.get(answerKey(question.partition, question.key));
    if (answer !== undefined && this.#isFresh(answer, question)) return hit(answer, 'exact');
    return this.#find(question);
  }

  /** The answer is found at once by whoever asks the same, and by its meaning when its vector is there. */
  async store(question: Question, entry: CacheEntry): Promise<void> {
    const { partition, key } = question;
    const id = answerKey(partition, key);
    const compared = this.#compared(question);
    const answer: Answer = {
      status: entry.status, contentType: entry.contentType, body: Uint8Array.from(entry.body), storedAtMs: entry.storedAtMs, endsAtMs: entry.endsAtMs, frame: compared?.frame ?? '',
    };
    this.#answers.set(id, answer);
    try {
      let isKept = false;
      await this.#turns.run(id, async () => { isKept = await this.#put(partition, key, answer, compared); });
      if (isKept && compared !== undefined) await this.#addVector(partition, key, answer, compared);
    } catch (thrown) {
      if (this.#answers.peek(id) === answer) this.#answers.delete(id);
      this.#host.count('store_failures');
      this.#warn('an answer could not be cached', thrown);
    }
  }

  async #put(partition: string, key: string, answer: Answer, compared: Compared | undefined): Promise<boolean> {
    const before = await this.#stored(partition, key);
    const vectorBytes = compared === undefined ? 0 : 2 * compared.text.length + compared.embedder.dimensions;
    const writes = putWrites({ partition, key, answer, vectorBytes }, before);
    let bytes = vectorBytes;
    for (const { value } of writes) bytes += value?.length ?? 0;
    if (!await this.#sweeper.admits(bytes)) {
      this.#answers.delete(answerKey(partition, key));
      return false;
    }
    if (!await this.#store.write(writes)) throw new Error('the store refused the answer');
    if (before !== undefined && before.frame !== answer.frame) this.#frames.remove(partition, before.frame, key);
    return true;
  }

  async #addVector(partition: string, key: string, answer: Answer, { embedder, frame, text }: Compared): Promise<void> {
    const vector = await this.#vector(embedder, text);
    if (vector === undefined) return;
    const vectored = { key, text, storedAtMs: answer.storedAtMs, vector: toBytes(vector) };
    await this.#turns.run(answerKey(partition, key), async () => {
      const stored = await this.#stored(partition, key);
      // Replaced or removed meanwhile.
      if (stored === undefined || stored.storedAtMs !== answer.storedAtMs || stored.frame !== frame) return;
      if (!await this.#store.write([vectorWrite(partition, frame, vectored)])) throw new Error('the store refused the vector');
      this.#frames.add(partition, frame, vectored);
    });
  }

  async remove(question: Question): Promise<void> {
    const { partition, key } = question;
    const sinceMs = this.#host.now();
    await this.#drop(partition, key, Number.POSITIVE_INFINITY, sinceMs);
    const compared = this.#compared(question);
    if (compared === undefined) return;
    const { embedder, frame, text } = compared;
    const index = await this.#frames.open(partition, frame);
    if (index.size === 0) return;
    const vector = await this.#vector(embedder, text);
    if (vector === undefined) return;
    for (;;) {
      // What came since is newer than what was asked to go.
      const near = index.search(vector, neighboursMax, question.params.threshold).filter(({ item }) => item.storedAtMs <= sinceMs && item.key !== key);
      if (near.length === 0) return;
      for (const { item } of near) {
        await this.#drop(partition, item.key, sinceMs, sinceMs);
        // Also when the store had nothing left of it: the index must not find it again.
        this.#frames.remove(partition, frame, item.key);
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

  async #find(question: Question): Promise<CacheHit | undefined> {
    try {
      const stored = await this.#current(question.partition, question.key);
      if (stored !== undefined && this.#isFresh(stored, question)) {
        this.#answers.set(answerKey(question.partition, question.key), stored);
        return hit(stored, 'exact');
      }
      const compared = this.#compared(question);
      return compared === undefined ? undefined : await this.#findByMeaning(question, compared);
    } catch (thrown) {
      this.#host.count('lookup_failures');
      this.#warn('a cached answer could not be looked up', thrown);
      return undefined;
    }
  }

  async #findByMeaning(question: Question, { embedder, frame, text }: Compared): Promise<CacheHit | undefined> {
    const { partition, params } = question;
    const index = await this.#frames.open(partition, frame);
    // Most frames hold nothing: then the model is not asked before the answer is out.
    if (index.size === 0) return undefined;
    const vector = await this.#vector(embedder, text);
    if (vector === undefined) return undefined;
    for (const { item } of index.search(vector, neighboursMax, params.threshold)) {
      if (!this.#isFresh(item, question)) continue;
      if (params.veto && !await this.#isSame(embedder, text, item.text)) {
        this.#host.count('vetoes');
        continue;
      }
      const answer = this.#answers.get(answerKey(partition, item.key)) ?? await this.#current(partition, item.key);
      if (answer === undefined || answer.frame !== frame) {
        this.#frames.remove(partition, frame, item.key);
        continue;
      }
      if (!this.#isFresh(answer, question)) continue;
      this.#answers.set(answerKey(partition, item.key), answer);
      return hit(answer, 'semantic');
    }
    return undefined;
  }

  async #isSame(embedder: Embedder, left: string, right: string): Promise<boolean> {
    const judgement = judge(left, right);
    if (judgement.verdict !== 'compare') return judgement.verdict === 'same';
    return await embedder.similarity(judgement.left, judgement.right) >= wordSimilarityMin;
  }

  async #vector(embedder: Embedder, text: string): Promise<Float32Array | undefined> {
    try {
      return await embedder.vector(text);
    } catch (thrown) {
      this.#host.count('embedding_failures');
      this.#warn('a question could not be embedded, only the same question hits the cache', thrown);
      return undefined;
    }
  }

  #compared(question: Question): Compared | undefined {
    const prompt = question.prompt();
    if (prompt === null || prompt.text.trim() === '' || prompt.text.length > question.params.characters_max) return undefined;
    const embedder = this.#embedderOf(question.params);
    const frame = embedder.mark === '' ? prompt.frame : createHash('sha256').update(`${prompt.frame} ${embedder.mark}`).digest('base64url');
    return { embedder, frame, text: prompt.text };
  }

  #embedderOf(params: SemanticParams): Embedder {
    let embedder = this.#embedders.get(params);
    if (embedder === undefined) {
      const { timeout, embedding } = params;
      // Its key is taken as it is written: configs come from clients, and a reference to a secret of the operator would send it to an address of theirs.
      embedder = embedding === undefined
        ? localEmbedder(this.#host, timeout, this.#remembered)
        : endpointEmbedder(this.#host, { url: embedding.url, model: embedding.model, dimensions: embedding.dimensions, timeoutMs: timeout, apiKey: embedding.api_key }, this.#remembered);
      this.#embedders.set(params, embedder);
    }
    return embedder;
  }

  /** The stored answer, unless it is being removed. */
  async #current(partition: string, key: string): Promise<Answer | undefined> {
    const stored = await this.#stored(partition, key);
    const sinceMs = this.#removing.get(answerKey(partition, key));
    return stored === undefined || (sinceMs !== undefined && stored.storedAtMs <= sinceMs) ? undefined : stored;
  }

  async #stored(partition: string, key: string): Promise<Answer | undefined> {
    const row = await this.#store.get(answerKey(partition, key));
    return row === undefined ? undefined : readAnswer(row);
  }

  /** Takes an answer out that is not newer than `newestMs`. */
  async #drop(partition: string, key: string, newestMs: number, sinceMs: number): Promise<void> {
    const id = answerKey(partition, key);
    const known = this.#answers.peek(id);
    if (known !== undefined && known.storedAtMs <= newestMs) this.#answers.delete(id);
    this.#removing.set(id, sinceMs);
    try {
      await this.#turns.run(id, async () => {
        const answer = await this.#stored(partition, key);
        if (answer === undefined || answer.storedAtMs > newestMs) return;
        const nowMs = this.#host.now();
        await this.#store.write(removeWrites(partition, key, answer.frame, answer.storedAtMs, { nowMs, endsAtMs: nowMs + noteMs }));
        if (answer.frame !== '') this.#frames.remove(partition, answer.frame, key);
      });
    } finally {
      if (this.#removing.get(id) === sinceMs) this.#removing.delete(id);
    }
  }

  #isFresh({ storedAtMs, endsAtMs = Number.POSITIVE_INFINITY }: { readonly storedAtMs: number; readonly endsAtMs?: number }, { ageMsMax }: Question): boolean {
    return this.#host.now() <= Math.min(endsAtMs, storedAtMs + ageMsMax);
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
          else if (this.#awaited.size < awaitedMax) this.#awaited.set(row.key, { ...arrival, untilMs: nowMs + awaitedMs });
        }
        if (performance.now() - sliceStartMs < refreshSliceMs) continue;
        await new Promise<void>((resolve) => { setImmediate(resolve); });
        sliceStartMs = performance.now();
      }
      if (count < refreshRowsMax) break;
    }
    await this.#lookForVectors(nowMs);
    this.#seenMs = nowMs;
    this.#seenRevision = revision;
  }

  /** Vectors come after their answers. */
  async #lookForVectors(nowMs: number): Promise<void> {
    for (const [id, { partition, frame, key, storedAtMs, untilMs }] of this.#awaited) {
      const index = this.#frames.peek(partition, frame);
      if (index === undefined || index.has(key, storedAtMs) || untilMs < nowMs) {
        this.#awaited.delete(id);
        continue;
      }
      const found = await this.#store.get(vectorPrefix(partition, frame) + key);
      const vectored = found === undefined ? undefined : readVectored(found);
      if (vectored === undefined) continue;
      this.#frames.add(partition, frame, vectored);
      this.#awaited.delete(id);
    }
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

const hit = ({ status, contentType, body, storedAtMs, endsAtMs }: Answer, match: CacheHit['match']): CacheHit => ({ status, contentType, body, storedAtMs, endsAtMs, match });
