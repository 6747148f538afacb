import { listOf, ParameterError, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { canonicalText } from '../common/request/json-text.js';
import { refuseOverlap } from '../common/request/names.js';

interface ValueRules {
  readonly allowedValues?: readonly unknown[];
  readonly blockedValues?: readonly unknown[];
}

export interface ParameterRules {
  readonly allowedKeys?: readonly string[];
  readonly blockedKeys?: readonly string[];
  readonly values?: Readonly<Record<string, ValueRules>>;
}

/** A type and not an interface, so that it is JSON. */
export type BlockedParameter = { readonly param: string; readonly value?: Json; readonly reasons: readonly string[] };

/** Gives what speaks against the members of a body; undefined when there are no rules. An empty list is not a rule. */
export function compileParameterRules(rules: ParameterRules): ((body: JsonObject) => BlockedParameter[]) | undefined {
  const { allowedKeys = [], blockedKeys = [], values = {} } = rules;
  refuseOverlap(allowedKeys, blockedKeys, 'params.blockedKeys', 'params.allowedKeys');
  const byName = new Map<string, { readonly allowed: ReadonlySet<string>; readonly blocked: ReadonlySet<string> }>();
  for (const [name, { allowedValues = [], blockedValues = [] }] of Object.entries(values)) {
    // Parsed from the JSON of a config.
    const textsOf = (values: readonly unknown[]): ReadonlySet<string> => new Set((values as readonly Json[]).map(canonicalText));
    const [allowed, blocked] = [textsOf(allowedValues), textsOf(blockedValues)];
    if ([...blocked].some((value) => allowed.has(value))) {
      throw new ParameterError(`params.values.${name}.blockedValues`, 'has a value that is in allowedValues as well; keep it in one of the two');
    }
    if (allowed.size + blocked.size > 0) byName.set(name, { allowed, blocked });
  }
  if (allowedKeys.length === 0 && blockedKeys.length === 0 && byName.size === 0) return undefined;
  const [allowedSet, blockedSet] = [new Set(allowedKeys), new Set(blockedKeys)];
  return (body) => {
    const found: BlockedParameter[] = [];
    for (const [param, value] of Object.entries(body)) {
      const reasons: string[] = [];
      if (blockedSet.has(param)) reasons.push('key_blocked');
      if (allowedSet.size > 0 && !allowedSet.has(param)) reasons.push('key_not_allowed');
      const rule = byName.get(param);
      // Each value is written once and looked up: a list of the body may be as long as one of the config.
      const whole = rule === undefined ? '' : canonicalText(value);
      const items = rule === undefined ? [] : listOf(value).map(canonicalText);
      // A value that is a list may be listed as a whole, too.
      const isBlocked = rule !== undefined && (rule.blocked.has(whole) || items.some((item) => rule.blocked.has(item)));
      const isAllowed = rule === undefined || rule.allowed.size === 0 || rule.allowed.has(whole) || (Array.isArray(value) && items.every((item) => rule.allowed.has(item)));
      if (isBlocked) reasons.push('value_blocked');
      if (!isAllowed) reasons.push('value_not_allowed');
      if (reasons.length > 0) found.push({ param, ...(isShown(value, isBlocked || !isAllowed) ? { value } : {}), reasons });
    }
    return found;
  };
}

/** Longest text shown. */
const textShownMax = 64;

/** What somebody wrote is not for showing: of texts only short ones whose values have rules. */
const isShown = (value: Json, isJudged: boolean): boolean =>
  (typeof value === 'string' ? isJudged && value.length <= textShownMax : typeof value !== 'object' || value === null);
