import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessId, limitSpecs, policyCounterKey, type LimitSpec } from '../../../core/snapshot/limit-specs.js';
import { integrationOf, providerOf } from '../../../core/snapshot/stored-provider.js';
import { View } from '../../../core/snapshot/view.js';
import { Sealer } from '../../../core/storage/sealer.js';
import { workspaces, type WorkspaceRow } from '../../../core/storage/tables/workspaces.js';
import { storedData } from '../../support/stored.js';
import { hashOfLetter, keyRow } from '../../support/rows.js';

const stored = await storedData();
const summary = (specs: readonly LimitSpec[] | null): readonly unknown[] | null => specs === null ? null : specs.map(({ counter, maximum, type }) => [type, counter, maximum]);
const perMinute = { type: 'requests', unit: 'rpm', value: 5 } as const;

test('a limit names its counter by level, id, what it counts, and its unit', () => {
  assert.deepEqual(summary(limitSpecs('key', 'k', 'name', [perMinute, { type: 'tokens', unit: 'rps', value: 0 }], [{ credit_limit: 2, type: 'cost' }, { credit_limit: 7, type: 'tokens' }])), [
    ['rate', 'key/k/requests/rpm', 5], ['rate', 'key/k/tokens/rps', 0], ['usage', 'key/k/cost', 200_000_000], ['usage', 'key/k/tokens', 7],
  ]);
  assert.equal(accessId('i', 'w'), 'i.w');
  assert.equal(policyCounterKey('p', 'metadata._user:bob', null), 'policy/p/metadata._user:bob');
  assert.equal(policyCounterKey('p', 'metadata._user:bob', 'rpd'), 'policy/p/rpd/metadata._user:bob');
});

test('of several limits by one counter, as tokens may bring them, the smallest holds, and a call counts once', () => {
  const rates = [{ type: 'requests', unit: 'rpm', value: 9 }, { type: 'requests', unit: 'rpm', value: 5 }, { type: 'requests', unit: 'rpm', value: 7 }, { type: 'tokens', unit: 'rpm', value: 8 }];
  const usages = [{ credit_limit: 2 }, { credit_limit: 1, type: 'cost', periodic_reset: 'monthly' }, { credit_limit: null, alert_threshold: 1 }, { credit_limit: 7, type: 'tokens' }];
  assert.deepEqual(summary(limitSpecs('token', 't', 'name', rates, usages)), [
    ['rate', 'token/t/requests/rpm', 5], ['rate', 'token/t/tokens/rpm', 8], ['usage', 'token/t/cost', 100_000_000], ['usage', 'token/t/tokens', 7],
  ]);
});

test('no limits are null, and a threshold alone counts without a maximum', () => {
  assert.equal(limitSpecs('key', 'k', 'name', [], []), null);
  assert.equal(limitSpecs('key', 'k', 'name', [], [{ type: 'cost', credit_limit: null }]), null);
  const [spec] = limitSpecs('key', 'k', 'name', [], [{ credit_limit: null, alert_threshold: 3 }]) ?? [];
  assert.ok(spec?.type === 'usage');
  assert.equal(spec.maximum, Infinity);
});

test('rows of keys, workspaces, providers and integrations bring theirs, and lose them with the next change', () => {
  const { rows } = stored;
  const view = new View(new Sealer(new Uint8Array(32)));
  const key = keyRow('k', { rateLimits: [perMinute], usageLimits: { credit_limit: 1, type: 'tokens' } });
  view.putKey(key);
  assert.deepEqual(summary(view.principal(hashOfLetter('k'))?.limits ?? null), [['rate', 'key/k/requests/rpm', 5], ['usage', 'key/k/tokens', 1]]);
  view.putKey(keyRow('k'));
  assert.equal(view.principal(hashOfLetter('k'))?.limits, null);
  const workspace = view.principal(hashOfLetter('k'))?.workspace;
  assert.ok(workspace !== null && workspace !== undefined);
  assert.equal(workspace.limits, null);
  const row: WorkspaceRow = {
    id: 'w', organisationId: 'o', slug: 'w', name: 'w', description: null, icon: null, status: 'active', isDefault: true, createdAtMs: 1, updatedAtMs: 1,
    defaults: { metadata: {}, input_guardrails: [], output_guardrails: [], user_api_key_config: null }, usageLimits: [], rateLimits: [perMinute],
  };
  const withoutLimits: WorkspaceRow = { ...row, rateLimits: [] };
  view.put(workspaces.name, row);
  assert.deepEqual(summary(workspace.limits), [['rate', 'workspace/w/requests/rpm', 5]]);
  view.put(workspaces.name, withoutLimits);
  assert.equal(workspace.limits, null);
  assert.deepEqual(summary(providerOf(rows.providerRow('p', 'i', { rateLimits: [perMinute] })).limits), [['rate', 'provider/id-of-p/requests/rpm', 5]]);
  const integration = integrationOf(rows.integrationRow('i', {}, {
    globalAccess: { enabled: true, usage_limits: null, rate_limits: [perMinute] },
    workspaces: { named: { enabled: true, usage_limits: { credit_limit: 3, type: 'tokens' }, rate_limits: [], last_reset_at_ms: null }, closed: { enabled: false, usage_limits: null, rate_limits: [perMinute], last_reset_at_ms: null } },
  }), new Sealer(new Uint8Array(32)));
  assert.deepEqual(summary(integration.limitsIn('other')), [['rate', 'access/i.other/requests/rpm', 5]]);
  assert.deepEqual(summary(integration.limitsIn('named')), [['usage', 'access/i.named/tokens', 3]]);
  assert.equal(integration.limitsIn('closed'), null);
});
