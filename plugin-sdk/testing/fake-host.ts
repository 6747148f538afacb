import { Buffer } from 'node:buffer';
import type { Host, OutboundRequest, OutboundResponse, WorkerOf } from '../src/host.js';
import type { RangeOptions, Row, Store, Write } from '../src/store.js';
import type { Maybe } from '../src/shared.js';

export interface FakeHostOptions {
  /** Time at the start, in milliseconds since the Unix epoch; moved on with `advance()`. */
  readonly nowMs?: number;
  /** Default: the same sequence each time, from a fixed seed. */
  readonly random?: () => number;
  /** Answers `fetch`; without it every call is refused. One whose signal is aborted already is not made. */
  readonly fetch?: (request: OutboundRequest) => Maybe<FakeAnswer>;
  /** Answers `resolve`; without it no name has an address. */
  readonly addresses?: Readonly<Record<string, readonly string[]>>;
  /** Secrets by reference: `{ 'env:NAME': 'value' }`. */
  readonly secrets?: Readonly<Record<string, string>>;
}

export interface FakeAnswer {
  readonly status?: number;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

export interface LoggedLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A host that touches nothing: the test reads what the plugin did and drives the time. */
export interface FakeHost extends Host {
  readonly logged: readonly LoggedLine[];
  readonly counts: ReadonlyMap<string, number>;
  /** Requests given to `fetch`, in order. */
  readonly requests: readonly OutboundRequest[];
  /** Periods asked of `every`, in order. */
  readonly periods: readonly number[];
  /** Moves the time on without running anything. */
  advance(byMs: number): void;
  /** Runs what was given to `every` once, one after the other; rejects when one of them throws. */
  runEvery(): Promise<void>;
}

/** A whole `Host` for tests, with in-memory stores, injected time and chance, and no network. */
export function fakeHost(options: FakeHostOptions = {}): FakeHost {
  const logged: LoggedLine[] = [];
  const counts = new Map<string, number>();
  const requests: OutboundRequest[] = [];
  const stores = new Map<string, Store>();
  const periodic: { readonly periodMs: number; readonly work: () => Maybe<void> }[] = [];
  const line = (level: LoggedLine['level']) => (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    logged.push({ level, message, fields });
  };
  let nowMs = options.nowMs ?? 1_700_000_000_000;
  return {
    logged,
    counts,
    requests,
    get periods() { return periodic.map((entry) => entry.periodMs); },
    log: { info: line('info'), warn: line('warn'), error: line('error') },
    now: () => nowMs,
    random: options.random ?? seededRandom(1),
    advance: (byMs) => { nowMs += byMs; },
    runEvery: async () => { for (const { work } of [...periodic]) await work(); },
    fetch: async (request) => {
      request.signal?.throwIfAborted();
      requests.push(request);
      if (options.fetch === undefined) throw new Error(`fetch of ${request.url}: this fake host was given no answers`);
      return answerOf(await options.fetch(request), request.bytesMax ?? 1024 * 1024, request.isHeadEnough === true);
    },
    resolve: async (name) => options.addresses?.[name] ?? [],
    store: async (name) => {
      let store = stores.get(name);
      if (store === undefined) stores.set(name, store = new FakeStore());
      return store;
    },
    worker: <M>(module: URL) => directWorker<M>(module),
    secret: async (reference) => {
      const value = options.secrets?.[reference];
      if (value === undefined) throw new Error(`no secret ${reference}`);
      return value;
    },
    count: (metric, by = 1) => { counts.set(metric, (counts.get(metric) ?? 0) + by); },
    every: (periodMs, work) => { periodic.push({ periodMs, work }); },
  };
}

/** mulberry32 (public domain): chance that is the same for each run. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function answerOf(answer: FakeAnswer, bytesMax: number, isHeadEnough: boolean): OutboundResponse {
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body ?? new Uint8Array(0);
  return {
    status: answer.status ?? 200,
    header: (name) => answer.headers?.[name.toLowerCase()],
    bytes: async () => {
      if (body.length > bytesMax && isHeadEnough) return body.subarray(0, bytesMax);
      if (body.length > bytesMax) throw new Error(`the answer is larger than ${bytesMax} bytes`);
      return body;
    },
  };
}

/** Calls the module's functions on this thread, and clones what crosses, as the worker pool does. */
function directWorker<M>(module: URL): WorkerOf<M> {
  const call = (name: string) => async (...args: unknown[]): Promise<unknown> => {
    const exported: unknown = ((await import(module.href)) as Record<string, unknown>)[name];
    if (typeof exported !== 'function') throw new Error(`${module.href} exports no function ${name}`);
    return structuredClone(await exported(...structuredClone(args)));
  };
  const target: object = {};
  // The exports are known only once the module is loaded: each name becomes a function when it is asked for.
  return new Proxy(target, {
    get: (_, name) => (typeof name !== 'string' || name === 'then' ? undefined : call(name)),
  }) as WorkerOf<M>;
}

/** The store of a fake host: a Map, sorted when a range is read. */
class FakeStore implements Store {
  readonly #rows = new Map<string, Row>();
  #revision = 0;

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  async *range(options: RangeOptions): AsyncGenerator<Row> {
    const { from, to, limit, reverse = false } = options;
    const keys = [...this.#rows.keys()].filter((key) => compareUtf8(from, key) <= 0 && compareUtf8(key, to) < 0).sort(compareUtf8);
    if (reverse) keys.reverse();
    let left = limit;
    for (const key of keys) {
      if (left <= 0) return;
      const row = this.#rows.get(key);
      // Removed while the range was read.
      if (row === undefined) continue;
      left -= 1;
      yield row;
    }
  }

  async write(batch: readonly Write[]): Promise<boolean> {
    for (const { op, key, value } of batch) {
      if (key === '' || key.length > 1024 || /\p{Surrogate}/u.test(key)) throw new RangeError('a key has 1 to 1024 whole characters');
      if (op === 'put' && value === undefined) throw new TypeError(`put of ${key} without a value`);
    }
    const changed = new Map<string, Row | undefined>();
    const current = (key: string): Row | undefined => (changed.has(key) ? changed.get(key) : this.#rows.get(key));
    for (const { op, key, value, ifVersion } of batch) {
      const version = current(key)?.version ?? 0;
      if (ifVersion !== undefined && ifVersion !== version) return false;
      if (op === 'remove') changed.set(key, undefined);
      else changed.set(key, { key, value: Uint8Array.from(value ?? []), version: version + 1 });
    }
    for (const [key, row] of changed) {
      if (row === undefined) this.#rows.delete(key);
      else this.#rows.set(key, row);
    }
    if (batch.length > 0) this.#revision += 1;
    return true;
  }

  revision(): number {
    return this.#revision;
  }

  size(): number {
    let bytes = 0;
    for (const { key, value } of this.#rows.values()) bytes += Buffer.byteLength(key) + value.length;
    return bytes;
  }
}

const compareUtf8 = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));
