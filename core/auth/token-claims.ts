// Reads the claims of a token whose signature is valid, under the names from the settings. A claim that is malformed
// makes the token invalid, because ignoring a limit would widen it.

import { isObject } from '@gateway/plugin-sdk';
import { Ajv, type ValidateFunction } from 'ajv';
import { createHash } from 'node:crypto';
import { fail } from '../errors/gateway-error.js';
import type { TokenSettings } from '../settings/read.js';
import type { KeyDefaults, TokenFacts } from '../snapshot/principal.js';
import type { KeyType } from '../storage/tables/api-keys.js';
import { rateLimit, usageLimits } from '../storage/tables/limits.js';
import { scopesOfTokens } from './scopes.js';

const nameCharsMax = 255;
const scopesMax = 1_000;
const metadataMax = 64;
const metadataCharsMax = 128;
const limitsMax = 16;

export interface Claims {
  readonly keyId: string;
  readonly organisationId: string;
  /** Id or slug; undefined: the token is for the organisation. */
  readonly workspace: string | undefined;
  readonly type: KeyType;
  readonly scopes: ReadonlySet<string>;
  readonly defaults: KeyDefaults | null;
  readonly facts: TokenFacts;
  readonly expiresAtMs: number;
  /** Infinity: it does not say. */
  readonly issuedAtMs: number;
}

type Payload = Readonly<Record<string, unknown>>;

const refuse = (reason: string): Error => fail('TOKEN_INVALID', { reason });

/** Throws TOKEN_INVALID. */
export function claimsOf(payload: Payload, { claims: names, clockSkewSeconds }: TokenSettings, hash: string): Claims {
  const claim = (name: string): unknown => (Object.hasOwn(payload, name) ? payload[name] ?? undefined : undefined);
  // Less would mean more: an attribute that somebody lacks, or has emptied, makes no key of the organisation, nor one of a service.
  for (const name of [names.workspace, names.user]) if (Object.hasOwn(payload, name) && (payload[name] === null || payload[name] === '')) throw refuse(`its claim ${name} is empty; it is left out or says something`);
  const organisationId = textOf(claim(names.organisation), names.organisation);
  if (organisationId === undefined) throw refuse(`it names no organisation; the claim ${names.organisation} has to hold its id`);
  const workspace = textOf(claim(names.workspace), names.workspace);
  const userId = textOf(claim(names.user), names.user) ?? null;
  const type: KeyType = workspace === undefined ? 'organisation-service' : userId === null ? 'workspace-service' : 'workspace-user';
  const { exp } = payload;
  if (typeof exp !== 'number') throw refuse('it has no exp');
  // `scope` and `scopes` are both in use; if the operator names another claim, only that is read.
  const scopes = claim(names.scopes) ?? (names.scopes === 'scope' ? claim('scopes') : undefined);
  return Object.freeze({
    keyId: keyIdOf(organisationId, workspace ?? '', userId, hash), organisationId, workspace, type,
    scopes: scopesOf(scopes, type, names.scopes),
    defaults: defaultsOf(claim(names.defaults), names.defaults),
    facts: Object.freeze({ userId, usageLimits: limitsOf(claim(names.usage_limits), names.usage_limits, isUsageLimits), rateLimits: limitsOf(claim(names.rate_limits), names.rate_limits, isRateLimit) }),
    expiresAtMs: (exp + clockSkewSeconds) * 1000, issuedAtMs: typeof payload.iat === 'number' ? (payload.iat + 1 + clockSkewSeconds) * 1000 : Infinity,
  });
}

/** Id of the caller in the log, the audit log and limits: the same for all tokens of a user in a workspace. */
function keyIdOf(organisationId: string, workspace: string, userId: string | null, hash: string): string {
  if (userId === null) return `jwt:${hash.slice(0, 32)}`;
  const whole = createHash('sha256').update(JSON.stringify([organisationId, workspace, userId])).digest('hex');
  return `jwt:${whole.slice(0, 16)}:${userId}`;
}

function textOf(value: unknown, name: string): string | undefined {
  if (value === undefined || value === '') return undefined;
  // Logs and answers show them.
  if (typeof value !== 'string' || value.length > nameCharsMax || /\p{Cc}/u.test(value)) throw refuse(`its claim ${name} is not a text of at most ${nameCharsMax} characters`);
  return value;
}

/** Leaves out scopes that the gateway does not know, or that a key of this type cannot have: they are meant for other services. */
function scopesOf(value: unknown, type: KeyType, name: string): ReadonlySet<string> {
  const given: readonly unknown[] | undefined = value === undefined ? [] : typeof value === 'string' ? value.split(/\s+/) : Array.isArray(value) ? value : undefined;
  if (given === undefined || given.length > scopesMax) throw refuse(`its claim ${name} is neither a text nor a list of at most ${scopesMax}`);
  const known = scopesOfTokens[type];
  return new Set(given.filter((scope): scope is string => typeof scope === 'string' && known.has(scope)));
}

function defaultsOf(value: unknown, name: string): KeyDefaults | null {
  if (value === undefined) return null;
  if (!isObject(value)) throw refuse(`its claim ${name} is not an object`);
  const config = textOf(value.config_id ?? undefined, `${name}.config_id`);
  const metadata = metadataOf(value.metadata ?? undefined, `${name}.metadata`);
  const allowsConfig = value.allow_config_override !== false;
  if (config === undefined && metadata === null && allowsConfig) return null;
  return Object.freeze({ config, provider: undefined, allowsConfig, metadata, isOfMember: false });
}

function metadataOf(value: unknown, name: string): Readonly<Record<string, string>> | null {
  if (value === undefined) return null;
  const entries = isObject(value) ? Object.entries(value) : [];
  const isWell = isObject(value) && entries.length <= metadataMax && entries.every(([key, text]) => key.length <= metadataCharsMax && typeof text === 'string' && text.length <= metadataCharsMax);
  if (!isWell) throw refuse(`its claim ${name} is not an object of at most ${metadataMax} texts of at most ${metadataCharsMax} characters`);
  return entries.length === 0 ? null : Object.freeze(Object.fromEntries(entries.map(([key, text]) => [key, String(text)])));
}

let compiled: { readonly usage: ValidateFunction; readonly rate: ValidateFunction } | undefined = undefined;
const validators = (): NonNullable<typeof compiled> => {
  const ajv = new Ajv({ allowUnionTypes: true });
  return compiled ??= { usage: ajv.compile(usageLimits), rate: ajv.compile(rateLimit) };
};
const isUsageLimits = (value: unknown): boolean => validators().usage(value);
const isRateLimit = (value: unknown): boolean => validators().rate(value);

/** One object, or a list of them. */
function limitsOf(value: unknown, name: string, isLimit: (value: unknown) => boolean): readonly Readonly<Record<string, unknown>>[] {
  if (value === undefined) return none;
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const limits = list.filter((each): each is Readonly<Record<string, unknown>> => isObject(each) && isLimit(each));
  if (limits.length !== list.length || list.length > limitsMax) throw refuse(`its claim ${name} is not as limits of a key are written`);
  return Object.freeze(limits.map((each) => Object.freeze({ ...each })));
}

const none: readonly Readonly<Record<string, unknown>>[] = Object.freeze([]);
