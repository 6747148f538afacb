// A store that outlives its disk. A write that the storage refuses is told to its caller, counted and reported; after one, larger writes are
// refused for a moment without a try, so that a full disk costs calls nothing, and the first try that holds makes all well again. A store
// that has no room to be opened is empty until it can be. Never holds a write back for later: what is refused is lost, as its caller is told.

import type { Maybe, RangeOptions, Row, Store, Write } from '@gateway/plugin-sdk';
import { reasonOf } from '../errors/gateway-error.js';

/** After the first refused write, twice as long after each further one, up to the maximum. */
const restMsMin = 250;
const restMsMax = 2_000;
/** Batches with less than this in them are tried at all times: turns, marks and removals, which are what makes room. */
const smallBytes = 1024;

const passing: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS']);

/** The disk is at fault, and it may be well again later; not the caller, and not what is stored. */
const isPassing = (thrown: unknown): boolean => typeof thrown === 'object' && thrown !== null && 'code' in thrown && passing.has(thrown.code);

export interface SteadyOptions {
  readonly name: string;
  open(): Maybe<Store>;
  /** Told of each write that was not made. */
  onRefused(name: string, reason: string): void;
  now?(): number;
}

export class SteadyStore implements Store {
  readonly #options: SteadyOptions;
  readonly #now: () => number;
  #store: Store | undefined = undefined;
  #opening: Promise<Store> | undefined = undefined;
  #restMs = 0;
  #restUntilMs = 0;
  #reason = '';
  #isClosed = false;
  /** Only when the storage measures its stores; a store that is not open yet takes nothing. */
  readonly size?: () => Maybe<number>;

  private constructor(options: SteadyOptions, store: Store | undefined) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#store = store;
    if (store === undefined || store.size !== undefined) this.size = () => this.#store?.size?.() ?? 0;
  }

  /** Rejects when the store cannot be opened for another reason than the state of the disk. */
  static async open(options: SteadyOptions): Promise<SteadyStore> {
    try {
      return new SteadyStore(options, await options.open());
    } catch (thrown) {
      if (!isPassing(thrown)) throw thrown;
      const steady = new SteadyStore(options, undefined);
      steady.#refused(thrown);
      return steady;
    }
  }

  get(key: string): Maybe<Row | undefined> {
    return this.#store === undefined ? undefined : this.#store.get(key);
  }

  range(options: RangeOptions): AsyncIterable<Row> {
    return this.#store === undefined ? none() : this.#store.range(options);
  }

  async write(batch: readonly Write[]): Promise<boolean> {
    if (this.#now() < this.#restUntilMs && !isSmall(batch)) {
      this.#options.onRefused(this.#options.name, this.#reason);
      throw new Error(`not tried again yet after: ${this.#reason}`);
    }
    try {
      const isHeld = await (this.#store ?? await this.#open()).write(batch);
      this.#restMs = 0;
      this.#restUntilMs = 0;
      return isHeld;
    } catch (thrown) {
      if (isPassing(thrown)) this.#refused(thrown);
      throw thrown;
    }
  }

  revision(): Maybe<number> {
    return this.#store === undefined ? 0 : this.#store.revision();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#store?.close?.();
  }

  /** One try at a time, shared by all who write. */
  #open(): Promise<Store> {
    this.#opening ??= this.#reopen().finally(() => { this.#opening = undefined; });
    return this.#opening;
  }

  async #reopen(): Promise<Store> {
    if (this.#isClosed) throw new Error('the store is closed');
    const store = await this.#options.open();
    if (this.#isClosed) await store.close?.();
    else this.#store = store;
    return store;
  }

  #refused(thrown: unknown): void {
    this.#reason = reasonOf(thrown);
    this.#restMs = Math.min(restMsMax, Math.max(restMsMin, this.#restMs * 2));
    this.#restUntilMs = this.#now() + this.#restMs;
    this.#options.onRefused(this.#options.name, this.#reason);
  }
}

function isSmall(batch: readonly Write[]): boolean {
  let bytes = 0;
  for (const { value } of batch) bytes += value?.length ?? 0;
  return bytes < smallBytes;
}

async function* none(): AsyncGenerator<Row> {}
