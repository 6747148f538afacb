// Hot: asked for each call of a workspace that has policies.
// A stored policy as calls ask it: whether it binds them, and which of its counters they count in. What a call is asked for it says when asked, so
// nothing is read of it that no policy is about.

import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { RatePolicyRow, UsagePolicyRow } from '../storage/tables/policies.js';

/** Facts of a call; empty where it has none. Asked anew for each target. */
export interface PolicyFacts {
  readonly keyId: string;
  readonly workspaceId: string;
  readonly organisationId: string;
  readonly configId: string;
  readonly configSlug: string;
  readonly promptId: string;
  readonly promptSlug: string;
  /** As requestTypeOf tells it. */
  readonly requestType: string;
  /** As the client named it, before any override, without the slug of a stored provider before it. */
  readonly model: string;
  metadata(name: string): string;
  /** Of the target: the id of its provider. */
  readonly provider: string;
  /** Of the target: the slug of its stored provider; empty when it has none. */
  readonly providerSlug: string;
}

type Condition = UsagePolicyRow['conditions'][number];
type Test = (facts: PolicyFacts) => boolean;
type Read = (facts: PolicyFacts) => string;

export const metadataPrefix = 'metadata.';
/** Stands for every value. */
export const anyValue = '*';
/** Of each key and value in a value key; a longer one is told by its hash. The name of a counter, with up to five of both, is not cut by the ledger then. */
const partBytesMax = 70;
const hashChars = 40;
/** Of a value that is known by itself. */
const soleCharsMax = 64;
export const groupKeysMax = 5;

const readers: Readonly<Record<string, Read | undefined>> = {
  api_key: (facts) => facts.keyId,
  workspace_id: (facts) => facts.workspaceId,
  organisation_id: (facts) => facts.organisationId,
  virtual_key: (facts) => facts.providerSlug,
  provider: (facts) => facts.provider,
  config: (facts) => facts.configSlug,
  prompt: (facts) => facts.promptSlug,
  model: (facts) => facts.model,
  endpoint_type: (facts) => facts.requestType,
};
/** Keys whose values may be ids as well as slugs. */
const otherReaders: Readonly<Record<string, Read | undefined>> = { config: (facts) => facts.configId, prompt: (facts) => facts.promptId };
const ofTarget: ReadonlySet<string> = new Set(['virtual_key', 'provider']);
/** The same for all calls of a workspace. */
const ofWorkspace: ReadonlySet<string> = new Set(['workspace_id', 'organisation_id']);

const readOf = (key: string): Read => {
  if (!key.startsWith(metadataPrefix)) return readers[key] ?? (() => '');
  const name = key.slice(metadataPrefix.length);
  return (facts) => facts.metadata(name);
};

const textsOf = (given: string | readonly string[] | undefined): readonly string[] => (given === undefined ? [] : typeof given === 'string' ? [given] : given);

/** Looked up instead of asked: a policy that can bind only calls with one of these values. */
export interface Lookup {
  readonly key: string;
  readonly values: readonly string[];
}

abstract class Policy {
  readonly id: string;
  readonly name: string | null;
  readonly organisationId: string;
  /** Null: of the organisation. */
  readonly workspaceId: string | null;
  /** What it says of a call may be another for each target of it. */
  readonly needsTarget: boolean;
  /** It asks for the model. */
  readonly needsModel: boolean;
  readonly needsMetadata: boolean;
  /** Null: any call may be bound. */
  readonly lookup: Lookup | null;
  readonly #row: UsagePolicyRow | RatePolicyRow;
  readonly #tests: readonly Test[];
  readonly #groups: readonly { readonly label: string; readonly read: Read }[];
  /** Of the only key that it groups by; null: there are several. */
  readonly #readSole: Read | null;

  constructor(row: UsagePolicyRow | RatePolicyRow) {
    this.#row = row;
    this.id = row.id;
    this.name = row.name;
    this.organisationId = row.organisationId;
    this.workspaceId = row.workspaceId;
    const conditions = row.conditions.filter(({ key }) => !ofWorkspace.has(key));
    const keys = [...conditions, ...row.groupBy].map(({ key }) => key);
    this.needsTarget = keys.some((key) => ofTarget.has(key)) || conditions.some(namesProviderOfModel);
    this.needsModel = keys.includes('model');
    this.needsMetadata = keys.some((key) => key.startsWith(metadataPrefix));
    this.lookup = lookupOf(conditions);
    this.#tests = conditions.map(testOf);
    this.#groups = row.groupBy.map(({ key }, index) => ({ label: labelOf(key, index), read: readOf(key) }));
    const [first] = this.#groups;
    this.#readSole = first === undefined || this.#groups.length > 1 ? null : first.read;
  }

