// Hot: runs for each call with a token.
// Tokens (JWT) in place of keys. A token that was verified before is found by its hash, synchronously; a new one waits for `verify`. Both the number of tokens
// that wait and the failures a second are limited. Each thread verifies each token once, and threads share nothing.

import { LRUCache } from 'lru-cache';
import { fail, isGatewayError } from '../errors/gateway-error.js';
import type { TokenSettings } from '../settings/read.js';
import { limitSpecs } from '../snapshot/limit-specs.js';
import type { Principal } from '../snapshot/principal.js';
import type { View } from '../snapshot/view.js';
import { hashKey } from './key.js';
import { clientOf } from './client-of.js';
import { claimsOf, type Claims } from './token-claims.js';
import { TokenKeys, type TokenKeysOptions } from './token-keys.js';
import { tokenCharsMax } from './token-shape.js';

type Jose = typeof import('jose');

const knownMax = 20_000;
const knownBytesMax = 32 * 1024 * 1024;
/** Bytes counted for an entry, beside those of its claims. */
const entryBytes = 1_024;
const refusedMax = 4_096;
/** Different tokens, verified or waiting for the keys that sign them, in one thread. */
const verifyingMax = 128;
/** Signatures that did not hold, in one thread, after which no new token is looked at in the same second: of one client, so that it keeps nobody else out, and of all. */
const failuresOfClientMax = 500;
const failuresPerSecondMax = 2_000;

export interface TokensOptions extends Pick<TokenKeysOptions, 'fetch' | 'onFault'> {
  readonly settings: TokenSettings;
  view(): View;
  now(): number;
  count(metric: string): void;
}

interface Known {
  readonly claims: Claims;
  /** Epoch of the view that the token was last checked against. */
  epoch: number;
  principal: Principal;
}

export class Tokens {
  readonly #options: TokensOptions;
  /** By hash. */
  readonly #known = new LRUCache<string, Known>({ max: knownMax, maxSize: knownBytesMax, sizeCalculation: ({ claims }) => entryBytes + bytesOf(claims) });
  /** Reasons of refused tokens, by hash. */
  readonly #refused = new LRUCache<string, string>({ max: refusedMax });
  readonly #running = new Map<string, Promise<void>>();
  #loading: Promise<{ readonly jose: Jose; readonly keys: TokenKeys }> | null = null;
  /** Incremented when the issuer's keys change. */
  #generation = 0;
  #second = 0;
  #failures = 0;
  /** Of this second, by client. */
  readonly #failuresOf = new Map<string, number>();

  constructor(options: TokensOptions) {
    this.#options = options;
  }

