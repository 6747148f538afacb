import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashKey } from '../../../core/auth/key.js';
import { JobRunner, type Job, type Memory } from '../../../core/control-plane/jobs.js';
import { jobs } from '../../../core/control-plane/resources/jobs.js';
import { apiKeys, type ApiKeyRow } from '../../../core/storage/tables/api-keys.js';
import { firstPerson as person, startControl, type TestControl } from '../../support/control.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

interface TestJobs {
  readonly control: TestControl;
  readonly notices: string[];
  /** What the audit log says that the gateway did by itself, and its details. */
  done(): Promise<(readonly [action: unknown, details: Record<string, any>])[]>;
  /** As long as it has to be for the clock to be there. */
  runAt(ms: number): Promise<void>;
  runnerOf(jobs: readonly Job[]): JobRunner;
}

async function startJobs(): Promise<TestJobs> {
  const control = await startControl();
  const notices: string[] = [];
  const runnerOf = (list: readonly Job[]): JobRunner => new JobRunner({
    repository: control.repository, now: () => control.clock.nowMs, notify: (message, details) => notices.push(`${message} ${JSON.stringify(details)}`), onFault: (_, thrown) => control.faults.push(thrown),
  }, list);
  const runner = runnerOf(jobs);
  return {
    control, notices, runnerOf,
    done: async () => {
      const actions: [unknown, Record<string, any>][] = [];
      for await (const { record } of control.repository.audit()) if (record.user_type === 'gateway') actions.push([record.action, Object(record.details)]);
      return actions;
    },
    runAt: async (ms) => {
      control.clock.nowMs = ms;
      await runner.runDue();
      assert.deepEqual(control.faults, []);
    },
  };
}

async function made(control: TestControl, more: Record<string, unknown>, path = 'workspace/service'): Promise<{ readonly id: string; readonly key: string; row(): Promise<ApiKeyRow> }> {
  const reply = await control.call('POST', `/v1/api-keys/${path}`, { name: 'k', scopes: ['completions.write'], workspace_id: 'first-workspace', ...more });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  const id = String(reply.body.id);
  const row = async (): Promise<ApiKeyRow> => {
    const stored = await control.repository.get(apiKeys, id);
    assert.ok(stored !== undefined);
    return stored.row;
  };
  return { id, key: String(reply.body.key), row };
}

async function until(holds: () => boolean): Promise<void> {
  for (let turns = 0; !holds(); turns += 1) {
    assert.ok(turns < 100_000, 'it did not come');
    await new Promise((resolve) => { setImmediate(resolve); });
  }
}

