import type { Stored } from '../../../storage/change.js';
import type { WorkspaceRow } from '../../../storage/tables/workspaces.js';
import type { Reply } from '../../define-resource.js';
import { time, timeOrNull } from '../../envelope.js';

export const workspaceView = ({ row }: Pick<Stored<WorkspaceRow>, 'row'>): Reply => ({
  id: row.id, object: 'workspace', slug: row.slug, name: row.name, description: row.description, icon: row.icon, status: row.status,
  created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), last_reset_at: timeOrNull(row.lastResetAtMs ?? null),
  defaults: { ...row.defaults, is_default: row.isDefault ? 1 : 0, object: 'workspace' }, usage_limits: row.usageLimits, rate_limits: row.rateLimits,
});
