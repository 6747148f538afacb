import type { Cache, CacheEntry, CacheHit, CacheQuestion, Host, Maybe } from '@gateway/plugin-sdk';
import { LRUCache } from 'lru-cache';
import { Turns } from '../common/turns.js';
import type { EntryStore } from './entry-store.js';

/** Bytes of an entry in memory beside its body: keys, headers, objects. */
const entryBytes = 512;
/** Of the memory, one answer may take this share. */
const shareMax = 8;

/** Memory in front of the store. An entry in memory counts only while the store still has that very entry: another thread may have replaced it. */
export class SimpleCache implements Cache {
  readonly #memory: LRUCache<string, CacheEntry>;
  /** Changed here, and not yet on disk; null: removed. */
  readonly #pending = new Map<string, CacheEntry | null>();
  #pendingBytes = 0;
  readonly #turns = new Turns();

  constructor(readonly host: Host, readonly entries: EntryStore, readonly memoryBytesMax: number) {
    this.#memory = new LRUCache<string, CacheEntry>({
      maxSize: memoryBytesMax,
      maxEntrySize: Math.floor(memoryBytesMax / shareMax),
      sizeCalculation: (entry) => entry.body.length + entryBytes,
    });
  }

  lookup(question: CacheQuestion): Maybe<CacheHit | undefined> {
    const { key } = question;
    const pending = this.#pending.get(key);
    if (pending !== undefined) return this.#fresh(question, pending ?? undefined);
    const stored = this.entries.storedAtMs(key);
    return stored instanceof Promise ? stored.then((atMs) => this.#find(question, atMs)) : this.#find(question, stored);
  }

  async store(question: CacheQuestion, entry: CacheEntry): Promise<void> {
    const { key } = question;
    const bytes = entry.body.length + entryBytes;
    // A disk that takes nothing for a while must not fill the memory.
    if (this.#pendingBytes + bytes > this.memoryBytesMax) {
      this.host.count('skipped');
      return;
    }
    this.#memory.set(key, entry);
    this.#pending.set(key, entry);
    this.#pendingBytes += bytes;
    try {
      await this.#turns.run(key, () => this.entries.put(key, entry));
      this.host.count('stored');
    } finally {
      this.#pendingBytes -= bytes;
      if (this.#pending.get(key) === entry) this.#pending.delete(key);
    }
  }

  async remove({ key }: CacheQuestion): Promise<void> {
    this.#memory.delete(key);
    this.#pending.set(key, null);
    try {
      await this.#turns.run(key, () => this.entries.remove(key));
    } finally {
      if (this.#pending.get(key) === null) this.#pending.delete(key);
    }
  }

  close(): void {
    this.#memory.clear();
  }

  #find(question: CacheQuestion, storedAtMs: number | undefined): Maybe<CacheHit | undefined> {
    if (storedAtMs === undefined) {
      this.#memory.delete(question.key);
      return undefined;
    }
    const known = this.#memory.get(question.key);
    if (known !== undefined && known.storedAtMs === storedAtMs) return this.#fresh(question, known);
    const entry = this.entries.get(question.key);
    return entry instanceof Promise ? entry.then((read) => this.#read(question, read)) : this.#read(question, entry);
  }

  #read(question: CacheQuestion, entry: CacheEntry | undefined): CacheHit | undefined {
    if (entry !== undefined) this.#memory.set(question.key, entry);
    return this.#fresh(question, entry);
  }

  #fresh(question: CacheQuestion, entry: CacheEntry | undefined): CacheHit | undefined {
    if (entry === undefined || this.host.now() > Math.min(entry.endsAtMs, entry.storedAtMs + question.ageMsMax)) return undefined;
    this.host.count('hits');
    return { ...entry, match: 'exact' };
  }
}
