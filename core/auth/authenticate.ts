// Hot: runs for each call.
// Request head -> principal, synchronously: one hash and one look into the snapshot. Takes every key of ours out of the head, so that nothing
// behind it can send one on. Keeps no key, and puts none into an error. A token in the place of a key is found the same way once it was verified.

import { fail } from '../errors/gateway-error.js';
import type { RequestHead } from '../exchange/request-head.js';
import { KeyFinder } from './key-finder.js';
import { givenKeyCharsMin, hashKey, keyCharsMax, looksLikeKey } from './key.js';
import type { KeyLookup, Principal } from './principal.js';
import { looksLikeToken } from './token-shape.js';
import type { Tokens } from './tokens.js';

/** Where clients of other APIs put their key: Anthropic's, Azure's and Google's. */
const keyHeaders = ['x-api-key', 'api-key', 'x-goog-api-key'];

export class Authenticator {
  readonly #lookup: KeyLookup;
  readonly #finder: KeyFinder;
  readonly #now: () => number;
  readonly #tokens: Tokens | null;

  /** `tokens` null: keys alone are taken. */
  constructor(lookup: KeyLookup, now: () => number = Date.now, tokens: Tokens | null = null) {
    this.#lookup = lookup;
    this.#finder = new KeyFinder(lookup, tokens);
    this.#now = now;
    this.#tokens = tokens;
  }

  /**
   * Null: the call has a token that is not known here; when `verify` has resolved, ask again. Throws KEY_MISSING, KEY_INVALID, TOKEN_INVALID,
   * TOKEN_WORKSPACE_UNKNOWN, or PATH_INVALID for a key in a path, where nothing can be left out.
   */
  authenticate(head: RequestHead): Principal | null {
    const { apiKey } = head;
    const principal = apiKey === undefined || apiKey === '' ? this.#takeCarried(head) : this.#find(apiKey) ?? this.#byToken(apiKey);
    if (principal === null) return null;
    if (principal === undefined || this.#isExpired(principal)) {
      this.#isTakenFrom(head);
      throw fail('KEY_INVALID');
    }
    this.#takeOut(head);
    return principal;
  }

  /** Looks at the token for which `authenticate` said null. Rejects with what is wrong with it, or why nobody can say. `address` of the client, as text. */
  verify(head: RequestHead, address: string): Promise<void> {
    const token = head.apiKey === undefined || head.apiKey === '' ? carriedToken(head) : head.apiKey.trim();
    return this.#tokens === null || token === undefined ? Promise.reject(fail('KEY_INVALID')) : this.#tokens.verify(token, address);
  }

  /** A key stood in the path, which the log would tell. */
  #isTakenFrom(head: RequestHead): boolean {
    if (!this.#finder.isIn(head.path)) return false;
    head.path = '/';
    return true;
  }

  /** One of our keys, the expired ones too, is or stands in `text`. */
  holdsKey(text: string): boolean {
    return this.#finder.isIn(text);
  }

  /** Undefined: something is shaped like a key of ours, and is none. Null: a token. */
  #takeCarried(head: RequestHead): Principal | undefined | null {
    const bearer = head.authorization === undefined ? undefined : bearerOf(head.authorization);
    let principal = bearer === undefined ? undefined : this.#findOurs(bearer);
    if (principal !== undefined) {
      head.authorization = undefined;
      return principal;
    }
    let looksLikeOurs = bearer !== undefined && looksLikeKey(bearer);
    for (const name of keyHeaders) {
      const key = head.header(name)?.trim();
      if (key === undefined) continue;
      principal = this.#findOurs(key);
      if (principal !== undefined) return principal;
      looksLikeOurs ||= looksLikeKey(key);
    }
    const token = this.#tokens === null ? undefined : carriedToken(head);
    if (token !== undefined) return this.#byToken(token);
    // A key of a provider is none of ours: what is missing is the gateway's.
    if (!looksLikeOurs) {
      this.#isTakenFrom(head);
      throw fail('KEY_MISSING');
    }
    return undefined;
  }

  /** Undefined: it is not a token, or none are taken. Null: it is not known. */
  #byToken(text: string): Principal | undefined | null {
    const token = text.trim();
    return this.#tokens !== null && looksLikeToken(token) ? this.#tokens.find(token) : undefined;
  }

  #findOurs(key: string): Principal | undefined {
    return this.#lookup.mayBeKey(key) ? this.#find(key) : undefined;
  }

  #find(key: string): Principal | undefined {
    // A header may be as long as the header cap; what cannot be a key is not hashed.
    if (key.length > keyCharsMax) return undefined;
    return this.#lookup.principalByKeyHash(hashKey(key));
  }

  #isExpired(principal: Principal): boolean {
    return principal.expiresAtMs !== Infinity && principal.expiresAtMs <= this.#now();
  }

  #takeOut(head: RequestHead): void {
    if (head.authorization !== undefined && this.#finder.isIn(head.authorization)) head.authorization = undefined;
    this.#takeOutOf(head.headers, head);
    if (head.gatewayHeaders.length > 0) this.#takeOutOf(head.gatewayHeaders, head);
    if (head.query !== '') head.query = this.#finder.queryWithout(head.query);
    if (this.#isTakenFrom(head)) throw fail('PATH_INVALID', { reason: 'it holds an API key of this gateway; send keys in headers', param: 'path' });
  }

  #takeOutOf(list: string[], head: RequestHead): void {
    for (let index = list.length - 2; index >= 0; index -= 2) {
      const value = list[index + 1] as string;
      if (value.length < givenKeyCharsMin || !this.#finder.isIn(value)) continue;
      if (list[index] === 'content-type') head.contentType = '';
      list.splice(index, 2);
    }
  }
}

/** A token where clients put their keys; undefined: there is none. */
function carriedToken(head: RequestHead): string | undefined {
  const bearer = head.authorization === undefined ? undefined : bearerOf(head.authorization);
  if (bearer !== undefined && looksLikeToken(bearer)) return bearer;
  for (const name of keyHeaders) {
    const text = head.header(name)?.trim();
    if (text !== undefined && looksLikeToken(text)) return text;
  }
  return undefined;
}

/** The credentials of the scheme Bearer (any case, RFC 9110 section 11.1); undefined for another scheme. */
function bearerOf(authorization: string): string | undefined {
  if (authorization.length < 8) return undefined;
  const gap = authorization.charCodeAt(6);
  if (gap !== 0x20 && gap !== 0x09) return undefined;
  if (!authorization.startsWith('Bearer') && authorization.slice(0, 6).toLowerCase() !== 'bearer') return undefined;
  return authorization.slice(7).trim();
}
