// Hot: runs for each call.
// Request head -> principal, synchronously: one hash and one look into the snapshot. Keeps no key, and puts none into an error.

import { fail } from '../errors/gateway-error.js';
import { hashKey, keyCharsMax, looksLikeKey } from './key.js';
import type { KeyLookup, Principal } from './principal.js';

export interface AuthResult {
  readonly principal: Principal;
  /** Authorization carries a gateway key: it must not be forwarded. */
  readonly usedAuthorization: boolean;
}

export class Authenticator {
  readonly #lookup: KeyLookup;
  readonly #now: () => number;

  constructor(lookup: KeyLookup, now: () => number = Date.now) {
    this.#lookup = lookup;
    this.#now = now;
  }

  /** Throws KEY_MISSING or KEY_INVALID. */
  authenticate(apiKey: string | undefined, authorization: string | undefined): AuthResult {
    if (apiKey !== undefined && apiKey !== '') {
      const principal = this.#find(apiKey);
      if (principal === undefined || this.#isExpired(principal)) throw fail('KEY_INVALID');
      return { principal, usedAuthorization: authorization !== undefined && this.#carriesKey(authorization, apiKey) };
    }
    const bearer = authorization === undefined ? undefined : bearerOf(authorization);
    if (bearer === undefined || bearer === '') throw fail('KEY_MISSING');
    const principal = this.#lookup.mayBeKey(bearer) ? this.#find(bearer) : undefined;
    // A key of a provider is none of ours: what is missing is the gateway's.
    if (principal === undefined) throw fail(looksLikeKey(bearer) ? 'KEY_INVALID' : 'KEY_MISSING');
    if (this.#isExpired(principal)) throw fail('KEY_INVALID');
    return { principal, usedAuthorization: true };
  }

  #find(key: string): Principal | undefined {
    // A header may be as long as the header cap; what cannot be a key is not hashed.
    if (key.length > keyCharsMax) return undefined;
    return this.#lookup.principalByKeyHash(hashKey(key));
  }

  #isExpired(principal: Principal): boolean {
    return principal.expiresAtMs !== Infinity && principal.expiresAtMs <= this.#now();
  }

  /** Any of our keys, the expired ones too, with or without a scheme in front. */
  #carriesKey(authorization: string, apiKey: string): boolean {
    const text = bearerOf(authorization) ?? authorization.trim();
    if (text === apiKey) return true;
    return this.#lookup.mayBeKey(text) && this.#find(text) !== undefined;
  }
}

/** The credentials of the scheme Bearer (any case, RFC 9110 section 11.1); undefined for another scheme. */
function bearerOf(authorization: string): string | undefined {
  if (authorization.length < 7 || authorization.charCodeAt(6) !== 0x20) return undefined;
  if (!authorization.startsWith('Bearer') && authorization.slice(0, 6).toLowerCase() !== 'bearer') return undefined;
  return authorization.slice(7).trim();
}
