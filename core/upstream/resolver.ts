// Host names -> addresses, for new connections only. Look-ups of one name are shared, limited in number, in all and for each caller, and each has
// its deadline, so that names that never resolve cost nobody but who asked for them. Answers are kept for a moment, good and bad ones. Judges
// nothing: egress.ts does, at each connection anew.

import { LRUCache } from 'lru-cache';
import { fail } from '../errors/gateway-error.js';

export interface Address {
  readonly address: string;
  /** 4 or 6. */
  readonly family: number;
}

export type ResolverCallback = (fault: Error | null, addresses: readonly Address[]) => void;

/** Gives all addresses of a name, or a fault; calls back once. `caller`: on whose behalf: a workspace, a plugin; '' for the gateway itself. */
export type Resolver = (hostname: string, callback: ResolverCallback, caller: string) => void;

/** `ttlMs`: how long the answer may be kept; 0 not at all. */
export type AskCallback = (fault: Error | null, addresses: readonly Address[], ttlMs: number) => void;

/** Asks name servers, without limits or memory of its own. Gives what stops it; the callback may come all the same. */
export type Ask = (hostname: string, callback: AskCallback) => () => void;

export interface ResolverOptions {
  readonly ask: Ask;
  readonly deadlineMs: number;
  readonly lookupsMax?: number;
  readonly lookupsOfCallerMax?: number;
  readonly lookupsOfPluginMax?: number;
  readonly now?: () => number;
}

const lookupsMaxDefault = 256;
/** Many more than a caller's honest configs have at a time; few enough that no caller takes all. */
const lookupsOfCallerMaxDefault = 16;
/** A plugin asks for all workspaces, and has no part in what they or other plugins are waiting for. */
const lookupsOfPluginMaxDefault = 64;
/** Names whose answers are kept. */
const answersMax = 4096;
/** A name that moved shall be found again soon, whatever its owner promised to caches. */
const ttlMsMax = 10_000;
/** A name that failed is not asked for again by every call. */
const failedMs = 2000;

interface Answer {
  readonly fault: Error | null;
  readonly addresses: readonly Address[];
  readonly untilMs: number;
}

interface Lookup {
  readonly caller: string;
  readonly waiting: ResolverCallback[];
  stop: () => void;
  timer: NodeJS.Timeout | null;
}

const pluginPrefix = 'plugin ';

/** A plugin as a caller; no workspace has such an id. */
export const pluginCaller = (id: string): string => pluginPrefix + id;

const nothing = (): void => {};

export class NameResolver {
  readonly #options: ResolverOptions;
  readonly #now: () => number;
  readonly #answers = new LRUCache<string, Answer>({ max: answersMax });
  readonly #lookups = new Map<string, Lookup>();
  readonly #ofCaller = new Map<string, number>();

  constructor(options: ResolverOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  readonly resolve: Resolver = (hostname, callback, caller) => {
    const name = hostname.toLowerCase();
    const known = this.#answers.get(name);
    if (known !== undefined && known.untilMs > this.#now()) {
      // Never before resolve() has returned: who asks may not be ready.
      queueMicrotask(() => callback(known.fault, known.addresses));
      return;
    }
    const running = this.#lookups.get(name);
    if (running !== undefined) {
      running.waiting.push(callback);
      return;
    }
    const { lookupsMax = lookupsMaxDefault, lookupsOfCallerMax = lookupsOfCallerMaxDefault, lookupsOfPluginMax = lookupsOfPluginMaxDefault } = this.#options;
    const ofCaller = this.#ofCaller.get(caller) ?? 0;
    const ofCallerMax = caller.startsWith(pluginPrefix) ? lookupsOfPluginMax : lookupsOfCallerMax;
    const maximum = ofCaller >= ofCallerMax ? ofCallerMax : lookupsMax;
    if (ofCaller >= ofCallerMax || this.#lookups.size >= lookupsMax) {
      queueMicrotask(() => callback(fail('LOOKUPS_BUSY', { host: hostname, maximum }), []));
      return;
    }
    this.#ofCaller.set(caller, ofCaller + 1);
    this.#start(name, { caller, waiting: [callback], stop: nothing, timer: null });
  };

  #start(name: string, lookup: Lookup): void {
    const { deadlineMs, ask } = this.#options;
    this.#lookups.set(name, lookup);
    lookup.timer = setTimeout(() => {
      lookup.stop();
      this.#settle(name, lookup, fail('UPSTREAM_UNREACHABLE', { host: name, reason: 'no name server answered in time' }), [], failedMs);
    }, deadlineMs);
    // Whoever waits for the answer keeps the process; nobody else shall.
    lookup.timer.unref();
    try {
      lookup.stop = ask(name, (fault, addresses, ttlMs) => {
        this.#settle(name, lookup, fault, addresses, fault === null && addresses.length > 0 ? Math.min(ttlMs, ttlMsMax) : failedMs);
      });
    } catch (thrown) {
      // Where descriptors or memory have run out.
      this.#settle(name, lookup, fail('UPSTREAM_UNREACHABLE', { host: name, reason: 'its name could not be looked up' }, thrown), [], 0);
    }
  }

  #settle(name: string, lookup: Lookup, fault: Error | null, addresses: readonly Address[], keptMs: number): void {
    if (this.#lookups.get(name) !== lookup) return;
    this.#lookups.delete(name);
    if (lookup.timer !== null) clearTimeout(lookup.timer);
    const left = (this.#ofCaller.get(lookup.caller) ?? 1) - 1;
    if (left === 0) this.#ofCaller.delete(lookup.caller);
    else this.#ofCaller.set(lookup.caller, left);
    if (keptMs > 0) this.#answers.set(name, { fault, addresses, untilMs: this.#now() + keptMs });
    for (const callback of lookup.waiting) queueMicrotask(() => callback(fault, addresses));
  }
}
