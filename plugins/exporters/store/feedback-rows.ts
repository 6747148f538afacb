// Feedback lies in a store of its own, one row for each item, under a key that sorts by the time it was given; a second row leads to it from its id.

import type { Feedback, Host, LogScope, Store, Write } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';
import { damageOf, type OnDamaged } from './damage.js';
import { timeKey } from './partitions.js';
import { inScope } from './plain-query.js';

const packr = new Packr({ useRecords: false });
const items = { prefix: 't', from: 't', to: 'u' } as const;
const idPrefix = 'i';
/** Items that are held at once: more than that are not joined, the oldest first. */
const itemsMax = 200_000;
/** What feedback may take of the storage; the oldest goes first. */
const storeBytesMax = 256 * 1024 * 1024;
/** Removed in one transaction, and such transactions in one sweep. */
const rowsOfStep = 64;
const stepsMax = 16;

export type FeedbackChange = Pick<Feedback, 'value' | 'weight' | 'metadata'>;

/** Metadata of items is written, and read by nobody here. */
interface Held {
  readonly revision: number;
  readonly all: readonly Feedback[];
  readonly byTrace: ReadonlyMap<string, readonly Feedback[]>;
}

export class FeedbackRows {
  #held: Held | null = null;
  readonly #onDamaged: OnDamaged;

  constructor(readonly host: Host, readonly store: Store, readonly ageMsMax: number, readonly bytesMax: number = storeBytesMax) {
    this.#onDamaged = damageOf(host, 'feedbackDamaged', 'an item of feedback cannot be read and is left out');
  }

  async add(added: readonly Feedback[]): Promise<void> {
    const writes = added.flatMap((item): Write[] => {
      const key = keyOf(item);
      return [{ op: 'put', key, value: packr.pack(item), ifVersion: 0 }, { op: 'put', key: idKey(item.id), value: new TextEncoder().encode(key), ifVersion: 0 }];
    });
    if (!await this.store.write(writes)) throw new Error('an item of feedback has an id that is taken');
  }

  /** False: there is no such item in the scope. */
  async change(scope: LogScope, id: string, { value, weight, metadata }: FeedbackChange): Promise<boolean> {
    for (;;) {
      const pointer = await this.store.get(idKey(id));
      const row = pointer === undefined ? undefined : await this.store.get(new TextDecoder().decode(pointer.value));
      if (row === undefined) return false;
      const item = read(row.value);
      if (!inScope(scope, item)) return false;
      // Else another changed it meanwhile.
      if (await this.store.write([{ op: 'put', key: row.key, value: packr.pack({ ...item, value, weight, metadata }), ifVersion: row.version }])) return true;
    }
  }

  /** Oldest first. */
  async all(): Promise<readonly Feedback[]> {
    return (await this.#hold()).all;
  }

  /** By `traceKey`. */
  async byTrace(): Promise<ReadonlyMap<string, readonly Feedback[]>> {
    return (await this.#hold()).byTrace;
  }

  /** Removes what is too old, and the oldest while there is too much. */
  async sweep(): Promise<void> {
    const old = `${items.prefix}${timeKey(this.host.now() - this.ageMsMax)}`;
    for (let step = 0; step < stepsMax; step += 1) {
      const to = (await this.store.size?.() ?? 0) > this.bytesMax ? items.to : old;
      const writes: Write[] = [];
      for await (const { key, value } of this.store.range({ from: items.from, to, limit: rowsOfStep })) {
        const id = this.#readOrNone(key, value)?.id;
        writes.push({ op: 'remove', key }, ...(id === undefined ? [] : [{ op: 'remove' as const, key: idKey(id) }]));
      }
      if (writes.length === 0) return;
      await this.store.write(writes);
    }
  }

  async #hold(): Promise<Held> {
    const revision = await this.store.revision();
    if (this.#held?.revision === revision) return this.#held;
    const all: Feedback[] = [];
    for await (const { key, value } of this.store.range({ from: items.from, to: items.to, limit: itemsMax, reverse: true })) {
      const item = this.#readOrNone(key, value);
      if (item !== undefined) all.push({ ...item, metadata: '' });
    }
    all.reverse();
    const byTrace = new Map<string, Feedback[]>();
    for (const item of all) {
      const of = byTrace.get(traceKey(item));
      if (of === undefined) byTrace.set(traceKey(item), [item]);
      else of.push(item);
    }
    return this.#held = { revision, all, byTrace };
  }

  /** One that is damaged hides none of the others. */
  #readOrNone(key: string, value: Uint8Array): Feedback | undefined {
    try {
      return read(value);
    } catch (thrown) {
      this.#onDamaged(key, thrown);
      return undefined;
    }
  }
}

/** A trace is one of its workspace: what others call alike is another. */
export const traceKey = ({ organisationId, workspaceId, traceId }: Pick<Feedback, 'organisationId' | 'workspaceId' | 'traceId'>): string => `${organisationId}/${workspaceId}/${traceId}`;

const keyOf = ({ createdAtMs, id }: Feedback): string => `${items.prefix}${timeKey(createdAtMs)}-${id}`;
const idKey = (id: string): string => `${idPrefix}${id}`;

function read(value: Uint8Array): Feedback {
  const item: Partial<Record<keyof Feedback, unknown>> = Object(packr.unpack(value));
  const text = (name: keyof Feedback): string => {
    const found = item[name];
    if (typeof found !== 'string') throw new Error(`an item of feedback is damaged: ${name} is not a text`);
    return found;
  };
  const number = (name: keyof Feedback): number => {
    const found = item[name];
    if (typeof found !== 'number') throw new Error(`an item of feedback is damaged: ${name} is not a number`);
    return found;
  };
  return {
    id: text('id'), organisationId: text('organisationId'), workspaceId: text('workspaceId'), traceId: text('traceId'), value: number('value'), weight: number('weight'),
    metadata: text('metadata'), createdAtMs: number('createdAtMs'),
  };
}
