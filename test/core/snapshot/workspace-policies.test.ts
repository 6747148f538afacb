import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WorkspaceState } from '../../../core/snapshot/workspace-state.js';
import { View } from '../../../core/snapshot/view.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { ratePolicies, usagePolicies } from '../../../core/storage/tables/policies.js';
import { workspaces, type WorkspaceRow } from '../../../core/storage/tables/workspaces.js';
import { hashOfLetter, keyRow, ratePolicyRow, usagePolicyRow } from '../../support/rows.js';

const workspaceRow = (id: string, changes: Partial<WorkspaceRow> = {}): WorkspaceRow => ({
  id, organisationId: 'o', slug: `ws-${id}`, name: id, description: null, icon: null, status: 'active', isDefault: false, createdAtMs: 1, updatedAtMs: 1,
  defaults: { metadata: {}, input_guardrails: [], output_guardrails: [], user_api_key_config: null }, usageLimits: [], rateLimits: [], ...changes,
});

function setUp(): { readonly view: View; readonly state: WorkspaceState; readonly other: WorkspaceState } {
  const view = new View(null);
  for (const id of ['w', 'v']) view.put(workspaces.name, workspaceRow(id));
  view.put(apiKeys.name, keyRow('a'));
  view.put(apiKeys.name, keyRow('b', { workspaceId: 'v' }));
  const stateOf = (letter: string): WorkspaceState => view.principal(hashOfLetter(letter))?.workspace ?? assert.fail('no such key');
  return { view, state: stateOf('a'), other: stateOf('b') };
}

type Kind = 'rates' | 'usages' | 'ratesOfTarget' | 'usagesOfTarget';
const sizes = ({ policies }: WorkspaceState): readonly number[] | null =>
  policies && (['rates', 'usages', 'ratesOfTarget', 'usagesOfTarget'] satisfies Kind[]).map((kind) => policies.sorted[kind]?.size ?? 0);

describe('policies of a workspace', () => {
  it('are null as long as there are none, and again when the last one is gone', () => {
    const { view, state, other } = setUp();
    assert.equal(state.policies, null);
    view.put(usagePolicies.name, usagePolicyRow('p'));
    assert.deepEqual([sizes(state), sizes(other)], [[0, 1, 0, 0], null]);
    view.put(ratePolicies.name, ratePolicyRow('r', { groupBy: [{ key: 'provider' }] }));
    assert.deepEqual(sizes(state), [0, 1, 1, 0]);
    view.remove(usagePolicies.name, 'p');
    assert.deepEqual(sizes(state), [0, 0, 1, 0]);
    view.put(ratePolicies.name, ratePolicyRow('r', { status: 'archived' }));
    assert.deepEqual([state.policies, other.policies], [null, null]);
  });

  it('are no longer those that a call before has sorted, once one has changed', () => {
    const { view, state } = setUp();
    view.put(usagePolicies.name, usagePolicyRow('p', { creditLimit: 1 }));
    const before = state.policies?.sorted.usages;
    view.put(usagePolicies.name, usagePolicyRow('p', { creditLimit: 2 }));
    const limitOf = (policies: typeof before): number | undefined => policies?.matching({} as never)[0]?.creditLimit;
    assert.deepEqual([limitOf(before), limitOf(state.policies?.sorted.usages)], [1, 2]);
  });

  it('include those of the organisation that name the workspace, by its slug of now', () => {
    const { view, state, other } = setUp();
    view.put(ratePolicies.name, ratePolicyRow('r', { workspaceId: null, conditions: [{ key: 'workspace_id', value: ['ws-v', 'ws-new'] }] }));
    assert.deepEqual([sizes(state), sizes(other)], [[0, 0, 0, 0], [1, 0, 0, 0]]);
    view.put(workspaces.name, workspaceRow('w', { slug: 'ws-new' }));
    assert.deepEqual([sizes(state), sizes(other)], [[1, 0, 0, 0], [1, 0, 0, 0]]);
    view.put(ratePolicies.name, ratePolicyRow('of another', { organisationId: 'p', workspaceId: null }));
    assert.deepEqual(sizes(state), [1, 0, 0, 0]);
    view.remove(ratePolicies.name, 'r');
    assert.deepEqual([state.policies, other.policies], [null, null]);
  });

  it('do not include those of calls over MCP', () => {
    const { view, state } = setUp();
    view.put(ratePolicies.name, ratePolicyRow('r', { target: 'mcp_tools' }));
    assert.equal(state.policies, null);
    view.put(ratePolicies.name, ratePolicyRow('r'));
    assert.deepEqual(sizes(state), [1, 0, 0, 0]);
  });
});
