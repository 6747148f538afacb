import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { boundedKey } from '../../../core/limits/journal-layout.js';
import { policyCounterKey } from '../../../core/snapshot/limit-specs.js';
import { groupKeysMax, isValueKey, PolicyGroup, RatePolicy, UsagePolicy, type PolicyFacts } from '../../../core/snapshot/policy.js';
import fc from '../../support/fast-check.js';
import { ratePolicyRow, usagePolicyRow } from '../../support/rows.js';
import type { UsagePolicyRow } from '../../../core/storage/tables/policies.js';

interface Said extends Partial<Omit<PolicyFacts, 'metadata'>> {
  readonly said?: Readonly<Record<string, string>>;
}

function facts({ said = {}, ...others }: Said = {}): PolicyFacts & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    keyId: 'k', workspaceId: 'w', organisationId: 'o', configId: '', configSlug: '', promptId: '', promptSlug: '', requestType: 'chatComplete', model: '', provider: '', providerSlug: '',
    ...others, asked, metadata: (name) => { asked.push(name); return said[name] ?? ''; },
  };
}

const usage = (...conditions: UsagePolicyRow['conditions']): UsagePolicy => new UsagePolicy(usagePolicyRow('p', { conditions }));
const grouped = (...keys: readonly string[]): UsagePolicy => new UsagePolicy(usagePolicyRow('p', { groupBy: keys.map((key) => ({ key })) }));

