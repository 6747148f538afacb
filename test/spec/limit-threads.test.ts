import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadWindows } from '../../bench/load/limit-windows.js';
import { ratePolicies } from '../../core/storage/tables/policies.js';
import { startChildGateway } from '../support/child-gateway.js';
import { withinOneDay } from '../support/one-day.js';
import { putRows, ratePolicyRow } from '../support/rows.js';
import { storedData } from '../support/stored.js';
import { startUpstream } from '../support/upstream.js';

/** So low that a busy machine comes to their ends, too. */
const limit = 4;
const limitOfWeek = 20;
const windows = 4;
const patienceMs = 60_000;

const stored = await storedData({ GATEWAY_THREADS: '2' });
const { rows } = stored;
const upstream = await startUpstream();
const keys = { perSecond: 'key-of-seconds-0001', perWeek: 'key-of-a-week-00001', policy: 'key-of-policies-0001' };
await rows.integration('main', { key: 'sk-1' }, { customHost: `${upstream.url}/v1` });
await rows.provider('free', 'main');
await rows.key(keys.perSecond, { rateLimits: [{ type: 'requests', unit: 'rps', value: limit }] });
await rows.key(keys.perWeek, { rateLimits: [{ type: 'requests', unit: 'rpw', value: limitOfWeek }] });
await rows.key(keys.policy, {});
await putRows(rows.repository, ratePolicies, ratePolicyRow('by-user', {
  organisationId: rows.organisationId, workspaceId: rows.workspaceId, conditions: [{ key: 'metadata._user', value: '*' }], groupBy: [{ key: 'metadata._user' }], unit: 'rpw', value: limitOfWeek,
}));
const gateway = await startChildGateway(stored.environment);
await withinOneDay();
const headersOf = (key: string, user?: string): Readonly<Record<string, string>> =>
  ({ 'x-gateway-api-key': key, 'x-gateway-provider': '@free', ...(user === undefined ? {} : { 'x-gateway-metadata': JSON.stringify({ _user: user }) }) });

test('over two threads and eight connections exactly as many pass in each window as the limits say, by key and by group', async () => {
  const beganMs = Date.now();
  const figures = await loadWindows({
    port: gateway.port, connections: 8, pauseMs: 1, untilMs: (Math.floor(beganMs / 1000) + windows) * 1000 + 500, patienceMs,
    series: [
      { name: 'key a second', headers: headersOf(keys.perSecond), limit, windowMs: 1000 },
      { name: 'key a week', headers: headersOf(keys.perWeek), limit: limitOfWeek, windowMs: Infinity },
      ...['ann', 'bob'].map((user) => ({ name: user, headers: headersOf(keys.policy, user), limit: limitOfWeek, windowMs: Infinity })),
    ],
  });
  for (const { name, fault, refused } of figures) assert.deepEqual([fault, refused > 0], [undefined, true], `${name}: ${JSON.stringify(figures)}`);
  // By the provider's own count as well: what a gateway says of itself could be wrong twice.
  assert.equal(upstream.received.length, figures.reduce((sum, { passed }) => sum + passed, 0));
  const [perSecond, ...others] = figures;
  assert.ok(perSecond !== undefined && perSecond.windows >= 2 && perSecond.windows <= (Date.now() - beganMs) / 1000 + 2, JSON.stringify(figures));
  for (const { windows: used, rest } of others) assert.deepEqual([used, rest], [1, 0]);
});

test('after a kill what was counted is still counted', async () => {
  // Written each second, and the limit of the week was used up in the first one.
  gateway.kill('SIGKILL');
  await gateway.ended;
  const again = await startChildGateway(stored.environment);
  const [perWeek] = await loadWindows({ port: again.port, connections: 2, pauseMs: 1, untilMs: Date.now() + 200, patienceMs, series: [{ name: 'key a week', headers: headersOf(keys.perWeek), limit: limitOfWeek, windowMs: Infinity }] });
  assert.ok(perWeek !== undefined && perWeek.refused > 0);
  assert.equal(perWeek.passed, 0);
});
