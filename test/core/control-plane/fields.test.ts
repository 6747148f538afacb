import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkedRateLimits, checkedUsageLimits, type UsageLimits } from '../../../core/control-plane/limit-fields.js';
import { slugFrom } from '../../../core/control-plane/slugs.js';

const nowMs = Date.UTC(2030, 0, 15);
const refusal = (limits: UsageLimits): string => {
  try {
    checkedUsageLimits(limits, 'usage_limits', nowMs);
    return '';
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : '';
  }
};

describe('members that several resources have', () => {
  it('are usage limits whose parts go together', () => {
    assert.deepEqual(checkedUsageLimits({ credit_limit: 5, next_usage_reset_at: '2030-02-01T01:00:00+01:00', periodic_reset: 'weekly' }, 'usage_limits', nowMs), {
      credit_limit: 5, type: 'cost', alert_threshold: null, periodic_reset: 'weekly', periodic_reset_days: null, next_usage_reset_at: '2030-02-01T00:00:00.000Z',
    });
    assert.match(refusal({}), /^usage_limits\.credit_limit is required/);
    assert.match(refusal({ credit_limit: 5, alert_threshold: 6 }), /^usage_limits\.alert_threshold is more than/);
    assert.match(refusal({ credit_limit: 5, periodic_reset: 'weekly', periodic_reset_days: 3 }), /^usage_limits\.periodic_reset_days cannot stand beside/);
    assert.match(refusal({ credit_limit: 5, next_usage_reset_at: '2031-01-01T00:00:00Z' }), /^usage_limits\.next_usage_reset_at needs/);
    assert.match(refusal({ credit_limit: 5, periodic_reset: 'weekly', next_usage_reset_at: '2030-01-15T00:00:00Z' }), /must be in the future$/);
  });

  it('are rate limits, one of each kind', () => {
    const limits = [{ type: 'requests', unit: 'rpm', value: 1 }, { type: 'tokens', unit: 'rpm', value: 1 }] as const;
    assert.deepEqual(checkedRateLimits(limits, 'rate_limits'), limits);
    assert.throws(() => checkedRateLimits([...limits, { type: 'tokens', unit: 'rpm', value: 2 }], 'rate_limits'), /^GatewayError: rate_limits\.2 is a second limit of tokens by rpm/);
  });

  it('are slugs that say what they are of', () => {
    assert.match(slugFrom('Équipe  Données / 2', { prefix: 'ws' }), /^ws-equipe-donnees-2-[0-9a-f]{6}$/);
    assert.match(slugFrom('日本', { prefix: 'ws' }), /^ws-[0-9a-f]{6}$/);
    assert.match(slugFrom('OpenAI main', { nameCharsMax: 6 }), /^openai-[0-9a-f]{6}$/);
    assert.notEqual(slugFrom('a'), slugFrom('a'));
  });
});
