import type { Stored } from '../../../storage/change.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { logBodySettings } from '../../../storage/tables/log-body-settings.js';
import type { WorkspaceRow } from '../../../storage/tables/workspaces.js';
import { Type } from '../../../storage/type.js';
import type { Reply } from '../../define-resource.js';
import { idText, named, time, timeOrNull, timeText, timeTextOrNull, zeroOrOne } from '../../envelope.js';
import { rateLimitFields, usageLimitsField } from '../../limit-fields.js';
import { metadataField } from '../../metadata.js';
import { usageListField, usageOf, type UsageContext } from '../common/usage-view.js';

export const workspaceSchema = named('Workspace', object({
  id: idText(), object: Type.Literal('workspace'), slug: Type.String(), name: Type.String(), description: orNull(Type.String()), icon: orNull(Type.String()), status: choice(['active', 'archived']),
  created_at: timeText(), last_updated_at: timeText(), last_reset_at: timeTextOrNull(),
  defaults: object({
    metadata: metadataField(), input_guardrails: Type.Array(Type.String()), output_guardrails: Type.Array(Type.String()), user_api_key_config: orNull(Type.String()),
    is_default: zeroOrOne(), object: Type.Literal('workspace'),
  }),
  usage_limits: Type.Array(usageLimitsField), usage: usageListField, rate_limits: Type.Array(rateLimitFields.ofOthers), log_bodies: orNull(logBodySettings),
}));

export const workspaceView = (context: UsageContext, { row }: Pick<Stored<WorkspaceRow>, 'row'>): Reply => ({
  id: row.id, object: 'workspace', slug: row.slug, name: row.name, description: row.description, icon: row.icon, status: row.status,
  created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), last_reset_at: timeOrNull(row.lastResetAtMs ?? null),
  defaults: { ...row.defaults, is_default: row.isDefault ? 1 : 0, object: 'workspace' }, usage_limits: row.usageLimits, usage: usageOf(context, 'workspace', row.id, row.usageLimits, row.createdAtMs), rate_limits: row.rateLimits, log_bodies: row.logBodies ?? null,
});
