// Hot: asked for each call of a workspace that has policies.
// The policies that calls of a workspace have to look at: its own and those of its organisation. Sorted when a call first asks, not when rows come in.

import type { Row, Table } from '../storage/define-table.js';
import { ratePolicies, usagePolicies, type RatePolicyRow, type UsagePolicyRow } from '../storage/tables/policies.js';
import type { WorkspaceRow } from '../storage/tables/workspaces.js';
import { PolicyGroup, RatePolicy, UsagePolicy } from './policy.js';

export const policyTables: readonly Table[] = [usagePolicies, ratePolicies];

type StoredPolicy = UsagePolicy | RatePolicy;

/** Each null when there is none of that kind. Those of targets are asked anew for each target of a call, the others once. */
interface Sorted {
  readonly rates: PolicyGroup<RatePolicy> | null;
  readonly usages: PolicyGroup<UsagePolicy> | null;
  readonly ratesOfTarget: PolicyGroup<RatePolicy> | null;
  readonly usagesOfTarget: PolicyGroup<UsagePolicy> | null;
  /** Some policy asks for the model. */
  readonly needsModel: boolean;
  readonly needsMetadata: boolean;
  /** Or cost. */
  readonly countsTokens: boolean;
}

export class WorkspacePolicies {
  readonly #workspace: WorkspaceRow;
  readonly #stored: StoredPolicies;
  #sorted: Sorted | null = null;

  constructor(workspace: WorkspaceRow, stored: StoredPolicies) {
    this.#workspace = workspace;
    this.#stored = stored;
  }

  /** Of the body: its model, or how many tokens the call will use. */
  get readsBody(): boolean {
    const { needsModel, countsTokens } = this.sorted;
    return needsModel || countsTokens;
  }

  get sorted(): Sorted {
    return this.#sorted ??= sort(this.#stored.near(this.#workspace).filter((policy) => policy.bindsWorkspace(this.#workspace)));
  }
}

function sort(policies: readonly StoredPolicy[]): Sorted {
  const usages = policies.filter((policy) => policy instanceof UsagePolicy);
  const rates = policies.filter((policy) => policy instanceof RatePolicy);
  return Object.freeze({
    rates: groupOf(rates.filter(({ needsTarget }) => !needsTarget)),
    usages: groupOf(usages.filter(({ needsTarget }) => !needsTarget)),
    ratesOfTarget: groupOf(rates.filter(({ needsTarget }) => needsTarget)),
    usagesOfTarget: groupOf(usages.filter(({ needsTarget }) => needsTarget)),
    needsModel: policies.some(({ needsModel }) => needsModel),
    needsMetadata: policies.some(({ needsMetadata }) => needsMetadata),
    countsTokens: policies.some(({ type }) => type !== 'requests'),
  });
}

const groupOf = <P extends StoredPolicy>(policies: readonly P[]): PolicyGroup<P> | null => (policies.length === 0 ? null : new PolicyGroup(policies));

/** The policies of a view that calls may have to look at. */
export class StoredPolicies {
  readonly #byId = new Map<string, StoredPolicy>();
  /** By the id of their workspace, or of the organisation when they are of it as a whole; then by their own. */
  readonly #byOwner = new Map<string, Map<string, StoredPolicy>>();

  /** Null: calls of the workspace have none to look at. */
  of(workspace: WorkspaceRow | undefined): WorkspacePolicies | null {
    if (workspace === undefined || (!this.#byOwner.has(workspace.id) && !this.#byOwner.has(workspace.organisationId))) return null;
    return new WorkspacePolicies(workspace, this);
  }

  /** Of the workspace or its organisation. */
  near({ id, organisationId }: WorkspaceRow): readonly StoredPolicy[] {
    return [...this.#byOwner.get(id)?.values() ?? [], ...this.#byOwner.get(organisationId)?.values() ?? []];
  }

  /** Returns the policies that came or went. */
  put(table: string, row: Row): readonly StoredPolicy[] {
    const { status } = row as UsagePolicyRow | RatePolicyRow;
    const before = this.remove(row.id);
    // Calls of tools over MCP are bound where they are served.
    if (status !== 'active' || (table === ratePolicies.name && (row as RatePolicyRow).target !== 'llm')) return before;
    const policy = table === usagePolicies.name ? new UsagePolicy(row as UsagePolicyRow) : new RatePolicy(row as RatePolicyRow);
    const owner = policy.workspaceId ?? policy.organisationId;
    let policies = this.#byOwner.get(owner);
    if (policies === undefined) this.#byOwner.set(owner, policies = new Map());
    policies.set(policy.id, policy);
    this.#byId.set(policy.id, policy);
    return [...before, policy];
  }

  /** As `put`. */
  remove(id: string): readonly StoredPolicy[] {
    const policy = this.#byId.get(id);
    if (policy === undefined) return [];
    this.#byId.delete(id);
    const owner = policy.workspaceId ?? policy.organisationId;
    const policies = this.#byOwner.get(owner);
    policies?.delete(id);
    if (policies?.size === 0) this.#byOwner.delete(owner);
    return [policy];
  }
}
