// How replies show an API key. The secret is in the reply of create and rotate alone; here it is masked.

import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { keyTypes, type ApiKeyRow } from '../../../storage/tables/api-keys.js';
import { Type } from '../../../storage/type.js';
import type { Reply } from '../../define-resource.js';
import { idText, named, time, timeOrNull, timeText, timeTextOrNull, zeroOrOne } from '../../envelope.js';
import { rateLimitFields, usageLimitsField } from '../../limit-fields.js';
import { metadataField } from '../../metadata.js';
import { isExhausted, usageListField, usageOf, type UsageContext } from '../common/usage-view.js';

export const keySchema = named('ApiKey', object({
  id: idText(), object: Type.Literal('api-key'), key: Type.String({ description: 'masked' }), name: Type.String(), description: orNull(Type.String()), type: choice(keyTypes),
  organisation_id: idText(), workspace_id: orNull(idText()), user_id: orNull(idText()), status: choice(['active', 'exhausted', 'expired']),
  created_at: timeText(), last_updated_at: timeText(), creation_mode: choice(['ui', 'api', 'auto']),
  rate_limits: Type.Array(rateLimitFields.ofKeys), usage_limits: orNull(usageLimitsField), usage: usageListField, reset_usage: Type.Literal(0), last_reset_at: timeTextOrNull(), scopes: Type.Array(Type.String()),
  defaults: object({ metadata: metadataField(), config_id: orNull(Type.String()), provider: orNull(Type.String()), allow_config_override: Type.Boolean() }),
  allow_config_override: zeroOrOne(), alert_emails: Type.Array(Type.String()), expires_at: timeTextOrNull(),
  rotation_policy: orNull(object({
    rotation_period: orNull(choice(['weekly', 'monthly'])), rotation_period_days: orNull(Type.Integer()), next_rotation_at: timeTextOrNull(), key_transition_period_ms: orNull(Type.Integer()),
    status: choice(['ACTIVE', 'UNCLAIMED'], { description: 'UNCLAIMED: the policy rotated it, and nobody has asked for the new secret yet' }),
  })),
  last_rotated_at: timeTextOrNull(), key_transition_expires_at: timeTextOrNull(),
}));

export function keyView(row: ApiKeyRow, context: UsageContext): Reply {
  const { nowMs } = context;
  const usage = usageOf(context, 'key', row.id, [row.usageLimits], row.createdAtMs);
  const { rotationPolicy, previous } = row;
  return {
    id: row.id, object: 'api-key', key: row.keyMasked, name: row.name, description: row.description, type: row.type,
    organisation_id: row.organisationId, workspace_id: row.workspaceId, user_id: row.userId,
    status: row.expiresAtMs !== null && row.expiresAtMs <= nowMs ? 'expired' : isExhausted(usage) ? 'exhausted' : row.status,
    created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), creation_mode: row.creationMode,
    rate_limits: row.rateLimits, usage_limits: row.usageLimits, usage, reset_usage: 0, last_reset_at: timeOrNull(row.lastResetAtMs),
    scopes: row.scopes, defaults: row.defaults, allow_config_override: row.defaults.allow_config_override ? 1 : 0,
    alert_emails: row.alertEmails, expires_at: timeOrNull(row.expiresAtMs),
    rotation_policy: rotationPolicy === null ? null : {
      rotation_period: rotationPolicy.rotation_period ?? null, rotation_period_days: rotationPolicy.rotation_period_days ?? null,
      next_rotation_at: rotationPolicy.next_rotation_at ?? null, key_transition_period_ms: rotationPolicy.key_transition_period_ms ?? null,
      status: row.isUnclaimed === true ? 'UNCLAIMED' : 'ACTIVE',
    },
    last_rotated_at: timeOrNull(row.lastRotatedAtMs ?? null),
    key_transition_expires_at: previous === null || previous.expiresAtMs <= nowMs ? null : time(previous.expiresAtMs),
  };
}
