// Indexes of rows that a workspace owns and calls name by their slug: one slug once in a workspace, and found over all workspaces too.

import type { Index } from '../define-table.js';

interface Slugged {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly slug: string;
}

export const slugIndexes: Readonly<Record<string, Index<Slugged>>> = {
  workspace: { of: (row) => [row.workspaceId] },
  organisation: { of: (row) => [row.organisationId] },
  slug: { isUnique: true, of: (row) => [row.workspaceId, row.slug] },
  'organisation-slug': { of: (row) => [row.organisationId, row.slug] },
};
