import { isObject, type Host, type JsonObject } from '@gateway/plugin-sdk';
import type { CompactJWSHeaderParameters, FlattenedJWSInput, compactVerify, errors } from 'jose';
import { LRUCache } from 'lru-cache';
import { Buffer } from 'node:buffer';
import type { Keys, KeySource } from './key-source.js';

export interface Jose {
  readonly compactVerify: typeof compactVerify;
  readonly errors: typeof errors;
}

/** A token that is refused; the message is for the client. */
export class Refusal extends Error {}

/** Tokens whose signature was right, by their digest. */
const verifiedMax = 2000;

export interface ClaimLimits {
  readonly toleranceSeconds: number;
  /** 0: tokens may be of any age, and need no `iat`. */
  readonly ageMaxSeconds: number;
}

/** Signatures. One that was right is not computed again while the key set is the same; times are judged each time. */
export class Verifier {
  readonly #verified = new LRUCache<string, { readonly claims: JsonObject; readonly generation: number }>({ max: verifiedMax });

  constructor(readonly host: Host, readonly jose: Jose, readonly source: KeySource, readonly algorithms: readonly string[]) {}

  async claimsOf(token: string, digest: string): Promise<JsonObject> {
    const keys = await this.source.current();
    const known = this.#verified.get(digest);
    if (known?.generation === keys.generation) return known.claims;
    const { payload, generation } = await this.#verify(token, keys);
    let claims: unknown;
    try {
      claims = JSON.parse(Buffer.from(payload).toString());
    } catch {
      claims = undefined;
    }
    if (!isObject(claims)) throw new Refusal('the token holds no claims');
    this.#verified.set(digest, { claims, generation });
    return claims;
  }

  async #verify(token: string, keys: Keys): Promise<{ readonly payload: Uint8Array; readonly generation: number }> {
    const { compactVerify: verify, errors: faults } = this.jose;
    let used = keys;
    let outage: unknown;
    const find = async (header: CompactJWSHeaderParameters, input: FlattenedJWSInput) => {
      try {
        return await keys.find(header, input);
      } catch (thrown) {
        if (!(thrown instanceof faults.JWKSNoMatchingKey)) throw thrown;
        try {
          used = await this.source.newer(keys);
        } catch (fault) {
          outage = fault;
          throw fault;
        }
        if (used === keys) throw thrown;
        return used.find(header, input);
      }
    };
    try {
      const { payload } = await verify(token, find, { algorithms: [...this.algorithms] });
      return { payload, generation: used.generation };
    } catch (thrown) {
      if (outage !== undefined) throw outage;
      if (thrown instanceof faults.JOSEError) throw new Refusal(reasons[thrown.code] ?? 'the token is not valid');
      // The runtime's own errors over a token: a key that does not suit the algorithm, for one.
      throw new Error('the signature of the token could not be computed with the key of the set', { cause: thrown });
    }
  }
}

const reasons: Readonly<Record<string, string>> = {
  ERR_JOSE_ALG_NOT_ALLOWED: 'the token is signed with an algorithm that is not allowed',
  ERR_JOSE_NOT_SUPPORTED: 'the token is signed with an algorithm that is not allowed',
  ERR_JWKS_NO_MATCHING_KEY: 'the token is signed with a key that is not in the key set',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'the token does not say which of several keys it is signed with',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'the signature of the token is wrong',
  ERR_JWS_INVALID: 'the token is not a signed JSON web token',
};

/** Throws a Refusal when the times of the claims do not allow them now (RFC 7519, sections 4.1.4 to 4.1.6). */
export function judgeTimes(claims: JsonObject, nowMs: number, { toleranceSeconds, ageMaxSeconds }: ClaimLimits): void {
  const now = Math.floor(nowMs / 1000);
  const expires = timeOf(claims, 'exp');
  if (expires !== undefined && expires <= now - toleranceSeconds) throw new Refusal('the token has expired');
  const begins = timeOf(claims, 'nbf');
  if (begins !== undefined && begins > now + toleranceSeconds) throw new Refusal('the token is not valid yet');
  if (ageMaxSeconds === 0) return;
  const issued = timeOf(claims, 'iat');
  if (issued === undefined) throw new Refusal('the token does not say when it was issued (iat)');
  if (issued > now + toleranceSeconds) throw new Refusal('the token was issued in the future');
  if (issued < now - ageMaxSeconds - toleranceSeconds) throw new Refusal('the token is too old');
}

function timeOf(claims: JsonObject, name: string): number | undefined {
  const value = claims[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'number') throw new Refusal(`the claim ${name} of the token is not a time`);
  return value;
}
