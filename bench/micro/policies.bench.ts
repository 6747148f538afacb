// What a call of a workspace with a thousand policies costs: they are found by the values that their conditions name, and only where none is named each is asked.
import { Bench } from 'tinybench';
import { PolicyGroup, UsagePolicy, type PolicyFacts } from '../../core/snapshot/policy.js';
import type { UsagePolicyRow } from '../../core/storage/tables/policies.js';

const count = 1_000;
const said: Readonly<Record<string, string>> = { team: 'team 7', _user: 'bob' };
const facts: PolicyFacts = {
  keyId: 'k', workspaceId: 'w', organisationId: 'o', configId: '', configSlug: '', promptId: '', promptSlug: '', requestType: 'chatComplete', model: 'gpt-4o', provider: 'openai', providerSlug: 'main',
  metadata: (name) => said[name] ?? '',
};
const rowOf = (id: string, conditions: UsagePolicyRow['conditions']): UsagePolicyRow => ({
  id, organisationId: 'o', workspaceId: 'w', name: null, description: null, conditions, groupBy: [{ key: 'metadata._user' }], status: 'active', createdAtMs: 1, updatedAtMs: 1,
  type: 'cost', creditLimit: 1, alertThreshold: null, periodicReset: null, periodicResetDays: null, firstResetAtMs: null,
});
const groupOf = (length: number, conditionsOf: (index: number) => UsagePolicyRow['conditions']): PolicyGroup<UsagePolicy> =>
  new PolicyGroup(Array.from({ length }, (_, index) => new UsagePolicy(rowOf(`p${index}`, conditionsOf(index)))));

const groups = {
  'two, of which both bind': groupOf(2, () => [{ key: 'metadata.team', value: '*' }]),
  [`${count}, each of one team`]: groupOf(count, (index) => [{ key: 'metadata.team', value: `team ${index}` }]),
  [`${count}, each of one team and two models`]: groupOf(count, (index) => [{ key: 'model', value: ['gpt-4o', 'gpt-4.1'] }, { key: 'metadata.team', value: `team ${index}` }]),
  [`${count}, each of all teams but one: asked one by one`]: groupOf(count, () => [{ key: 'metadata.team', value: '*', excludes: 'team 7' }]),
};

const bench = new Bench({ name: 'policies', time: process.env.BENCH_QUICK === '1' ? 50 : 500 });
let chars = 0;
for (const [name, group] of Object.entries(groups)) bench.add(name, () => { for (const policy of group.matching(facts)) chars += policy.valueKey(facts).length; });
await bench.run();
console.table(bench.table());
if (chars === 0) throw new Error('no policy was met');