  /** What it says of workspaces is met by this one. Asked once for each workspace, so `matches` leaves it out. */
  bindsWorkspace({ id, slug, organisationId }: { readonly id: string; readonly slug: string; readonly organisationId: string }): boolean {
    if (organisationId !== this.organisationId || (this.workspaceId !== null && this.workspaceId !== id)) return false;
    return this.#row.conditions.every(({ key, value, excludes }) => {
      if (!ofWorkspace.has(key)) return true;
      const isNamed = (texts: readonly string[]): boolean => texts.some((text) => text === anyValue || (key === 'workspace_id' ? text === id || text === slug : text === organisationId));
      return isNamed(textsOf(value)) && !isNamed(textsOf(excludes));
    });
  }

  matches(facts: PolicyFacts): boolean {
    const tests = this.#tests;
    for (let index = 0; index < tests.length; index += 1) if (!(tests[index] as Test)(facts)) return false;
    return true;
  }

  /** The value of the call where it groups by one key alone, and the value is short; null: look at the value key. Calls of one value have one value key, and the other way round. */
  soleValue(facts: PolicyFacts): string | null {
    if (this.#readSole === null) return null;
    const value = this.#readSole(facts);
    return value.length <= soleCharsMax ? value : null;
  }

  /** `k1:v1-k2:v2` in the order of `group_by`: the counter of this call. Two combinations never have the same one. */
  valueKey(facts: PolicyFacts): string {
    let key = '';
    for (const { label, read } of this.#groups) key += label + escaped(read(facts));
    return key;
  }
}

export class UsagePolicy extends Policy {
  readonly type: UsagePolicyRow['type'];
  readonly creditLimit: number;
  readonly alertThreshold: number | null;
  readonly periodicReset: UsagePolicyRow['periodicReset'];
  readonly periodicResetDays: number | null;
  readonly firstResetAtMs: number | null;
  readonly createdAtMs: number;

  constructor(row: UsagePolicyRow) {
    super(row);
    this.type = row.type;
    this.creditLimit = row.creditLimit;
    this.alertThreshold = row.alertThreshold;
    this.periodicReset = row.periodicReset;
    this.periodicResetDays = row.periodicResetDays;
    this.firstResetAtMs = row.firstResetAtMs;
    this.createdAtMs = row.createdAtMs;
    Object.freeze(this);
  }
}

export class RatePolicy extends Policy {
  readonly type: RatePolicyRow['type'];
  readonly unit: RatePolicyRow['unit'];
  readonly value: number;

  constructor(row: RatePolicyRow) {
    super(row);
    this.type = row.type;
    this.unit = row.unit;
    this.value = row.value;
    Object.freeze(this);
  }
}

/** Whether a policy that groups by these keys may have such a value key. */
export function isValueKey(groupBy: readonly { readonly key: string }[], text: string): boolean {
  let at = 0;
  for (const [index, { key }] of groupBy.entries()) {
    const label = labelOf(key, index);
    if (!text.startsWith(label, at)) return false;
    const from = at + label.length;
    const next = groupBy[index + 1];
    const colon = text.indexOf(':', from);
    at = colon === -1 ? text.length : colon - (next === undefined ? 0 : labelOf(next.key, index + 1).length - 1);
    if (at < from) return false;
  }
  return at === text.length && groupBy.length > 0;
}

const labelOf = (key: string, index: number): string => `${index === 0 ? '' : '-'}${escaped(key)}:`;

const odd = /[:%\p{Cc}\p{Surrogate}]/u;
const oddAll = /[:%\p{Cc}\p{Surrogate}]/gu;

/** Without a colon, so that a value cannot look like the next key; `%` begins what stands for something else. */
function escaped(value: string): string {
  const text = odd.test(value) ? value.replace(oddAll, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`) : value;
  if (text.length * 3 <= partBytesMax || Buffer.byteLength(text) <= partBytesMax) return text;
  return `%~${createHash('sha256').update(value, 'utf16le').digest('hex').slice(0, hashChars)}`;
}

/** `@slug/model` and `@slug/*`. */
const providerModel = /^@([^/]+)\/(.+)$/s;

const namesProviderOfModel = ({ key, value, excludes }: Condition): boolean => key === 'model' && [...textsOf(value), ...textsOf(excludes)].some((text) => providerModel.test(text));

function testOf({ key, value, excludes }: Condition): Test {
  const has = valuesTest(key, textsOf(value));
  if (excludes === undefined) return has;
  const hasNot = valuesTest(key, textsOf(excludes));
  return (facts) => has(facts) && !hasNot(facts);
}

function valuesTest(key: string, given: readonly string[]): Test {
  const read = readOf(key);
  if (given.includes(anyValue)) return (facts) => read(facts) !== '';
  if (key === 'model') return modelTest(given);
  const values: ReadonlySet<string> = new Set(given.map((text) => plainValue(key, text)));
  const readOther = otherReaders[key];
  if (readOther !== undefined) return (facts) => values.has(read(facts)) || values.has(readOther(facts));
  const [only = ''] = values;
  return values.size === 1 ? (facts) => read(facts) === only : (facts) => values.has(read(facts));
}

/** Stored providers are called by `@slug` elsewhere. */
const plainValue = (key: string, text: string): string => (key === 'virtual_key' && text.startsWith('@') ? text.slice(1) : text);

function modelTest(given: readonly string[]): Test {
  const names: ReadonlySet<string> = new Set(given);
  /** Models by the slug of their provider; null: all of them. */
  const byProvider = new Map<string, Set<string> | null>();
  for (const text of given) {
    const [, slug = '', model = ''] = providerModel.exec(text) ?? [];
    if (slug === '') continue;
    const models = byProvider.get(slug);
    if (model === anyValue) byProvider.set(slug, null);
    else if (models === undefined) byProvider.set(slug, new Set([model]));
    else if (models !== null) models.add(model);
  }
  if (byProvider.size === 0) return ({ model }) => names.has(model);
  return (facts) => {
    const { model } = facts;
    // Models of some providers begin with an @ themselves.
    if (model !== '' && names.has(model)) return true;
    const models = byProvider.get(facts.providerSlug);
    return models !== undefined && (models === null || models.has(model));
  };
}

/** The condition with the fewest values, of those that name values. */
function lookupOf(conditions: readonly Condition[]): Lookup | null {
  let found: Lookup | null = null;
  for (const condition of conditions) {
    const { key } = condition;
    if (key === 'endpoint_type' || namesProviderOfModel({ key, value: condition.value })) continue;
    const values = [...new Set(textsOf(condition.value).map((text) => plainValue(key, text)))];
    if (!values.includes(anyValue) && (found === null || values.length < found.values.length)) found = { key, values };
  }
  return found;
}

const none: readonly never[] = Object.freeze([]);

/** Policies of one kind, found by what their conditions name, so that a call looks only at those that may be about it. */
export class PolicyGroup<P extends Policy> {
  readonly size: number;
  readonly needsModel: boolean;
  readonly needsMetadata: boolean;
  /** Looked at for each call. */
  readonly #always: readonly P[];
  readonly #lookups: readonly { readonly read: Read; readonly byValue: ReadonlyMap<string, readonly P[]> }[];

  constructor(policies: readonly P[]) {
    this.size = policies.length;
    this.needsModel = policies.some(({ needsModel }) => needsModel);
    this.needsMetadata = policies.some(({ needsMetadata }) => needsMetadata);
    const always: P[] = [];
    const byKey = new Map<string, Map<string, P[]>>();
    for (const policy of policies) {
      if (policy.lookup === null) always.push(policy);
      else add(byKey, policy.lookup, policy);
    }
    this.#always = always;
    this.#lookups = [...byKey].flatMap(([key, byValue]) => [readOf(key), otherReaders[key]].flatMap((read) => (read === undefined ? [] : [{ read, byValue }])));
    Object.freeze(this);
  }

  /** Those that bind this call. The list is not to be kept if it is empty: all calls share that one. */
  matching(facts: PolicyFacts): readonly P[] {
    let found = take(this.#always, facts, null);
    for (const { read, byValue } of this.#lookups) {
      const value = read(facts);
      const policies = value === '' ? undefined : byValue.get(value);
      if (policies !== undefined) found = take(policies, facts, found);
    }
    return found ?? none;
  }
}

function take<P extends Policy>(policies: readonly P[], facts: PolicyFacts, found: P[] | null): P[] | null {
  let list = found;
  for (let index = 0; index < policies.length; index += 1) {
    const policy = policies[index] as P;
    // One that names both the id and the slug of a config is met twice.
    if (!policy.matches(facts) || (list !== null && list.includes(policy))) continue;
    if (list === null) list = [policy];
    else list.push(policy);
  }
  return list;
}

function add<P>(byKey: Map<string, Map<string, P[]>>, { key, values }: Lookup, policy: P): void {
  let byValue = byKey.get(key);
  if (byValue === undefined) byKey.set(key, byValue = new Map());
  for (const value of values) {
    const policies = byValue.get(value);
    if (policies === undefined) byValue.set(value, [policy]);
    else policies.push(policy);
  }
}
