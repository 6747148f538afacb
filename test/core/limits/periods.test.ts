import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { periodAt, weekStarts, type ResetRule } from '../../../core/limits/periods.js';
import type { LimitLevel } from '../../../core/snapshot/limit-specs.js';
import fc from '../../support/fast-check.js';

const iso = (ms: number): string => (Number.isFinite(ms) ? new Date(ms).toISOString() : String(ms));
const at = (rule: ResetRule, level: LimitLevel, now: string, made = '2026-01-15T12:00:00Z'): [string, string] => {
  const { startMs, endMs } = periodAt(rule, level, Date.parse(now), Date.parse(made));
  return [iso(startMs), iso(endMs)];
};

describe('periods', () => {
  test('weeks of policies begin on Monday, all others on Sunday', () => {
    // A Wednesday, a Sunday and a Monday.
    for (const level of Object.keys(weekStarts) as LimitLevel[]) {
      const day = level === 'policy' ? 1 : 0;
      assert.equal(new Date(periodAt({ periodic_reset: 'weekly' }, level, Date.parse('2026-04-01T10:00:00Z')).startMs).getUTCDay(), day, level);
    }
    assert.deepEqual(at({ periodic_reset: 'weekly' }, 'policy', '2026-04-05T23:59:59.999Z'), ['2026-03-30T00:00:00.000Z', '2026-04-06T00:00:00.000Z']);
    assert.deepEqual(at({ periodic_reset: 'weekly' }, 'key', '2026-04-05T00:00:00Z'), ['2026-04-05T00:00:00.000Z', '2026-04-12T00:00:00.000Z']);
    assert.deepEqual(at({ periodic_reset: 'weekly' }, 'key', '2026-04-04T23:59:59.999Z'), ['2026-03-29T00:00:00.000Z', '2026-04-05T00:00:00.000Z']);
  });

  test('months begin on their first day, whatever their length', () => {
    assert.deepEqual(at({ periodic_reset: 'monthly' }, 'key', '2028-02-29T23:59:59.999Z'), ['2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z']);
    assert.deepEqual(at({ periodic_reset: 'monthly' }, 'policy', '2026-12-31T23:59:59Z'), ['2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z']);
  });

  test('periods of days are counted from the reset that was asked for, before and after it', () => {
    const rule = { periodic_reset_days: 10, next_usage_reset_at: '2026-05-11T00:00:00.000Z' };
    assert.deepEqual(at(rule, 'key', '2026-05-10T23:59:59.999Z'), ['2026-05-01T00:00:00.000Z', '2026-05-11T00:00:00.000Z']);
    assert.deepEqual(at(rule, 'key', '2026-05-11T00:00:00Z'), ['2026-05-11T00:00:00.000Z', '2026-05-21T00:00:00.000Z']);
    assert.deepEqual(at(rule, 'key', '2026-06-12T00:00:00Z'), ['2026-06-10T00:00:00.000Z', '2026-06-20T00:00:00.000Z']);
    assert.deepEqual(at({ periodic_reset_days: 10 }, 'key', '2026-01-26T00:00:00Z'), ['2026-01-25T00:00:00.000Z', '2026-02-04T00:00:00.000Z'], 'else from the day on which it was made');
  });

  test('a first reset that was asked for comes before those of the calendar', () => {
    const rule: ResetRule = { periodic_reset: 'monthly', next_usage_reset_at: '2026-03-10T00:00:00.000Z' };
    assert.deepEqual(at(rule, 'key', '2026-02-20T00:00:00Z'), ['2026-01-01T00:00:00.000Z', '2026-03-10T00:00:00.000Z']);
    assert.deepEqual(at(rule, 'key', '2026-03-10T00:00:00Z'), ['2026-03-10T00:00:00.000Z', '2026-04-01T00:00:00.000Z']);
    assert.deepEqual(at(rule, 'key', '2026-04-01T00:00:00Z'), ['2026-04-01T00:00:00.000Z', '2026-05-01T00:00:00.000Z']);
  });

  test('without a rule there is one period, for ever', () => {
    for (const rule of [{}, { periodic_reset: null, periodic_reset_days: null, next_usage_reset_at: null }]) assert.deepEqual(periodAt(rule, 'key', Date.now()), { startMs: 0, endMs: Infinity });
  });

  test('whatever the rule, every moment is in one period, and the next begins where one ends', () => {
    const ms = fc.integer({ min: Date.parse('2020-01-01'), max: Date.parse('2035-01-01') });
    const rules = fc.oneof(
      fc.constant<ResetRule>({ periodic_reset: 'weekly' }), fc.constant<ResetRule>({ periodic_reset: 'monthly' }), fc.integer({ min: 1, max: 365 }).map((days): ResetRule => ({ periodic_reset_days: days })),
      fc.tuple(fc.constantFrom('weekly' as const, 'monthly' as const), ms).map(([reset, next]): ResetRule => ({ periodic_reset: reset, next_usage_reset_at: new Date(next).toISOString() })),
      fc.tuple(fc.integer({ min: 1, max: 365 }), ms).map(([days, next]): ResetRule => ({ periodic_reset_days: days, next_usage_reset_at: new Date(next).toISOString() })),
    );
    fc.assert(fc.property(rules, fc.constantFrom<LimitLevel>('key', 'policy'), ms, (rule, level, now) => {
      const made = Date.parse('2020-01-01');
      const { startMs, endMs } = periodAt(rule, level, now, made);
      assert.ok(startMs <= now && now < endMs);
      assert.deepEqual(periodAt(rule, level, startMs, made), { startMs, endMs });
      assert.deepEqual(periodAt(rule, level, endMs - 1, made), { startMs, endMs });
      assert.equal(periodAt(rule, level, endMs, made).startMs, endMs);
    }), { numRuns: 300 });
  });
});
