// What workspaces that were deleted leave behind is removed, with the secrets in it, page by page: too much for the change that deletes one. Their own rows stay.
// Records of the log and exports of it have times of their own.

import { Change, CommitConflict, type Stored } from '../../../storage/change.js';
import type { Row, Table } from '../../../storage/define-table.js';
import { configs } from '../../../storage/tables/configs.js';
import { configVersions } from '../../../storage/tables/config-versions.js';
import { guardrails } from '../../../storage/tables/guardrails.js';
import { integrations } from '../../../storage/tables/integrations.js';
import { organisations } from '../../../storage/tables/organisations.js';
import { ratePolicies, usagePolicies } from '../../../storage/tables/policies.js';
import { partialVersions, promptCollections, promptLabels, promptPartials, prompts, promptVersions } from '../../../storage/tables/prompts.js';
import { providers } from '../../../storage/tables/providers.js';
import { secretReferences } from '../../../storage/tables/secret-references.js';
import { workspaces, type WorkspaceRow } from '../../../storage/tables/workspaces.js';
import { ownAuditRecord, type Job, type JobContext, type Memory } from '../../jobs.js';

/** Of one change: versions may have a MiB each. */
const pageRows = 20;
/** Of one run, about; the rest follow in the next. */
const runRowsMax = 5_000;
/** That one run looks at. */
const workspacesMax = 1_000;

type Parts = (workspace: WorkspaceRow) => readonly string[];

interface Owned {
  readonly table: Table;
  readonly index: string;
  readonly parts: Parts;
  /** Rows that belong to each, by its id. */
  readonly below?: Pick<Place, 'table' | 'index'>;
}

interface Place {
  readonly table: Table;
  readonly index: string;
  readonly parts: readonly string[];
}

const byId: Parts = ({ id }) => [id];
const byPlace: Parts = ({ id, organisationId }) => [organisationId, id];

/** What names others goes before them. */
const owned: readonly Owned[] = [
  { table: configs, index: 'workspace', parts: byId, below: { table: configVersions, index: 'config' } },
  { table: prompts, index: 'workspace', parts: byId, below: { table: promptVersions, index: 'prompt' } },
  { table: promptPartials, index: 'workspace', parts: byId, below: { table: partialVersions, index: 'partial' } },
  { table: promptLabels, index: 'workspace', parts: byId },
  { table: promptCollections, index: 'workspace', parts: byId },
  { table: usagePolicies, index: 'workspace', parts: byPlace },
  { table: ratePolicies, index: 'workspace', parts: byPlace },
  { table: providers, index: 'workspace', parts: byId },
  { table: integrations, index: 'of-workspace', parts: byId },
  { table: guardrails, index: 'workspace', parts: byPlace },
];

export const emptyingJob: Job = Object.freeze({ name: 'deleted-workspaces', isDue, run });

async function isDue({ repository }: JobContext): Promise<boolean> {
  return (await repository.list(workspaces, { index: 'to-empty', limit: 1 })).length > 0;
}

/** One that fails, or that somebody changes meanwhile, is left to the next run, and holds up no other. */
async function run(context: JobContext): Promise<Memory> {
  const faults: unknown[] = [];
  let left = runRowsMax;
  for (const stored of await context.repository.list(workspaces, { index: 'to-empty', limit: workspacesMax })) {
    try {
      left -= await removeOwned(context, stored.row, left);
      if (left <= 0) break;
      await forget(context, stored);
    } catch (thrown) {
      if (!(thrown instanceof CommitConflict)) faults.push(thrown);
    }
  }
  if (faults.length > 0) throw faults[0];
  return {};
}

/** Resolves with how many rows were removed; `rowsMax` or more: there may be others. */
async function removeOwned(context: JobContext, workspace: WorkspaceRow, rowsMax: number): Promise<number> {
  let removed = 0;
  for (const { table, index, parts, below } of owned) {
    const at = { table, index, parts: parts(workspace) };
    for (let page = await pageAt(context, at); page.length > 0; page = await pageAt(context, at)) {
      if (below !== undefined) for (const { row } of page) removed += await removeAll(context, { ...below, parts: [row.id] });
      removed += await remove(context, page);
      if (removed >= rowsMax) return removed;
    }
  }
  return removed;
}

const pageAt = ({ repository }: JobContext, { table, index, parts }: Place): Promise<Stored[]> => repository.list(table, { index, parts, limit: pageRows });

async function removeAll(context: JobContext, place: Place): Promise<number> {
  let removed = 0;
  for (let page = await pageAt(context, place); page.length > 0; page = await pageAt(context, place)) removed += await remove(context, page);
  return removed;
}

async function remove({ repository }: JobContext, rows: readonly Stored<Row>[]): Promise<number> {
  const change = new Change();
  for (const stored of rows) change.remove(stored);
  await repository.commit(change);
  return rows.length;
}

/** Takes the workspace out of what others say of it, and notes that it is done. */
async function forget({ repository, nowMs }: JobContext, stored: Stored<WorkspaceRow>): Promise<void> {
  const { row } = stored;
  const { id, organisationId } = row;
  const change = new Change();
  const organisation = await repository.get(organisations, organisationId);
  if (organisation !== undefined) {
    const { input_guardrails: input, output_guardrails: output } = organisation.row.exclusions;
    const others = (ids: readonly string[]): string[] => ids.filter((each) => each !== id);
    if (input.includes(id) || output.includes(id)) change.update(organisation, { ...organisation.row, exclusions: { input_guardrails: others(input), output_guardrails: others(output) } });
  }
  for await (const integration of repository.each(integrations, { index: 'organisation', parts: [organisationId] })) {
    const { [id]: access, ...rest } = integration.row.workspaces;
    if (access !== undefined) change.update(integration, { ...integration.row, workspaces: rest });
  }
  for await (const reference of repository.each(secretReferences, { index: 'organisation', parts: [organisationId] })) {
    if (reference.row.workspaces.includes(id)) change.update(reference, { ...reference.row, workspaces: reference.row.workspaces.filter((each) => each !== id) });
  }
  change.update(stored, { ...row, isEmptied: true });
  change.audit.push(ownAuditRecord(nowMs, { organisationId, workspaceId: id, resourceType: 'workspace', uri: `/workspaces/${id}` }, 'emptied', { workspace_id: id }));
  await repository.commit(change);
}
