// The settings for tokens (JWT) in place of API keys: the keys that verify them, and the claims that they must have. Runs once at start.

import { isObject } from '@gateway/plugin-sdk';
import type { NoteFault } from './faults.js';
import { tokenClaims, tokenFacts, type CheckedSettings, type TokenFact } from './schema.js';

/** Holds only plain data: it is copied to threads. */
export interface TokenSettings {
  /** Undefined: the keys are `jwks`. */
  readonly jwksUrl: string | undefined;
  readonly jwks: Readonly<Record<string, unknown>> | undefined;
  readonly algorithms: readonly string[];
  readonly issuer: string | undefined;
  /** Empty: any. */
  readonly audience: readonly string[];
  readonly clockSkewSeconds: number;
  readonly claims: Readonly<Record<TokenFact, string>>;
}

type Given = Pick<CheckedSettings, 'jwt_jwks_url' | 'jwt_jwks' | 'jwt_algorithms' | 'jwt_issuer' | 'jwt_audience' | 'jwt_clock_skew_seconds' | 'jwt_claims'>;

/** Null without keys, and with a fault. */
export function tokenSettings(given: Given, note: NoteFault): TokenSettings | null {
  const { jwt_jwks_url: url, jwt_jwks: keys } = given;
  if (url === undefined && keys === undefined) {
    if (given.jwt_issuer !== undefined || given.jwt_audience.length > 0) note('jwt_issuer and jwt_audience say nothing without keys; give jwt_jwks_url or jwt_jwks, too', ['jwt_jwks_url']);
    return null;
  }
  if (url !== undefined && keys !== undefined) {
    note('jwt_jwks_url and jwt_jwks are both given; keep one', ['jwt_jwks_url', 'jwt_jwks']);
    return null;
  }
  if (url !== undefined && !isPlainUrl(url)) {
    note('jwt_jwks_url must be a URL without a user name or password', ['jwt_jwks_url']);
    return null;
  }
  const jwks = keys === undefined ? undefined : typeof keys === 'string' ? parsed(keys) : keys;
  if (keys !== undefined && (jwks === undefined || !Array.isArray(jwks.keys) || jwks.keys.length === 0)) {
    note('jwt_jwks must be a JSON Web Key Set with at least one key, {"keys": [...]}', ['jwt_jwks']);
    return null;
  }
  const claims: Record<TokenFact, string> = { ...tokenClaims };
  for (const entry of given.jwt_claims) {
    const at = entry.indexOf('=');
    const fact = tokenFacts.find((name) => name === entry.slice(0, at));
    if (fact !== undefined) claims[fact] = entry.slice(at + 1);
  }
  return Object.freeze({
    jwksUrl: url, jwks, algorithms: Object.freeze([...given.jwt_algorithms]), issuer: given.jwt_issuer, audience: Object.freeze([...given.jwt_audience]), clockSkewSeconds: given.jwt_clock_skew_seconds, claims: Object.freeze(claims),
  });
}

function isPlainUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && url.username === '' && url.password === '';
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
