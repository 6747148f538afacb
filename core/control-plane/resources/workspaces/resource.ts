import { Type } from '../../../storage/type.js';
import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { workspaces, type WorkspaceRow } from '../../../storage/tables/workspaces.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { time } from '../../envelope.js';
import { object } from '../../../storage/schema-parts.js';
import { pageOf, pageQuery } from '../../paging.js';

async function workspaceOf(context: ControlContext, idOrSlug: string): Promise<Stored<WorkspaceRow>> {
  const stored = await context.byIdOrSlug(workspaces, idOrSlug, [context.caller.organisationId]);
  if (stored === undefined || stored.row.organisationId !== context.caller.organisationId) throw fail('ROW_UNKNOWN', { kind: 'workspace', id: idOrSlug.slice(0, 64) });
  if (!context.isOrganisationKey && stored.row.id !== context.caller.workspaceId) throw fail('WORKSPACE_FOREIGN', { kind: 'workspace', id: idOrSlug.slice(0, 64) });
  context.subject = stored;
  return stored;
}

const view = ({ row }: Stored<WorkspaceRow>): Reply => ({
  id: row.id, slug: row.slug, name: row.name, description: row.description, created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs),
  defaults: { ...row.defaults, is_default: row.isDefault ? 1 : 0, object: 'workspace' }, usage_limits: row.usageLimits, rate_limits: row.rateLimits,
});

export const workspacesResource = defineResource({
  name: 'workspaces',
  kind: 'workspace',
  operations: {
    list: operation({
      method: 'GET', path: '/workspaces', aliases: ['/admin/workspaces'], scope: 'workspaces.list', query: object(pageQuery()),
      handle: (context, { query }) => pageOf(context, workspaces, { index: 'organisation', parts: [context.caller.organisationId] }, query, view),
    }),
    read: operation({
      method: 'GET', path: '/workspaces/{workspaceId}', aliases: ['/admin/workspaces/{workspaceId}'], scope: 'workspaces.read',
      handle: async (context, { params }) => view(await workspaceOf(context, params.workspaceId ?? '')),
    }),
    update: operation({
      method: 'PUT', path: '/workspaces/{workspaceId}', aliases: ['/admin/workspaces/{workspaceId}'], scope: 'workspaces.update', action: 'updated',
      body: object({ name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })) }),
      handle: async (context, { params, body }) => {
        const stored = await workspaceOf(context, params.workspaceId ?? '');
        context.change.update(stored, { ...stored.row, name: body.name ?? stored.row.name, updatedAtMs: context.nowMs });
        return {};
      },
    }),
  },
});
