// How replies show an API key. The secret is in the reply of create and rotate alone; here it is masked.

import type { ApiKeyRow } from '../../../storage/tables/api-keys.js';
import type { Reply } from '../../define-resource.js';
import { time, timeOrNull } from '../../envelope.js';

export function keyView(row: ApiKeyRow, nowMs: number): Reply {
  const { rotationPolicy, previous } = row;
  return {
    id: row.id, object: 'api-key', key: row.keyMasked, name: row.name, description: row.description, type: row.type,
    organisation_id: row.organisationId, workspace_id: row.workspaceId, user_id: row.userId,
    status: row.expiresAtMs !== null && row.expiresAtMs <= nowMs ? 'expired' : row.status,
    created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), creation_mode: row.creationMode,
    rate_limits: row.rateLimits, usage_limits: row.usageLimits, reset_usage: 0, last_reset_at: timeOrNull(row.lastResetAtMs),
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