describe('policy', () => {
  it('binds calls that meet all conditions, each by any of its values', () => {
    const policy = usage({ key: 'metadata.team', value: ['red', 'blue'] }, { key: 'api_key', value: 'k' });
    assert.equal(policy.matches(facts({ said: { team: 'red' } })), true);
    assert.equal(policy.matches(facts({ said: { team: 'blue' } })), true);
    assert.equal(policy.matches(facts({ said: { team: 'green' } })), false);
    assert.equal(policy.matches(facts()), false);
    assert.equal(policy.matches(facts({ said: { team: 'red' }, keyId: 'other' })), false);
    assert.equal(usage().matches(facts()), true);
  });

  it('takes * for any value that is there, without those that are excluded', () => {
    const policy = usage({ key: 'metadata.team', value: '*', excludes: ['red', 'blue'] });
    assert.deepEqual(['green', 'red', 'blue', ''].map((team) => policy.matches(facts({ said: { team } }))), [true, false, false, false]);
    const some = usage({ key: 'metadata.team', value: ['red', 'green'], excludes: 'red' });
    assert.deepEqual(['green', 'red'].map((team) => some.matches(facts({ said: { team } }))), [true, false]);
    assert.equal(usage({ key: 'metadata.team', value: '*', excludes: '*' }).matches(facts({ said: { team: 'red' } })), false);
  });

  it('knows models by their name, or by the stored provider before it', () => {
    const calls = [facts({ model: 'm' }), facts({ model: 'm', providerSlug: 'prov' }), facts({ model: 'n', providerSlug: 'prov' }), facts({ model: 'm', providerSlug: 'other' }), facts({ providerSlug: 'prov' })];
    const bound = (value: string | readonly string[], excludes?: string): readonly boolean[] =>
      calls.map((each) => usage({ key: 'model', value, ...(excludes === undefined ? {} : { excludes }) }).matches(each));
    assert.deepEqual(bound('m'), [true, true, false, true, false]);
    assert.deepEqual(bound('@prov/m'), [false, true, false, false, false]);
    assert.deepEqual(bound('@prov/*'), [false, true, true, false, true]);
    assert.deepEqual(bound(['@prov/n', '@other/m', '@prov/m']), [false, true, true, true, false]);
    assert.deepEqual(bound(['@prov/*', '@prov/n']), [false, true, true, false, true]);
    assert.deepEqual(bound('*'), [true, true, true, true, false]);
    assert.deepEqual(bound('*', '@prov/m'), [true, false, true, true, false]);
    // A provider's own name for a model.
    assert.equal(usage({ key: 'model', value: '@cf/meta/llama' }).matches(facts({ model: '@cf/meta/llama', providerSlug: 'prov' })), true);
  });

  it('knows configs and prompts by id or slug, and stored providers with or without @', () => {
    for (const value of ['c', 'pc-1']) assert.equal(usage({ key: 'config', value }).matches(facts({ configId: 'c', configSlug: 'pc-1' })), true);
    for (const value of ['p', 'pp-1']) assert.equal(usage({ key: 'prompt', value }).matches(facts({ promptId: 'p', promptSlug: 'pp-1' })), true);
    for (const value of ['prov', '@prov']) assert.equal(usage({ key: 'virtual_key', value }).matches(facts({ providerSlug: 'prov' })), true);
    assert.equal(usage({ key: 'config', value: 'pc-2' }).matches(facts({ configId: 'c', configSlug: 'pc-1' })), false);
    assert.equal(usage({ key: 'provider', value: 'openai' }).matches(facts({ provider: 'openai' })), true);
    const embeds = new RatePolicy(ratePolicyRow('r', { conditions: [{ key: 'endpoint_type', value: ['embed', 'rerank'] }] }));
    assert.deepEqual(['embed', 'chatComplete'].map((requestType) => embeds.matches(facts({ requestType }))), [true, false]);
  });

  it('counts calls without a grouped value under an empty one, and no two combinations together', () => {
    assert.equal(grouped('metadata._user').valueKey(facts({ said: { _user: 'bob' } })), 'metadata._user:bob');
    assert.equal(grouped('metadata._user', 'api_key').valueKey(facts({ keyId: '1-2' })), 'metadata._user:-api_key:1-2');
    const two = grouped('metadata.a', 'metadata.b');
    const values = ['', 'x', 'x-metadata.b:', 'x-metadata.b:y', 'y', 'y-metadata.b:y', ':', '%3a', '%', 'x'.repeat(70), 'x'.repeat(71), 'x'.repeat(72), 'é'.repeat(35), 'é'.repeat(36), ':'.repeat(23), ':'.repeat(24), '%~', '\ud800', '\ud801', '\n', '%0a'];
    const keys = new Set(values.flatMap((a) => values.map((b) => two.valueKey(facts({ said: { a, b } })))));
    assert.equal(keys.size, values.length ** 2);
    for (const key of keys) assert.ok(key.length < 600 && !/[\p{Cc}\p{Surrogate}]/u.test(key), key);
    assert.ok([...keys].every((key) => isValueKey([{ key: 'metadata.a' }, { key: 'metadata.b' }], key)));
    for (const key of ['', 'metadata.a:', 'metadata.b:-metadata.a:', 'metadata.a:x-metadata.b', 'metadata.a:x-metadata.b:y:z', 'metadata.a:metadata.b:', 'xmetadata.a:-metadata.b:']) assert.equal(isValueKey([{ key: 'metadata.a' }, { key: 'metadata.b' }], key), false, key);
    // The ledger cuts longer names, and then would not know the counter again.
    for (const [name, value] of [['x'.repeat(60), 'x'.repeat(70)], ['é'.repeat(30), 'é'.repeat(35)], ['é'.repeat(90), '\u{1f642}'.repeat(50)]] as const) {
      const valueKey = grouped(...Array.from({ length: groupKeysMax }, (_, index) => `metadata.${index}${name}`)).valueKey(facts({ said: Object.fromEntries(Array.from({ length: groupKeysMax }, (_, index) => [`${index}${name}`, value])) }));
      const counter = policyCounterKey('01b92571-ea00-7022-8d89-599aefe41490', valueKey, null);
      assert.equal(boundedKey(counter), counter);
    }
    assert.notEqual(grouped('metadata.a:b').valueKey(facts({ said: { 'a:b': 'c' } })), grouped('metadata.a').valueKey(facts({ said: { a: 'b:c' } })));
  });

  it('says what it has to be told', () => {
    assert.deepEqual([grouped('api_key'), grouped('provider'), grouped('virtual_key'), grouped('model')].map(({ needsTarget }) => needsTarget), [false, true, true, false]);
    assert.deepEqual(['m', '@prov/m', '*'].map((value) => usage({ key: 'model', value }).needsTarget), [false, true, false]);
    assert.equal(usage({ key: 'model', value: '*', excludes: '@prov/*' }).needsTarget, true);
    assert.deepEqual([grouped('model').needsModel, usage({ key: 'model', value: 'm' }).needsModel, grouped('api_key').needsModel], [true, true, false]);
    assert.deepEqual([grouped('metadata.a').needsMetadata, usage({ key: 'metadata.a', value: 'm' }).needsMetadata, grouped('api_key').needsMetadata], [true, true, false]);
  });

  it('says of workspaces once what it says of them', () => {
    const place = { id: 'w', slug: 'main', organisationId: 'o' };
    const binds = (value: string | readonly string[], excludes?: string, key = 'workspace_id', workspaceId: string | null = null): boolean =>
      new UsagePolicy(usagePolicyRow('p', { workspaceId, conditions: [{ key, value, ...(excludes === undefined ? {} : { excludes }) }] })).bindsWorkspace(place);
    assert.deepEqual([binds('w'), binds('main'), binds(['x', 'w']), binds('*'), binds('x')], [true, true, true, true, false]);
    assert.deepEqual([binds('*', 'main'), binds('*', 'x'), binds('o', undefined, 'organisation_id'), binds('p', undefined, 'organisation_id')], [false, true, true, false]);
    assert.deepEqual([binds('*', undefined, 'workspace_id', 'w'), binds('*', undefined, 'workspace_id', 'x')], [true, false]);
    assert.equal(new UsagePolicy(usagePolicyRow('p', { organisationId: 'p', workspaceId: null })).bindsWorkspace(place), false);
  });
});

