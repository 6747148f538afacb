// Entries on disk, under three rows each: the entry, its time (small, so that memory can be checked against it), and its place in the order of
// age, from which the oldest are removed. Every thread and process has one of these on the same store.

import type { CacheEntry, Host, Maybe, Row, Store, Write } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';

/** Entries removed in one transaction, and such transactions in one sweep. */
const entriesOfStep = 64;
const stepsMax = 64;
/** Removing begins above the limit and goes on until this share of it is free. */
const slack = 0.1;
/** No config may ask for an older one. */
const ageMsMax = 90 * 86_400_000;
/** A sweep that died gives its turn back after this long. */
const turnMs = 60_000;
const turnKey = 'sweep';

const packr = new Packr({ useRecords: false });
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const timeText = (atMs: number): string => String(Math.max(0, Math.floor(atMs))).padStart(13, '0');
const entryKey = (key: string): string => `e-${key}`;
const timeKey = (key: string): string => `v-${key}`;
const orderKey = (atMs: number, key: string): string => `t-${timeText(atMs)}-${key}`;

export class EntryStore {
  constructor(readonly host: Host, readonly store: Store, readonly bytesMax: number) {}

  storedAtMs(key: string): Maybe<number | undefined> {
    const row = this.store.get(timeKey(key));
    return row instanceof Promise ? row.then(timeOf) : timeOf(row);
  }

  get(key: string): Maybe<CacheEntry | undefined> {
    const row = this.store.get(entryKey(key));
    return row instanceof Promise ? row.then(entryOf) : entryOf(row);
  }

  async put(key: string, entry: CacheEntry): Promise<void> {
    const writes: Write[] = [
      { op: 'put', key: entryKey(key), value: packr.pack([entry.storedAtMs, entry.status, entry.contentType, entry.body, entry.endsAtMs]) },
      { op: 'put', key: timeKey(key), value: encoder.encode(timeText(entry.storedAtMs)) },
      { op: 'put', key: orderKey(entry.storedAtMs, key), value: new Uint8Array(0) },
    ];
    const before = await this.storedAtMs(key);
    if (before !== undefined && timeText(before) !== timeText(entry.storedAtMs)) writes.push({ op: 'remove', key: orderKey(before, key) });
    await this.store.write(writes);
  }

  async remove(key: string): Promise<void> {
    const storedAtMs = await this.storedAtMs(key);
    if (storedAtMs === undefined) return;
    await this.store.write([{ op: 'remove', key: entryKey(key) }, { op: 'remove', key: timeKey(key) }, { op: 'remove', key: orderKey(storedAtMs, key) }]);
  }

  /** Removes what is too old, and the oldest while there is too much. What one sweep does not get done, the next goes on with. */
  async sweep(): Promise<void> {
    const version = await this.#takeTurn();
    if (version === undefined) return;
    let removed = 0;
    let excess = await this.#excess();
    for (let step = 0; step < stepsMax; step += 1) {
      const count = await this.#step(excess);
      removed += count;
      if (count < entriesOfStep) break;
      if (excess > 0) excess = await this.#excess();
    }
    await this.store.write([{ op: 'remove', key: turnKey, ifVersion: version }]);
    if (removed > 0) this.host.count('removed', removed);
  }

  async #step(excess: number): Promise<number> {
    const oldest = `t-${timeText(this.host.now() - ageMsMax)}`;
    const writes: Write[] = [];
    let left = excess;
    for await (const { key: place } of this.store.range({ from: 't-', to: 't.', limit: entriesOfStep })) {
      if (left <= 0 && place >= oldest) break;
      const key = place.slice('t-'.length + 14);
      const row = await this.store.get(entryKey(key));
      left -= (row?.value.length ?? 0) + place.length * 3;
      writes.push({ op: 'remove', key: place });
      // The place may be an old one of an entry that was replaced meanwhile.
      const storedAtMs = await this.storedAtMs(key);
      if (storedAtMs === undefined || orderKey(storedAtMs, key) === place) writes.push({ op: 'remove', key: entryKey(key) }, { op: 'remove', key: timeKey(key) });
    }
    if (writes.length > 0) await this.store.write(writes);
    return writes.filter((write) => write.key.startsWith('t-')).length;
  }

  async #excess(): Promise<number> {
    const size = await this.store.size?.() ?? 0;
    return size > this.bytesMax ? size - this.bytesMax * (1 - slack) : 0;
  }

  /** The version of the turn's row when it is ours now. */
  async #takeTurn(): Promise<number | undefined> {
    const now = this.host.now();
    const row = await this.store.get(turnKey);
    if (row !== undefined) {
      const until = Number(decoder.decode(row.value));
      // A clock that was set back must not keep a turn taken for longer than it lasts.
      if (until > now && until <= now + turnMs) return undefined;
    }
    const version = row?.version ?? 0;
    return await this.store.write([{ op: 'put', key: turnKey, value: encoder.encode(String(now + turnMs)), ifVersion: version }]) ? version + 1 : undefined;
  }
}

const timeOf = (row: Row | undefined): number | undefined => (row === undefined ? undefined : Number(decoder.decode(row.value)));

/** A row that cannot be read is none. */
function entryOf(row: Row | undefined): CacheEntry | undefined {
  if (row === undefined) return undefined;
  let read: unknown;
  try {
    read = packr.unpack(row.value);
  } catch {
    return undefined;
  }
  if (!Array.isArray(read)) return undefined;
  const [storedAtMs, status, contentType, body, endsAtMs] = read as readonly unknown[];
  if (typeof storedAtMs !== 'number' || typeof endsAtMs !== 'number' || typeof status !== 'number' || typeof contentType !== 'string' || !(body instanceof Uint8Array)) return undefined;
  return { storedAtMs, endsAtMs, status, contentType, body };
}