describe('the jobs of API keys', () => {
  it('warn before a key expires, a week and a day, and say once that it has', async () => {
    const { control, notices, done, runAt } = await startJobs();
    const expiryMs = Date.UTC(2030, 2, 1);
    const { id, row } = await made(control, { expires_at: new Date(expiryMs).toISOString(), alert_emails: ['a@example.com'] });
    await runAt(expiryMs - 8 * dayMs);
    assert.deepEqual(await done(), []);
    for (const beforeMs of [7 * dayMs, 7 * dayMs - minuteMs, dayMs, dayMs - minuteMs, 0, -minuteMs]) await runAt(expiryMs - beforeMs);
    assert.deepEqual((await done()).map(([action]) => action), ['expiry-warned', 'expiry-warned', 'expired']);
    assert.deepEqual((await done())[0]?.[1], { api_key_id: id, expires_at: '2030-03-01T00:00:00.000Z', alert_emails: ['a@example.com'] });
    assert.equal(notices.length, 3);
    assert.ok(notices.every((notice) => notice.includes(id) && !notice.includes('example.com')));
    assert.equal((await row()).expiresAtMs, expiryMs);
    const { body } = await control.call('GET', '/v1/audit-logs?start_time=2030-02-01T00:00:00Z&end_time=2030-04-01T00:00:00Z&user_type=gateway');
    assert.deepEqual((body.records as { readonly action: string; readonly uri: string }[]).map(({ action, uri }) => [action, uri]), ['expired', 'expiry-warned', 'expiry-warned'].map((action) => [action, `/v1/api-keys/${id}`]));
    assert.equal((await control.call('GET', `/v1/api-keys/${id}`)).body.status, 'expired');
    // Another expiry is another event; what is late is told once.
    await control.call('PUT', `/v1/api-keys/${id}`, { expires_at: new Date(expiryMs + 2 * dayMs).toISOString() });
    await runAt(expiryMs + 2 * dayMs - hourMs);
    assert.deepEqual((await done()).map(([action]) => action), ['expiry-warned', 'expiry-warned', 'expired', 'expiry-warned']);
  });

  it('rotate by policy: the old secret ends, and the new one is shown to whoever rotates', async () => {
    const { control, notices, done, runAt } = await startJobs();
    const { id, key, row } = await made(control, { rotation_policy: { rotation_period: 'weekly', key_transition_period_ms: 2 * hourMs } });
    const dueMs = Date.UTC(2030, 0, 21);
    await runAt(dueMs - dayMs);
    assert.deepEqual((await done()).map(([action, { next_rotation_at }]) => [action, next_rotation_at]), [['rotation-warned', '2030-01-21T00:00:00.000Z']]);
    await runAt(dueMs + minuteMs);
    const after = await row();
    assert.deepEqual([after.previous?.keyHash, after.previous?.expiresAtMs, after.rotationPolicy?.next_rotation_at], [hashKey(key), dueMs + minuteMs + 2 * hourMs, '2030-01-28T00:00:00.000Z']);
    assert.deepEqual((await done()).at(-1), ['rotated', { api_key_id: id, rotation_mode: 'auto', old_key: `${key.slice(0, 7)}****${key.slice(-4)}`, key_transition_expires_at: '2030-01-21T02:01:00.000Z' }]);
    assert.equal(Object((await control.call('GET', `/v1/api-keys/${id}`)).body.rotation_policy).status, 'UNCLAIMED');
    // Claimed within the transition, whose end stays.
    control.clock.nowMs += hourMs;
    const claimed = await control.call('POST', `/v1/api-keys/${id}/rotate`);
    assert.deepEqual([claimed.status, claimed.body.key_transition_expires_at], [200, '2030-01-21T02:01:00.000Z']);
    assert.deepEqual([(await row()).keyHash, (await row()).previous?.keyHash], [hashKey(String(claimed.body.key)), hashKey(key)]);
    assert.equal((await control.call('POST', `/v1/api-keys/${id}/rotate`)).status, 409);
    await runAt(dueMs + 3 * hourMs);
    assert.deepEqual([(await row()).previous, (await row()).keyHash], [null, hashKey(String(claimed.body.key))]);
    assert.deepEqual((await done()).at(-1)?.[0], 'transition-ended');
    assert.ok(notices.every((notice) => !notice.includes(key) && !notice.includes(String(claimed.body.key))));
  });

  it('leave a key without a secret when nobody claims the new one in time, until somebody does', async () => {
    const { control, done, runAt } = await startJobs();
    const { id, key, row } = await made(control, { rotation_policy: { rotation_period_days: 1 } });
    await runAt(Date.UTC(2030, 0, 16));
    await runAt(Date.UTC(2030, 0, 16, 1));
    const { keyHash } = await row();
    assert.deepEqual([(await row()).previous, (await row()).isUnclaimed, keyHash === hashKey(key)], [null, true, false]);
    // No rotation of what nobody knows.
    for (let day = 17; day < 20; day += 1) await runAt(Date.UTC(2030, 0, day, 2));
    assert.equal((await row()).keyHash, keyHash);
    const claimed = await control.call('POST', `/v1/api-keys/${id}/rotate`);
    assert.deepEqual([claimed.status, claimed.body.key_transition_expires_at, (await row()).keyHash], [200, null, hashKey(String(claimed.body.key))]);
    await runAt(Date.UTC(2030, 0, 20));
    assert.equal((await row()).previous?.keyHash, hashKey(String(claimed.body.key)));
    assert.deepEqual((await done()).map(([action]) => action), ['rotated', 'transition-ended', 'rotated']);
  });

  it('do not rotate an expired key, whose policy goes on when it is prolonged', async () => {
    const { control, done, runAt } = await startJobs();
    const { id, row } = await made(control, { expires_at: '2030-02-20T12:00:00Z', rotation_policy: { rotation_period: 'monthly' } });
    const { keyHash } = await row();
    // Nothing ran since the middle of January.
    await runAt(Date.UTC(2030, 1, 21));
    assert.deepEqual([(await row()).keyHash, (await row()).rotationPolicy?.next_rotation_at], [keyHash, null]);
    await runAt(Date.UTC(2030, 1, 22));
    assert.deepEqual((await done()).map(([action]) => action), ['expired']);
    await control.call('PUT', `/v1/api-keys/${id}`, { expires_at: null });
    assert.equal((await row()).rotationPolicy?.next_rotation_at, '2030-03-01T00:00:00.000Z');
  });

  it('wait with a rotation until the transition of the last one is over', async () => {
    const { control, runAt } = await startJobs();
    const { id, row } = await made(control, { rotation_policy: { rotation_period: 'weekly', key_transition_period_ms: 2 * dayMs } });
    control.clock.nowMs = Date.UTC(2030, 0, 20);
    const { key } = (await control.call('POST', `/v1/api-keys/${id}/rotate`)).body;
    await runAt(Date.UTC(2030, 0, 21, 1));
    assert.deepEqual([(await row()).keyHash, (await row()).isUnclaimed], [hashKey(String(key)), false]);
    await runAt(Date.UTC(2030, 0, 22));
    assert.equal((await row()).isUnclaimed, true);
  });

  it('give keys of users the period that their organisation enforces, and leave others alone', async () => {
    const { control, done, runAt } = await startJobs();
    const keys = [];
    for (let index = 0; index < 3; index += 1) keys.push(await made(control, { user_id: person, ...(index === 2 ? { rotation_policy: { rotation_period: 'monthly' } } : {}) }, 'workspace/user'));
    const service = await made(control, {});
    await control.call('PUT', '/v1/admin/organisation', { settings: { user_api_key_rotation_period: 7 } });
    await runAt(control.clock.nowMs);
    for (const key of keys) assert.deepEqual([(await key.row()).rotationPolicy?.rotation_period_days, (await key.row()).rotationPolicy?.next_rotation_at], [7, '2030-01-22T00:00:00.000Z']);
    assert.equal((await service.row()).rotationPolicy, null);
    assert.deepEqual((await done()).map(([action]) => action), ['rotation-enforced', 'rotation-enforced', 'rotation-enforced']);
    const sequence = await control.repository.sequence();
    await runAt(control.clock.nowMs + minuteMs);
    assert.equal(await control.repository.sequence(), sequence);
  });
});

