import { isObject, type Host } from '@gateway/plugin-sdk';
import type { JSONWebKeySet, LocalJWKSet } from 'jose';
import { readJson } from '../common/request/hook-context.js';

export interface Keys {
  readonly find: LocalJWKSet;
  /** Another number for each set that was read: what an older set has verified does not count any more. */
  readonly generation: number;
}

export interface KeySource {
  current(): Keys | Promise<Keys>;
  /** A newer set, as the one at hand lacks a key; the same one when it is too early to ask again. */
  newer(than: Keys): Keys | Promise<Keys>;
}

type MakeSet = (set: JSONWebKeySet) => LocalJWKSet;

/** Somebody who invents key ids must not make us ask more often. */
const refetchPauseMs = 30_000;
/** After a failure calls err at once for so long, instead of waiting one after the other. */
const failurePauseMs = 1000;
const timeoutMs = 4000;
const bytesMax = 1024 * 1024;

export const fixedKeys = (keys: Keys): KeySource => ({ current: () => keys, newer: () => keys });

/** A key set at an address: kept for `ageMaxMs`, fetched once for all who wait. */
export class RemoteKeys implements KeySource {
  #keys: Keys | undefined;
  #readAtMs = -Infinity;
  #askedAtMs = -Infinity;
  #fault: Error | undefined;
  #pending: Promise<Keys> | undefined;

  constructor(readonly host: Host, readonly url: URL, readonly ageMaxMs: number, readonly makeSet: MakeSet) {}

  current(): Keys | Promise<Keys> {
    const nowMs = this.host.now();
    if (this.#keys !== undefined && nowMs - this.#readAtMs < this.ageMaxMs) return this.#keys;
    if (this.#pending === undefined && this.#fault !== undefined && nowMs - this.#askedAtMs < failurePauseMs) throw this.#fault;
    return this.#fetch();
  }

  newer(than: Keys): Keys | Promise<Keys> {
    if (this.#pending !== undefined) return this.#pending;
    if (this.#keys !== undefined && this.#keys !== than) return this.#keys;
    return this.host.now() - this.#askedAtMs < refetchPauseMs ? than : this.#fetch();
  }

  #fetch(): Promise<Keys> {
    this.#pending ??= this.#read().finally(() => { this.#pending = undefined; });
    return this.#pending;
  }

  async #read(): Promise<Keys> {
    this.#askedAtMs = this.host.now();
    try {
      // Without the signal of a call: others may be waiting for the same answer.
      const answer = await this.host.fetch({ url: this.url.href, headers: { accept: 'application/json' }, timeoutMs, bytesMax });
      if (answer.status !== 200) throw new Error(`status ${answer.status}`);
      const set = await readJson(answer, 'it');
      if (!isObject(set) || !Array.isArray(set.keys)) throw new Error('no key set');
      this.#keys = { find: this.makeSet(set as unknown as JSONWebKeySet), generation: (this.#keys?.generation ?? 0) + 1 };
      this.#readAtMs = this.host.now();
      this.#fault = undefined;
      return this.#keys;
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      this.#fault = new Error(`the key set at ${this.url.host} could not be read: ${reason}`, { cause: thrown });
      throw this.#fault;
    }
  }
}
