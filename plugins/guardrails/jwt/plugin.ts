import { createHash } from 'node:crypto';
import { defineGuardrail, isObject, ParameterError, type Host, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { JSONWebKeySet } from 'jose';
import { anyValue } from '../common/request/any-value.js';
import { readHeaders } from '../common/request/outbound-headers.js';
import { readUrl } from '../common/request/outbound-url.js';
import { verdictOf } from '../common/request/verdict.js';
import { matchTypes } from '../common/request/wanted-value.js';
import { PatternBudget } from '../common/text/pattern-size.js';
import { compileClaims } from './claims.js';
import { readDuration } from './duration.js';
import { fixedKeys, RemoteKeys, type KeySource } from './key-source.js';
import { judgeTimes, Refusal, Verifier } from './verifier.js';

/** Signatures that a public key can prove. A shared secret has no place in a key set, so nothing with HMAC, and never `none`. */
const algorithmNames: readonly string[] = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
const tokenCharactersMax = 16_384;
const notesKey = 'default.jwt.claims';

const params = {
  type: 'object',
  properties: {
    jwksUri: { type: 'string', description: 'Address of the key set (JWKS), http or https.' },
    jwks: { type: 'object', properties: {}, additionalProperties: true, description: 'The key set itself, in place of jwksUri: {"keys": [...]} with public keys.' },
    headerKey: { type: 'string', default: 'authorization', description: 'Header with the token, with or without Bearer in front; upper or lower case.' },
    cacheMaxAge: { type: 'integer', minimum: 1, default: 86_400, description: 'Seconds for which a fetched key set is used.' },
    clockTolerance: { type: 'number', minimum: 0, default: 5, description: 'Seconds by which clocks may differ.' },
    maxTokenAge: anyValue('Longest time since a token was issued: seconds, or a text such as 12h or 1d; 0 for any age. Default 1d.'),
    algorithms: {
      type: 'array', items: { type: 'string' }, minItems: 1, default: ['RS256'], description: `Signature algorithms that are accepted, of ${algorithmNames.join(', ')}.`,
    },
    introspectEndpoint: { type: 'string', description: 'Address that says whether a token is active (RFC 7662), asked beside or in place of a key set.' },
    introspectContentType: {
      type: 'string', enum: ['application/x-www-form-urlencoded', 'application/json'], default: 'application/x-www-form-urlencoded',
      description: 'How the token is sent there.',
    },
    introspectHeaders: anyValue('Headers for that address, such as its own authorization: an object of texts, or such an object as JSON text.', { secret: true }),
    introspectCacheMaxAge: { type: 'integer', minimum: 0, default: 0, description: 'Seconds for which a token that was active is not asked about again.' },
    requiredClaims: { type: 'array', items: { type: 'string' }, description: 'Claims that must be there.' },
    claimValues: {
      type: 'object', properties: {}, description: 'Wanted values by claim.',
      additionalProperties: {
        type: 'object',
        properties: {
          values: anyValue('A text, a number, true or false, or a list of these.'),
          matchType: { type: 'string', enum: matchTypes, default: 'exact', description: 'As in default.requiredMetadataKeyPairs.' },
        },
      },
    },
    headerPayloadMatch: { type: 'array', items: { type: 'string' }, description: 'Names that are a header and a claim at once: both must be there and be equal.' },
    extractClaims: { type: 'array', items: { type: 'string' }, description: 'Claims that are shown in data.claims and noted for other plugins.' },
    claimPrefix: { type: 'string', default: 'x-jwt-', description: 'What stands before their names there.' },
  },
} as const;

export default defineGuardrail({
  title: 'JSON web token',
  describe: 'Passes when a header of the request carries a token that is signed by a known key, or active by introspection, and has the claims that are wanted.',
  stages: ['input'],
  needs: { request: 'head' },
  params,
  create: async (given, host) => {
    const headerName = given.headerKey.trim().toLowerCase();
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(headerName)) throw new ParameterError('headerKey', 'must be the name of a header');
    for (const [index, name] of given.algorithms.entries()) {
      if (!algorithmNames.includes(name)) throw new ParameterError(`algorithms[${index}]`, `cannot be proven with a public key; use one of ${algorithmNames.join(', ')}`);
    }
    if (given.algorithms.length === 0) throw new ParameterError('algorithms', 'must name at least one algorithm');
    const limits = { toleranceSeconds: given.clockTolerance, ageMaxSeconds: readDuration(given.maxTokenAge ?? '1d', 'maxTokenAge') };
    const verifier = await makeVerifier(given, host);
    const introspection = await makeIntrospection(given, host);
    if (verifier === undefined && introspection === undefined) {
      throw new ParameterError('jwksUri', 'is needed, or jwks, or introspectEndpoint: something has to vouch for the token');
    }
    const budget = new PatternBudget();
    const judgeClaims = await compileClaims(given, budget);
    const extracted = given.extractClaims ?? [];

    return {
      weight: budget.weight,
      async evaluate({ exchange }) {
        let claims: JsonObject;
        try {
          const token = tokenOf(exchange.request.header(headerName));
          const digest = createHash('sha256').update(token).digest('base64');
          const signed = verifier === undefined ? undefined : await verifier.claimsOf(token, digest);
          if (signed !== undefined) judgeTimes(signed, host.now(), limits);
          const active = introspection === undefined ? undefined : await introspection.claimsOf(token, digest);
          if (introspection !== undefined && active === undefined) throw new Refusal('the token is not active');
          // Services need not repeat when they issued it; that it has not expired they vouch for.
          if (active !== undefined && signed === undefined) judgeTimes(active, host.now(), active.iat === undefined ? { ...limits, ageMaxSeconds: 0 } : limits);
          claims = { ...active, ...signed };
        } catch (thrown) {
          if (!(thrown instanceof Refusal)) throw thrown;
          return verdictOf(false, thrown.message, { validations: { signatureValid: false } });
        }
        const { validations, fault } = judgeClaims(claims, exchange);
        const shown: Record<string, Json> = {};
        for (const name of fault === undefined ? extracted : []) {
          const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
          if (value !== undefined) shown[`${given.claimPrefix}${name}`] = value;
        }
        if (Object.keys(shown).length > 0) exchange.notes.set(notesKey, shown);
        return verdictOf(fault === undefined, fault ?? 'the token is valid', {
          validations: { signatureValid: true, ...validations }, ...(extracted.length === 0 ? {} : { claims: shown }),
        });
      },
    };
  },
});

