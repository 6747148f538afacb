// The issuer's public keys, which verify tokens: those of the settings, or a set (JWKS) that is fetched, and fetched again when it is old or a token names a key that is
// not in it. The last good set stays in use while fetching fails. Runs for tokens that are seen for the first time, never for a call with a known one.

import { isObject } from '@gateway/plugin-sdk';
import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters, LocalJWKSet } from 'jose';
import { fail, reasonOf } from '../errors/gateway-error.js';
import type { UpstreamClient } from '../upstream/client.js';
import { fetchBytes } from '../upstream/fetch-bytes.js';

type Jose = typeof import('jose');

const keySetBytesMax = 256 * 1024;
const keysMax = 100;
const fetchMsMax = 5_000;
/** Age after which the set is fetched again, beside the calls. */
const ageMsMax = 600_000;
/** Pause after a fetch, good or failed, before an unknown key causes the next one. */
const cooldownMs = 30_000;
/** The same pause while there are no keys at all. */
const retryMs = 1_000;
/** Tokens of one thread that wait for the set. */
const waitingMax = 64;
/** Members of a public JWK that are kept. All others are dropped, private parts above all. */
const publicMembers: readonly string[] = ['kty', 'kid', 'use', 'alg', 'key_ops', 'n', 'e', 'crv', 'x', 'y'];
/** Keys of other types are symmetric: whoever can verify with them can also sign. */
const publicTypes: readonly unknown[] = ['RSA', 'EC', 'OKP'];

export interface TokenKeysOptions {
  /** JWKS of the settings; undefined: it is fetched. */
  readonly given: Readonly<Record<string, unknown>> | undefined;
  /** Fetches the JWKS as text. Rejects when that fails. */
  fetch(): Promise<string>;
  now(): number;
  /** Called when the keys have changed: tokens that the former keys verified must be verified again. */
  onChange(): void;
  onFault(reason: string): void;
}

export class TokenKeys {
  readonly #options: TokenKeysOptions;
  readonly #jose: Jose;
  #set: LocalJWKSet | null = null;
  #text = '';
  #fetchedAtMs = -Infinity;
  #triedAtMs = -Infinity;
  #reason = '';
  #fetching: Promise<void> | null = null;
  #waiting = 0;

  /** Throws when the keys of the settings cannot be used. */
  constructor(options: TokenKeysOptions, jose: Jose) {
    this.#options = options;
    this.#jose = jose;
    if (options.given !== undefined) this.#use(publicKeysIn(options.given));
  }

  /** The key that verifies a token. Throws TOKEN_INVALID if the set has no such key, TOKENS_UNVERIFIABLE if the set could not be fetched. */
  async find(header: JWSHeaderParameters): Promise<CryptoKey> {
    if (this.#options.given === undefined) {
      if (this.#set === null) await this.#first();
      else if (this.#isOld()) this.#fetchSoon().catch((thrown: unknown) => this.#options.onFault(reasonOf(thrown)));
    }
    const known = await this.#look(header);
    if (known !== undefined) return known;
    if (this.#options.given === undefined && (this.#fetching !== null || this.#hasCooled(cooldownMs))) {
      await this.#wait();
      const fresh = await this.#look(header);
      if (fresh !== undefined) return fresh;
    }
    throw fail('TOKEN_INVALID', { reason: 'its kid names no key that tokens are signed with' });
  }

  async #first(): Promise<void> {
    if (this.#fetching !== null || this.#hasCooled(retryMs)) await this.#wait();
    if (this.#set === null) throw fail('TOKENS_UNVERIFIABLE', { reason: `the keys that sign them could not be fetched (${this.#reason})` });
  }

  /** Undefined: the set has no such key, or several that fit. */
  async #look(header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
    try {
      return await this.#set?.(header);
    } catch (thrown) {
      if (thrown instanceof this.#jose.errors.JWKSNoMatchingKey) return undefined;
      throw fail('TOKEN_INVALID', { reason: thrown instanceof this.#jose.errors.JWKSMultipleMatchingKeys ? 'it has no kid, and more than one key could have signed it' : 'the key that it names cannot be used' }, thrown);
    }
  }

  #isOld(): boolean {
    return this.#options.now() - this.#fetchedAtMs > ageMsMax && this.#hasCooled(cooldownMs);
  }

  #hasCooled(ms: number): boolean {
    return this.#options.now() - this.#triedAtMs >= ms;
  }

  async #wait(): Promise<void> {
    if (this.#waiting >= waitingMax) throw fail('TOKENS_UNVERIFIABLE', { reason: `${waitingMax} others wait for the keys already` });
    this.#waiting += 1;
    try {
      await this.#fetchSoon();
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Never rejects. */
  #fetchSoon(): Promise<void> {
    return this.#fetching ??= this.#fetch().finally(() => { this.#fetching = null; });
  }

  async #fetch(): Promise<void> {
    this.#triedAtMs = this.#options.now();
    try {
      this.#use(publicKeysIn(parsed(await this.#options.fetch())));
      this.#fetchedAtMs = this.#options.now();
    } catch (thrown) {
      this.#reason = reasonOf(thrown);
      this.#options.onFault(this.#reason);
    }
  }

  #use(keys: JSONWebKeySet): void {
    const text = JSON.stringify(keys);
    if (text === this.#text) return;
    this.#set = this.#jose.createLocalJWKSet(keys);
    this.#text = text;
    this.#options.onChange();
  }
}

/** Fetches the text at the address. Redirects are not followed. Rejects if the status is not 200. */
export async function fetchKeySet(upstream: UpstreamClient, url: string): Promise<string> {
  const answer = await fetchBytes(upstream, { url, headers: { accept: 'application/json' }, timeoutMs: fetchMsMax, bytesMax: keySetBytesMax }, keySetBytesMax);
  if (answer.status !== 200) throw new Error(`the answer has status ${answer.status}`);
  return Buffer.from(await answer.bytes()).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the answer is not JSON');
  }
}

/** The public signature keys of a JWKS. Throws when there is none. */
function publicKeysIn(value: unknown): JSONWebKeySet {
  const listed: unknown = isObject(value) ? value.keys : undefined;
  if (!Array.isArray(listed)) throw new Error('the answer is not a JSON Web Key Set');
  if (listed.length > keysMax) throw new Error(`the set has more than ${keysMax} keys`);
  const keys = listed.filter((each) => isObject(each) && publicTypes.includes(each.kty) && (each.use ?? 'sig') === 'sig')
    .map((each: Readonly<Record<string, unknown>>) => Object.fromEntries(publicMembers.flatMap((name) => (each[name] === undefined ? [] : [[name, each[name]]]))));
  if (keys.length === 0) throw new Error('the set has no public key for signatures');
  return { keys: keys.map((key) => ({ ...key, kty: String(key.kty) })) };
}
