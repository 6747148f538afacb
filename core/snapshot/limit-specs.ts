// Limits as calls meet them: of a key, a token, a provider, an integration in a workspace, a workspace or a policy, made of its row when that changes.
// Each names its counter by a key, written here alone, so that calls, control plane and ledger mean the same one.

import type { KeptText } from '../telemetry/kept-text.js';

export type LimitLevel = 'key' | 'token' | 'provider' | 'access' | 'workspace' | 'policy';
export type RateUnit = 'rps' | 'rpm' | 'rph' | 'rpd' | 'rpw';
export type Counted = 'requests' | 'tokens' | 'cost';

const microCentsPerCent = 1_000_000;
const microCentsPerDollar = 100 * microCentsPerCent;
/** Counters of cost hold millionths of a cent; limits are in US dollars, prices and records in cents. */
export const microCentsOf = (cents: number): number => Math.round(cents * microCentsPerCent);
/** The same for what a call is expected to cost. */
export const microCentsAtMost = (cents: number): number => Math.ceil(cents * microCentsPerCent);
/** By how much a counter grows with one unit of its limit: a dollar, a token or a request. */
export const countedPerUnit = (counted: string): number => (counted === 'cost' ? microCentsPerDollar : 1);

interface SpecBase {
  readonly level: LimitLevel;
  /** The name of its owner, as clients are told. */
  readonly name: string;
  /** Counts requests, tokens, or millionths of a cent. */
  readonly counted: Counted;
  /** In the unit of the counter; Infinity: there is a threshold only. */
  readonly maximum: number;
  /** Of its counter in the thread that made the spec; see core/limits/counters.ts. This and `told` are made once, when they are first asked for. */
  slot: number;
  /** How the log names it, with its maximum; null before anybody asked. */
  told: KeptText | null;
}

export interface RateSpec extends SpecBase {
  readonly type: 'rate';
  readonly counter: string;
  readonly unit: RateUnit;
}

export interface UsageSpec extends SpecBase {
  readonly type: 'usage';
  readonly counter: string;
  /** For how long it is, in words with a blank before them; empty: it is never reset. */
  readonly span: string;
}

export type LimitSpec = RateSpec | UsageSpec;

const units = ['rps', 'rpm', 'rph', 'rpd', 'rpw'] as const satisfies readonly RateUnit[];

/** A slot that has not been looked up. */
export const slotUnknown = -1;

/** `id`: of an integration in a workspace, what accessId() says. */
const rateCounterKey = (level: LimitLevel, id: string, counted: Counted, unit: RateUnit): string => `${level}/${id}/${counted}/${unit}`;
export const usageCounterKey = (level: LimitLevel, id: string, counted: Counted): string => `${level}/${id}/${counted}`;
/** A policy counts by value keys (`k1:v1-k2:v2`). `unit`: of a rate limit, which another unit does not go on with; null for usage. */
export const policyCounterKey = (policyId: string, valueKey: string, unit: RateUnit | null): string => (unit === null ? `policy/${policyId}/${valueKey}` : `policy/${policyId}/${unit}/${valueKey}`);
export const accessId = (integrationId: string, workspaceId: string): string => `${integrationId}.${workspaceId}`;

type Members = Readonly<Record<string, unknown>>;

/** Limits as rows and tokens have them (storage/tables/limits.ts), which were checked when they came. Null: none. */
export function limitSpecs(level: LimitLevel, id: string, name: string, rates: readonly Members[], usages: readonly Members[]): readonly LimitSpec[] | null {
  const specs: LimitSpec[] = [];
  for (const { type, unit, value } of rates) {
    const known = units.find((each) => each === unit);
    if ((type !== 'requests' && type !== 'tokens') || known === undefined || typeof value !== 'number') continue;
    // Words of this module: a text of a row may hold the whole row in memory.
    const counted = type === 'requests' ? 'requests' : 'tokens';
    put(specs, { type: 'rate', level, name, counted, maximum: value, slot: slotUnknown, told: null, counter: rateCounterKey(level, id, counted, known), unit: known });
  }
  for (const usage of usages) {
    const spec = usageSpec(level, id, name, usage);
    if (spec !== null) put(specs, spec);
  }
  return specs.length === 0 ? null : Object.freeze(specs);
}

/** Of several by one counter, which tokens may bring, the smallest holds: a call counts once. */
function put(specs: LimitSpec[], spec: LimitSpec): void {
  const at = specs.findIndex(({ counter }) => counter === spec.counter);
  const before = specs[at];
  if (before === undefined) specs.push(spec);
  else if (spec.maximum < before.maximum) specs[at] = spec;
}

const spans = { monthly: ' a month', weekly: ' a week' } as const;

/** `days` win. Absent and null alike: none. */
export function spanWords(reset: unknown, days: unknown): string {
  if (typeof days === 'number') return days === 1 ? ' a day' : ` in ${days} days`;
  return reset === 'monthly' || reset === 'weekly' ? spans[reset] : '';
}

/** Null: it limits nothing and has no threshold. */
function usageSpec(level: LimitLevel, id: string, name: string, usage: Members): UsageSpec | null {
  const { credit_limit: limit, alert_threshold: threshold, type } = usage;
  const hasLimit = typeof limit === 'number';
  if (!hasLimit && typeof threshold !== 'number') return null;
  const counted: Counted = type === 'tokens' ? 'tokens' : type === 'requests' ? 'requests' : 'cost';
  return {
    type: 'usage', level, name, counted, slot: slotUnknown, told: null, counter: usageCounterKey(level, id, counted),
    maximum: hasLimit ? Math.round(limit * countedPerUnit(counted)) : Infinity, span: spanWords(usage.periodic_reset, usage.periodic_reset_days),
  };
}