const texts = fc.constantFrom('', 'a', 'b', 'c');
const anyFacts = fc.record({ keyId: texts, configId: texts, configSlug: texts, model: texts, provider: texts, providerSlug: texts, said: fc.dictionary(fc.constantFrom('x', 'y'), texts, { noNullPrototype: true }) }).map(facts);
const values = fc.oneof(fc.constantFrom('a', 'b', 'c', '*'), fc.uniqueArray(fc.constantFrom('a', 'b', 'c', '@a/b', '@b/*'), { minLength: 1, maxLength: 3 }));
const anyCondition = fc.record({ key: fc.constantFrom('api_key', 'config', 'model', 'provider', 'virtual_key', 'metadata.x', 'metadata.y'), value: values, excludes: values }, { requiredKeys: ['key', 'value'], noNullPrototype: true });

describe('a group of policies', () => {
  it('finds what asking each of them finds', () => {
    fc.assert(fc.property(fc.array(fc.array(anyCondition, { maxLength: 3 }), { maxLength: 6 }), anyFacts, (all, call) => {
      const policies = all.map((conditions, index) => new UsagePolicy(usagePolicyRow(`p${index}`, { conditions })));
      const idsOf = (found: readonly UsagePolicy[]): readonly string[] => found.map(({ id }) => id).sort();
      assert.deepEqual(idsOf(new PolicyGroup(policies).matching(call)), idsOf(policies.filter((each) => each.matches(call))));
    }), { seed: 20_261_122, numRuns: 1_000 });
  });

  it('finds each that binds, once, and looks at no others', () => {
    const named = Array.from({ length: 1000 }, (_, index) => new UsagePolicy(usagePolicyRow(`p${index}`, { conditions: [{ key: 'metadata.team', value: [`team ${index}`, `team ${index + 1}`] }, { key: 'model', value: '*' }] })));
    const all = usagePolicyRow('all', { conditions: [] });
    const both = usagePolicyRow('both', { conditions: [{ key: 'config', value: ['c', 'pc-1'] }] });
    const group = new PolicyGroup([...named, new UsagePolicy(all), new UsagePolicy(both)]);
    const idsOf = (call: PolicyFacts): readonly string[] => group.matching(call).map(({ id }) => id);
    const call = facts({ said: { team: 'team 7' }, model: 'm' });
    assert.deepEqual(idsOf(call), ['all', 'p6', 'p7']);
    assert.deepEqual(call.asked, ['team', 'team', 'team']);
    assert.deepEqual(idsOf(facts({ said: { team: 'team 7' } })), ['all']);
    assert.deepEqual(idsOf(facts({ configId: 'c', configSlug: 'pc-1' })), ['all', 'both']);
    assert.deepEqual(new PolicyGroup(named).matching(facts()), []);
    assert.deepEqual([group.size, group.needsModel, group.needsMetadata], [1002, true, true]);
  });
});
