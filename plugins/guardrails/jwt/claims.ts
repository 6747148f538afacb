import type { Exchange, Json, JsonObject } from '@gateway/plugin-sdk';
import type { PatternBudget } from '../common/text/pattern-size.js';
import { scalarText } from '../common/request/json-text.js';
import { compileWanted, type MatchType, type WantedValue } from '../common/request/wanted-value.js';

interface WantedClaim {
  readonly values?: unknown;
  readonly matchType?: MatchType;
}

interface ClaimParams {
  readonly requiredClaims?: readonly string[];
  readonly claimValues?: Readonly<Record<string, WantedClaim>>;
  readonly headerPayloadMatch?: readonly string[];
}

export interface ClaimVerdict {
  /** By kind of rule; of those that were asked for. */
  readonly validations: Readonly<Record<string, boolean>>;
  /** The first sentence of what is wrong. */
  readonly fault: string | undefined;
}

/** What the claims of a token are held against, once its signature and its times are right. */
export async function compileClaims(given: ClaimParams, budget: PatternBudget): Promise<(claims: JsonObject, exchange: Exchange) => ClaimVerdict> {
  const required = given.requiredClaims ?? [];
  const wanted: (readonly [string, WantedValue, boolean])[] = [];
  for (const [name, { values, matchType = 'exact' }] of Object.entries(given.claimValues ?? {})) {
    wanted.push([name, await compileWanted(values, matchType, `claimValues.${name}.values`, budget), matchType === 'exact']);
  }
  const matching = given.headerPayloadMatch ?? [];
  return (claims, { request }) => {
    const claim = (name: string): Json | undefined => (Object.hasOwn(claims, name) ? claims[name] : undefined);
    const validations: Record<string, boolean> = {};
    let fault: string | undefined;
    const judge = (name: string, lacking: string | undefined, sentence: (claim: string) => string): void => {
      validations[name] = lacking === undefined;
      if (lacking !== undefined) fault ??= sentence(lacking);
    };
    if (required.length > 0) {
      judge('requiredClaims', required.find((name) => claim(name) === undefined || claim(name) === null), (name) => `the token lacks the claim ${name}`);
    }
    if (wanted.length > 0) {
      judge('claimValues', wanted.find(([name, fits, isExact]) => !fits(name === 'scope' && !isExact ? scopesOf(claim(name)) : claim(name)))?.[0],
        (name) => `the claim ${name} of the token has not the wanted value`);
    }
    if (matching.length > 0) {
      judge('headerPayloadMatch', matching.find((name) => {
        const text = scalarText(claim(name));
        return text === undefined || text !== request.header(name.toLowerCase());
      }), (name) => `the header ${name} is not the claim ${name} of the token`);
    }
    return { validations, fault };
  };
}

/** OAuth writes scopes as one text with blanks between them; part of a scope's name is not that scope. */
const scopesOf = (value: Json | undefined): Json | undefined => (typeof value === 'string' ? value.split(' ').filter((scope) => scope !== '') : value);
