// The counts of usage limits, as replies show them: by the counters that calls go by, reservations included.

import { periodAt } from '../../../limits/periods.js';
import { countedPerUnit, usageCounterKey } from '../../../snapshot/limit-specs.js';
import { choice, object } from '../../../storage/schema-parts.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { named, timeOrNull, timeTextOrNull } from '../../envelope.js';
import type { UsageLimits } from '../../limit-fields.js';

const usageField = named('CountedUsage', object({
  type: choice(['cost', 'tokens']), current_usage: Type.Number({ description: 'US dollars, or tokens, since the last reset; with what calls that are under way have reserved' }),
  status: choice(['active', 'exhausted']), next_usage_reset_at: timeTextOrNull(),
}));
/** One for each limit. */
export const usageListField = Type.Array(usageField);

export interface Usage {
  readonly type: 'cost' | 'tokens';
  readonly current_usage: number;
  readonly status: 'active' | 'exhausted';
  readonly next_usage_reset_at: string | null;
}

export type UsageContext = Pick<ControlContext, 'services' | 'nowMs'>;

/** `id`: as the counters of the level have it. */
export function usageOf({ services, nowMs }: UsageContext, level: 'key' | 'provider' | 'workspace' | 'access', id: string, limits: readonly (UsageLimits | null)[], madeAtMs: number): readonly Usage[] {
  return limits.flatMap((limit): Usage[] => {
    if (limit === null) return [];
    const type = limit.type ?? 'cost';
    const used = (services.spend?.used(usageCounterKey(level, id, type)) ?? 0) / countedPerUnit(type);
    const { endMs } = periodAt(limit, level, nowMs, madeAtMs);
    const isExhausted = typeof limit.credit_limit === 'number' && used >= limit.credit_limit;
    return [{ type, current_usage: used, status: isExhausted ? 'exhausted' : 'active', next_usage_reset_at: timeOrNull(endMs === Infinity ? null : endMs) }];
  });
}

export const isExhausted = (usage: readonly Usage[]): boolean => usage.some(({ status }) => status === 'exhausted');