describe('a job', () => {
  it('is run by one of many, writes nothing when nothing is due, and remembers', async () => {
    const { control, runnerOf } = await startJobs();
    const runs: Memory[] = [];
    let isDue = true;
    let finish = (): void => {};
    const job: Job = {
      name: 'test',
      isDue: () => Promise.resolve(isDue),
      run: async ({ memory }) => {
        runs.push(memory);
        await new Promise<void>((resolve) => { finish = resolve; });
        return { runs: runs.length };
      },
    };
    const runners = [runnerOf([job]), runnerOf([job]), runnerOf([job])];
    const first = runners[0]?.runDue();
    await until(() => runs.length > 0);
    await Promise.all([runners[1]?.runDue(), runners[2]?.runDue()]);
    assert.equal(runs.length, 1);
    finish();
    await first;
    const again = runners[1]?.runDue();
    await until(() => runs.length > 1);
    finish();
    await again;
    assert.deepEqual(runs, [{}, { runs: 1 }]);
    isDue = false;
    const sequence = await control.repository.sequence();
    await runners[2]?.runDue();
    assert.equal(await control.repository.sequence(), sequence);
    assert.deepEqual(control.faults, []);
  });

  it('that fails is told of, does not stop the others, and is tried again; one whose process died is taken over', async () => {
    const { control, runnerOf } = await startJobs();
    const runs: string[] = [];
    const job = (name: string, work: () => Promise<Memory>): Job => ({ name, isDue: () => Promise.resolve(true), run: () => { runs.push(name); return work(); } });
    const failing = job('failing', () => Promise.reject(new Error('broken')));
    const runner = runnerOf([failing, job('well', () => Promise.resolve({}))]);
    await runner.runDue();
    await runner.runDue();
    assert.deepEqual([runs, control.faults.map(String)], [['failing', 'well', 'failing', 'well'], ['Error: broken', 'Error: broken']]);
    const died = runnerOf([job('left', () => new Promise(() => {}))]);
    const never = died.runDue();
    assert.ok(never instanceof Promise);
    await until(() => runs.length >= 5);
    const heir = runnerOf([job('left', () => Promise.resolve({}))]);
    await heir.runDue();
    assert.equal(runs.length, 5);
    control.clock.nowMs += 5 * minuteMs + 1;
    await heir.runDue();
    assert.equal(runs.length, 6);
  });
});