interface SourceParams {
  readonly jwksUri?: string;
  readonly jwks?: unknown;
  readonly cacheMaxAge: number;
  readonly algorithms: readonly string[];
}

async function makeVerifier({ jwksUri, jwks, cacheMaxAge, algorithms }: SourceParams, host: Host): Promise<Verifier | undefined> {
  if (jwksUri !== undefined && jwks !== undefined) throw new ParameterError('jwks', 'cannot stand beside jwksUri; keep one of the two');
  if (jwksUri === undefined && jwks === undefined) return undefined;
  const jose = await import('jose');
  let source: KeySource;
  if (jwksUri !== undefined) {
    source = new RemoteKeys(host, readUrl(jwksUri, 'jwksUri'), cacheMaxAge * 1000, jose.createLocalJWKSet);
  } else {
    if (!isObject(jwks) || !Array.isArray(jwks.keys) || jwks.keys.length === 0) throw new ParameterError('jwks', 'must be {"keys": [...]} with at least one key');
    for (const [index, key] of (jwks.keys as readonly Json[]).entries()) {
      if (!isObject(key) || typeof key.kty !== 'string') throw new ParameterError(`jwks.keys[${index}]`, 'must be a JSON web key');
      if (key.kty === 'oct' || key.d !== undefined || key.k !== undefined) {
        throw new ParameterError(`jwks.keys[${index}]`, 'must be a public key; never put a private or shared key into a config');
      }
    }
    try {
      source = fixedKeys({ find: jose.createLocalJWKSet(jwks as unknown as JSONWebKeySet), generation: 0 });
    } catch (thrown) {
      throw new ParameterError('jwks', `is not a key set: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  }
  return new Verifier(host, jose, source, algorithms);
}

interface IntrospectionParams {
  readonly introspectEndpoint?: string;
  readonly introspectContentType: string;
  readonly introspectHeaders?: unknown;
  readonly introspectCacheMaxAge: number;
}

async function makeIntrospection(given: IntrospectionParams, host: Host) {
  if (given.introspectEndpoint === undefined) return undefined;
  const { Introspection } = await import('./introspection.js');
  return new Introspection(host, {
    url: readUrl(given.introspectEndpoint, 'introspectEndpoint'),
    contentType: given.introspectContentType,
    headers: readHeaders(given.introspectHeaders, 'introspectHeaders'),
    ageMaxMs: given.introspectCacheMaxAge * 1000,
  });
}

function tokenOf(header: string | undefined): string {
  const token = header?.replace(/^bearer /i, '').trim() ?? '';
  if (token === '') throw new Refusal('the request carries no token');
  if (token.length > tokenCharactersMax) throw new Refusal(`the token has more than ${tokenCharactersMax} characters`);
  return token;
}