  /** Null: the token has not been verified here; call `verify` first. Throws TOKEN_INVALID, TOKEN_WORKSPACE_UNKNOWN. */
  find(token: string): Principal | null {
    if (token.length > tokenCharsMax) throw fail('TOKEN_INVALID', { reason: `it is longer than ${tokenCharsMax} characters` });
    const hash = hashKey(token);
    const known = this.#known.get(hash);
    if (known === undefined) {
      const reason = this.#refused.get(hash);
      if (reason !== undefined) throw fail('TOKEN_INVALID', { reason });
      return null;
    }
    const { claims, principal } = known;
    if (claims.expiresAtMs <= this.#options.now()) throw expired();
    const { epoch } = this.#options.view();
    if (known.epoch === epoch) return principal;
    // The view has changed: a slug may belong to another workspace now.
    known.principal = this.#principalOf(claims);
    known.epoch = epoch;
    return known.principal;
  }

  /** A token with this hash is valid, or was. */
  knows(hash: string): boolean {
    return this.#known.has(hash);
  }

  /** Resolves when `find` knows what to say of it. Rejects with TOKEN_INVALID, TOKEN_WORKSPACE_UNKNOWN, TOKENS_UNVERIFIABLE. `address` of the client, as text; empty: nobody knows. */
  verify(token: string, address = ''): Promise<void> {
    const hash = hashKey(token);
    const running = this.#running.get(hash);
    if (running !== undefined) return running;
    if (this.#running.size >= verifyingMax) return Promise.reject(busy());
    const verifying = this.#verify(token, hash, clientOf(address)).finally(() => this.#running.delete(hash));
    this.#running.set(hash, verifying);
    return verifying;
  }

  async #verify(token: string, hash: string, client: string): Promise<void> {
    const { settings } = this.#options;
    const { jose, keys } = await this.#load();
    try {
      const { alg } = headerOf(token, jose);
      if (alg === undefined || !settings.algorithms.includes(alg)) throw fail('TOKEN_INVALID', { reason: `it is not signed by ${settings.algorithms.join(' or ')}` });
      // An expired token is refused before the signature, which costs more, is checked.
      this.#checkTimes(payloadOf(token, jose));
      const key = await keys.find(headerOf(token, jose));
      const generation = this.#generation;
      const claims = claimsOf(await this.#signed(token, hash, key, jose, client), settings, hash);
      // Throws if the workspace does not exist; then the token stays unknown.
      const principal = this.#principalOf(claims);
      if (generation !== this.#generation) throw fail('TOKENS_UNVERIFIABLE', { reason: 'the keys that sign them were just changed' });
      this.#known.set(hash, { claims, epoch: this.#options.view().epoch, principal });
      this.#options.count('tokens.verified');
    } catch (thrown) {
      this.#options.count('tokens.refused');
      throw thrown;
    }
  }

  #checkTimes({ exp, nbf }: { readonly exp?: unknown; readonly nbf?: unknown }): void {
    const nowSeconds = this.#options.now() / 1000;
    const { clockSkewSeconds } = this.#options.settings;
    if (typeof exp !== 'number') throw fail('TOKEN_INVALID', { reason: 'it has no exp' });
    if (exp + clockSkewSeconds <= nowSeconds) throw expired();
    if (typeof nbf === 'number' && nbf - clockSkewSeconds > nowSeconds) throw fail('TOKEN_INVALID', { reason: 'it is not valid yet' });
  }

  async #signed(token: string, hash: string, key: Awaited<ReturnType<TokenKeys['find']>>, jose: Jose, client: string): Promise<Readonly<Record<string, unknown>>> {
    const { settings, now } = this.#options;
    this.#beginSecond();
    if (this.#failures >= failuresPerSecondMax || (this.#failuresOf.get(client) ?? 0) >= failuresOfClientMax) throw busy();
    // Counted before it is known, so that many at once stay within the bound.
    this.#count(client, 1);
    const second = this.#second;
    try {
      const { payload } = await jose.jwtVerify(token, key, {
        algorithms: [...settings.algorithms], clockTolerance: settings.clockSkewSeconds, currentDate: new Date(now()), requiredClaims: ['exp'],
        ...(settings.issuer === undefined ? {} : { issuer: settings.issuer }), ...(settings.audience.length === 0 ? {} : { audience: [...settings.audience] }),
      });
      if (second === this.#second) this.#count(client, -1);
      return payload;
    } catch (thrown) {
      const reason = reasonOfFault(thrown, jose);
      this.#refused.set(hash, reason);
      throw fail('TOKEN_INVALID', { reason }, thrown);
    }
  }

  #beginSecond(): void {
    const second = Math.floor(this.#options.now() / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#failures = 0;
    this.#failuresOf.clear();
  }

  #count(client: string, more: number): void {
    this.#failures += more;
    this.#failuresOf.set(client, (this.#failuresOf.get(client) ?? 0) + more);
  }

  #principalOf({ keyId, organisationId, workspace: named, scopes, type, expiresAtMs, issuedAtMs, defaults, facts }: Claims): Principal {
    const view = this.#options.view();
    if (!view.hasOrganisation(organisationId)) throw fail('TOKEN_INVALID', { reason: 'its organisation is not one of this gateway' });
    const workspace = named === undefined ? null : view.workspaceIn(organisationId, named, issuedAtMs);
    if (workspace === undefined) throw fail('TOKEN_WORKSPACE_UNKNOWN', { id: (named ?? '').slice(0, 64) });
    const limits = limitSpecs('token', facts.userId === null ? `${keyId}@${Math.ceil(expiresAtMs / 1000)}` : keyId.length > counterIdCharsMax ? keyId.slice(0, hashOfUserChars) : keyId, keyId, facts.rateLimits, facts.usageLimits);
    return Object.freeze({ keyId, organisationId, workspaceId: workspace === null ? '' : workspace.id, scopes, type, expiresAtMs, defaults, workspace, limits, token: facts });
  }

  /** The library is loaded with the first token. */
  #load(): Promise<{ readonly jose: Jose; readonly keys: TokenKeys }> {
    return this.#loading ??= import('jose').then((jose) => ({
      jose,
      keys: new TokenKeys({
        given: this.#options.settings.jwks, fetch: () => this.#options.fetch(), now: () => this.#options.now(), onFault: (reason) => this.#options.onFault(reason),
        onChange: () => {
          this.#generation += 1;
          this.#known.clear();
          this.#refused.clear();
        },
      }, jose),
    }));
  }
}

/** Counters go by the id of the caller: of a long one by its hash alone, since the ledger keeps no longer names; of no user with the time after which nobody goes on counting. */
const counterIdCharsMax = 200;
const hashOfUserChars = 20;
const expired = (): Error => fail('TOKEN_INVALID', { reason: 'it has expired; get a new one' });
const busy = (): Error => fail('TOKENS_UNVERIFIABLE', { reason: 'too many new ones have come' });

function headerOf(token: string, jose: Jose): ReturnType<Jose['decodeProtectedHeader']> & { readonly alg?: string } {
  try {
    return jose.decodeProtectedHeader(token);
  } catch (thrown) {
    throw fail('TOKEN_INVALID', { reason: 'its header cannot be read' }, thrown);
  }
}

function payloadOf(token: string, jose: Jose): ReturnType<Jose['decodeJwt']> {
  try {
    return jose.decodeJwt(token);
  } catch (thrown) {
    throw fail('TOKEN_INVALID', { reason: 'its claims cannot be read' }, thrown);
  }
}

/** Reason for the client, without any content of the token. */
function reasonOfFault(thrown: unknown, { errors }: Jose): string {
  if (isGatewayError(thrown)) return thrown.message;
  if (thrown instanceof errors.JWTExpired) return 'it has expired; get a new one';
  if (thrown instanceof errors.JWTClaimValidationFailed) return `its claim ${thrown.claim} is not what is asked for`;
  return 'its signature does not hold';
}

const bytesOf = ({ scopes, defaults, facts, keyId }: Claims): number =>
  2 * (keyId.length + [...scopes].reduce((sum, scope) => sum + scope.length + 16, 0) + JSON.stringify([defaults, facts]).length);
