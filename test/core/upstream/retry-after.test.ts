import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs, retryAfterMs } from '../../../core/upstream/retry-after.js';

const nowMs = Date.UTC(1994, 10, 6, 8, 49, 7);

test('reads milliseconds, seconds and decimal seconds', () => {
  assert.equal(retryAfterMs(['retry-after-ms', '250'], nowMs), 250);
  assert.equal(retryAfterMs(['x-ms-retry-after-ms', '1500'], nowMs), 1500);
  assert.equal(retryAfterMs(['content-type', 'text/plain', 'retry-after', '3'], nowMs), 3000);
  assert.equal(retryAfterMs(['retry-after', ' 0.25 '], nowMs), 250);
  assert.equal(retryAfterMs(['retry-after', '1.1'], nowMs), 1100);
  assert.equal(retryAfterMs(['retry-after', '0'], nowMs), 0);
});

test('prefers the finer header and passes over one that cannot be read', () => {
  assert.equal(retryAfterMs(['retry-after', '9', 'x-ms-retry-after-ms', '80', 'retry-after-ms', '70'], nowMs), 70);
  assert.equal(retryAfterMs(['retry-after', '9', 'x-ms-retry-after-ms', '80', 'retry-after-ms', 'soon'], nowMs), 80);
  assert.equal(retryAfterMs(['retry-after-ms', '-1', 'retry-after', '9'], nowMs), 9000);
});

test('reads the three date forms of RFC 9110', () => {
  for (const date of ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994']) {
    assert.equal(retryAfterMs(['retry-after', date], nowMs), 30_000, date);
  }
});

test('a date that has passed means now', () => {
  assert.equal(retryAfterMs(['retry-after', 'Sun, 06 Nov 1994 08:00:00 GMT'], nowMs), 0);
});

test('a two-digit year more than 50 years ahead is one of the past century', () => {
  const inThisCentury = Date.UTC(2026, 0, 1);
  assert.equal(retryAfterMs(['retry-after', 'Sunday, 06-Nov-94 08:49:37 GMT'], inThisCentury), 0);
  assert.equal(retryAfterMs(['retry-after', 'Thursday, 01-Jan-26 00:00:05 GMT'], inThisCentury), 5000);
});

test('gives -1 for no header and for what is neither a number nor a date', () => {
  const invalid = ['', '-3', '+3', '1e3', '0x10', '3 s', 'NaN', 'Infinity', '3,4', '1.', '.5', 'tomorrow', '2026-01-01T00:00:00Z', 'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 CET', 'Sun, 31 Feb 1994 08:49:37 GMT', 'Sun, 00 Nov 1994 08:49:37 GMT', 'Sun, 06 Nov 1994 24:49:37 GMT', 'Sun, 06 Foo 1994 08:49:37 GMT'];
  for (const value of invalid) assert.equal(retryAfterMs(['retry-after', value], nowMs), -1, JSON.stringify(value));
  assert.equal(retryAfterMs([], nowMs), -1);
  assert.equal(retryAfterMs(['other', 'retry-after'], nowMs), -1);
});

test('an absurd wait stays a number a timer can hold', () => {
  assert.equal(retryAfterMs(['retry-after', '9'.repeat(400)], nowMs), 2_147_483_647);
  assert.equal(retryAfterMs(['retry-after', 'Fri, 31 Dec 9999 23:59:59 GMT'], nowMs), 2_147_483_647);
});

test('back-off doubles from the base up to eight seconds', () => {
  const whole = (): number => 1;
  assert.deepEqual([0, 1, 2, 3, 4, 5, 2000].map((retry) => backoffMs(retry, 500, whole)), [500, 1000, 2000, 4000, 8000, 8000, 8000]);
  assert.equal(backoffMs(2000, 0, whole), 0);
});

test('jitter takes away up to a quarter', () => {
  assert.equal(backoffMs(1, 1000, () => 0), 1500);
  assert.equal(backoffMs(1, 1000, () => 0.5), 1750);
  assert.equal(backoffMs(9, 1000, () => 0), 6000);
});
