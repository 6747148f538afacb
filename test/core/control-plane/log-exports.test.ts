import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { hashKey } from '../../../core/auth/key.js';
import { scopesOfType } from '../../../core/auth/scopes.js';
import { exportLeaseMs, ExportRunner } from '../../../core/control-plane/resources/log-exports/export-runner.js';
import { linkMs, runOfLink } from '../../../core/control-plane/resources/log-exports/export-file.js';
import { Sealer } from '../../../core/storage/sealer.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { bootstraps } from '../../../core/storage/tables/bootstraps.js';
import { logExports } from '../../../core/storage/tables/log-exports.js';
import { organisations } from '../../../core/storage/tables/organisations.js';
import { firstApiKey, firstPerson, startControl, type TestControl, type TestReply } from '../../support/control.js';
import { heldTrace, logRecord } from '../../support/memory-logs.js';
import { keyRow, putRows } from '../../support/rows.js';

const folders: string[] = [];
after(() => { for (const folder of folders) rmSync(folder, { recursive: true, force: true }); });

const all = ['id', 'trace_id', 'created_at', 'request', 'response', 'is_success', 'ai_org', 'ai_model', 'req_units', 'res_units', 'total_units', 'request_url', 'cost', 'cost_currency', 'response_time', 'response_status_code', 'mode', 'config', 'prompt_slug', 'metadata'];
const personKey = 'exports-test-person-key-1';

interface Stage extends TestControl {
  readonly runner: ExportRunner;
  readonly folder: string;
  readonly organisationId: string;
  readonly workspaceId: string;
  asService(method: string, path: string, body?: unknown): Promise<TestReply>;
  made(filters: object, requested?: readonly string[]): Promise<string>;
  /** The state after it was started and nothing runs any more. */
  ran(id: string): Promise<Record<string, any>>;
  lines(id: string): readonly Record<string, any>[];
  settings(settings: Readonly<Record<string, unknown>>): Promise<void>;
}

async function start(): Promise<Stage> {
  const folder = join(mkdtempSync(join(tmpdir(), 'gateway-exports-')), 'exports');
  folders.push(join(folder, '..'));
  const control = await startControl({ exportsFolder: folder });
  const first = await control.repository.get(bootstraps, 'first');
  assert.ok(first && control.exports);
  const { organisationId, workspaceId } = first.row;
  const asService = (method: string, path: string, body?: unknown): Promise<TestReply> => control.call(method, path, body, { as: firstApiKey });
  await putRows(control.repository, apiKeys, keyRow('b', { id: '01890000-0000-7000-8000-0000000000bb', type: 'workspace-user', organisationId, workspaceId, userId: firstPerson, scopes: scopesOfType['workspace-user'], keyHash: hashKey(personKey) }));
  return {
    ...control, runner: control.exports, folder, organisationId, workspaceId, asService,
    made: async (filters, requested = ['id', 'cost']) => {
      const { status, body } = await asService('POST', '/v1/logs/exports', { filters, requested_data: requested });
      assert.equal(status, 200, JSON.stringify(body));
      return String(body.id);
    },
    ran: async (id) => {
      const { status, body } = await asService('POST', `/v1/logs/exports/${id}/start`);
      assert.equal(status, 200, JSON.stringify(body));
      await control.exports?.idle();
      return (await asService('GET', `/v1/logs/exports/${id}`)).body;
    },
    lines: (id) => readFileSync(join(folder, filesOf(folder, id)[0] ?? ''), 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line)),
    settings: async (settings) => {
      const stored = await control.repository.get(organisations, organisationId);
      assert.ok(stored);
      await putRows(control.repository, organisations, { ...stored.row, settings });
    },
  };
}

/** Names of the files of an export, in whatever state. */
const filesOf = (folder: string, id: string): readonly string[] => readdirSync(folder).filter((name) => name.startsWith(id));

const bodies = { requestHeaders: '{"x-gateway-metadata":"{}","accept":"*/*"}', request: '{"model":"m","secret":"s"}', upstreamUrl: '', upstreamHeaders: '', upstreamRequest: '', upstreamResponse: '', responseHeaders: '{}', response: '{"ok":true}' };
const param = ({ body }: TestReply): unknown => (body.error as { readonly param: unknown }).param;

describe('exports of logs', () => {
  it('go from a draft to a file of JSON Lines with what was asked for, the oldest first, that only its owner can read', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    stage.logs.insert(Array.from({ length: 5 }, (_, index) => logRecord({ id: `log-${index}`, organisationId, workspaceId, cost: index, startedAtMs: 1000 + index, metadata: '{"team":"search"}', bodies })));
    stage.logs.insert([logRecord({ id: 'theirs', organisationId, workspaceId: 'other', cost: 3 })]);
    const made = await stage.asService('POST', '/v1/logs/exports', { filters: { cost_min: 1, metadata: { team: 'search' } }, requestedData: all, description: 'For the books', exportId: undefined });
    assert.deepEqual([made.status, made.body.total, made.body.object], [200, 4, 'export']);
    const id = String(made.body.id);
    const draft = (await stage.asService('GET', `/v1/logs/exports/${id}`)).body;
    assert.deepEqual([draft.status, draft.description, draft.workspace_id, draft.filters, draft.requested_data], ['draft', 'For the books', workspaceId, { cost_min: 1, metadata: { team: 'search' } }, all]);
    assert.equal((await stage.asService('GET', `/v1/logs/exports/${id}/download`)).status, 409);
    const done = await stage.ran(id);
    assert.deepEqual([done.status, done.total_records, done.is_cut, done.fault], ['success', 4, false, '']);
    const lines = stage.lines(id);
    assert.deepEqual(lines.map((line) => line.id), ['log-1', 'log-2', 'log-3', 'log-4']);
    assert.deepEqual([Object.keys(lines[0] ?? {}), lines[0]?.request.body, lines[0]?.response.body, lines[0]?.metadata, lines[0]?.cost], [all, { model: 'm', secret: 's' }, { ok: true }, { team: 'search' }, 1]);
    const [file = '', ...others] = readdirSync(stage.folder);
    assert.deepEqual([filesOf(stage.folder, id), others], [[file], []]);
    assert.deepEqual([statSync(stage.folder).mode & 0o777, statSync(join(stage.folder, file)).mode & 0o777], [0o700, 0o600]);
    assert.equal(done.bytes, statSync(join(stage.folder, file)).size);
    const { body } = await stage.asService('GET', `/v1/logs/exports/${id}/download`);
    assert.match(String(body.signed_url), new RegExp(`/v1/logs/exports/${id}/file\\?run=[\\w-]{36}&expires=\\d+&signature=[\\w-]{43}$`));
    assert.deepEqual([(await stage.asService('POST', `/v1/logs/exports/${id}/start`)).status, (await stage.asService('PUT', `/v1/logs/exports/${id}`, { filters: {} })).status, (await stage.asService('POST', `/v1/logs/exports/${id}/cancel`)).status], [409, 409, 409]);
    assert.equal((await stage.asService('GET', '/v1/logs/exports')).body.total, 1);
    assert.deepEqual(stage.faults, []);
  });

  it('leave out what the organisation denies, and tell what that is', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    await stage.settings({ export_settings: { deniedFields: ['cost', 'request.body.secret', 'metadata.team', 'nothing.such'] } });
    assert.deepEqual((await stage.asService('GET', '/v1/logs/exports/field-restrictions')).body.denied_fields, ['cost', 'request.body.secret', 'metadata.team', 'nothing.such']);
    stage.logs.insert([logRecord({ id: 'one', organisationId, workspaceId, metadata: '{"team":"search","user":"u"}', bodies })]);
    const id = await stage.made({}, all);
    assert.equal((await stage.ran(id)).status, 'success');
    const [line] = stage.lines(id);
    assert.deepEqual([line?.cost, line?.request.body, line?.metadata, 'cost' in (line ?? {})], [undefined, { model: 'm' }, { user: 'u' }, false]);
  });

  it('leave out what the organisation denies inside lists too, and a whole body that is a text, in which it could stand', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    await stage.settings({ export_settings: { deniedFields: ['request.body.messages.content', 'response.body.choices.message'] } });
    const asked = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'denied' }] });
    stage.logs.insert([
      logRecord({ id: 'one', organisationId, workspaceId, startedAtMs: 1, bodies: { ...bodies, request: asked, response: 'data: {"choices":[{"message":"denied"}]}' } }),
      logRecord({ id: 'cut', organisationId, workspaceId, startedAtMs: 2, bodies: { ...bodies, request: `${asked.slice(0, -3)}…` } }),
    ]);
    const id = await stage.made({}, all);
    assert.equal((await stage.ran(id)).status, 'success');
    const lines = stage.lines(id);
    assert.equal(JSON.stringify(lines).includes('denied'), false);
    assert.deepEqual(lines.map(({ request }) => request.body), [{ model: 'm', messages: [{ role: 'user' }] }, undefined]);
  });

  it('take a page of the records, and are changed as drafts alone', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    stage.logs.insert(Array.from({ length: 7 }, (_, index) => logRecord({ id: `log-${index}`, organisationId, workspaceId, startedAtMs: 1000 + index })));
    const id = await stage.made({ page_size: 3, current_page: 2 });
    assert.equal((await stage.asService('PUT', `/v1/logs/exports/${id}`, { export_id: id, filters: { page_size: 3, current_page: 1 }, requested_data: ['id'] })).body.total, 3);
    const { status, is_cut } = await stage.ran(id);
    assert.deepEqual([status, is_cut, stage.lines(id)], ['success', false, [{ id: 'log-3' }, { id: 'log-4' }, { id: 'log-5' }]]);
  });

  it('say in no header of a request what is denied as metadata', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    stage.logs.insert([logRecord({ id: 'one', organisationId, workspaceId, metadata: '{"team":"denied"}', bodies: { ...bodies, requestHeaders: '{"accept":"*/*","x-team":"denied","baggage":"team=denied"}' } })]);
    for (const deniedFields of [['metadata.team'], ['metadata']]) {
      await stage.settings({ export_settings: { deniedFields } });
      const id = await stage.made({}, ['request', 'metadata']);
      await stage.ran(id);
      assert.deepEqual(stage.lines(id).map(({ request, metadata }) => [request.headers, metadata?.team]), [[{ accept: '*/*' }, undefined]]);
    }
  });

  it('are stopped, leave no file, and can be started again', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    stage.logs.insert(Array.from({ length: 6 }, (_, index) => logRecord({ id: `log-${index}`, organisationId, workspaceId })));
    let pages = 0;
    let reached = (): void => {};
    const third = new Promise<void>((resolve) => { reached = resolve; });
    let goOn = (): void => {};
    stage.logs.beforePage = () => {
      pages += 1;
      if (pages < 3) return Promise.resolve();
      reached();
      return new Promise((resolve) => { goOn = resolve; });
    };
    const id = await stage.made({});
    await stage.asService('POST', `/v1/logs/exports/${id}/start`);
    await third;
    assert.equal((await stage.asService('POST', `/v1/logs/exports/${id}/start`)).status, 409, 'it is in progress');
    assert.equal((await stage.asService('POST', `/v1/logs/exports/${id}/cancel`)).status, 200);
    goOn();
    await stage.runner.idle();
    assert.deepEqual([(await stage.asService('GET', `/v1/logs/exports/${id}`)).body.status, readdirSync(stage.folder)], ['stopped', []]);
    stage.logs.beforePage = async () => {};
    assert.equal((await stage.ran(id)).status, 'success');
    assert.equal(stage.lines(id).length, 6);
  });

  it('of one workspace take no more than some of the turns', async () => {
    const stage = await start();
    const held = await stage.made({ trace_id: heldTrace });
    const others: string[] = [];
    for (let index = 0; index < 10; index += 1) others.push(await stage.made({}));
    const statuses: number[] = [];
    for (const id of [held, ...others]) statuses.push((await stage.asService('POST', `/v1/logs/exports/${id}/start`)).status);
    assert.deepEqual(statuses, [...new Array<number>(10).fill(200), 409]);
    const elsewhere = await stage.call('POST', '/v1/admin/workspaces', { name: 'Elsewhere' });
    const made = await stage.call('POST', '/v1/logs/exports', { workspace_id: elsewhere.body.id, filters: {}, requested_data: ['id'] });
    assert.equal((await stage.call('POST', `/v1/logs/exports/${String(made.body.id)}/start`)).status, 200);
    await stage.asService('POST', `/v1/logs/exports/${held}/cancel`);
    await stage.runner.idle();
    assert.equal((await stage.ran(others.at(-1) ?? '')).status, 'success');
  });

  it('leave no file when another process stopped them, and this one was done before it saw that', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    stage.logs.insert([logRecord({ id: 'log', organisationId, workspaceId })]);
    let reached = (): void => {};
    const first = new Promise<void>((resolve) => { reached = resolve; });
    let goOn = (): void => {};
    stage.logs.beforePage = () => {
      reached();
      return new Promise((resolve) => { goOn = resolve; });
    };
    const id = await stage.made({});
    await stage.asService('POST', `/v1/logs/exports/${id}/start`);
    await first;
    const stored = await stage.repository.get(logExports, id);
    assert.ok(stored);
    await putRows(stage.repository, logExports, { ...stored.row, status: 'stopped' });
    stage.logs.beforePage = async () => {};
    goOn();
    await stage.runner.idle();
    assert.deepEqual([(await stage.asService('GET', `/v1/logs/exports/${id}`)).body.status, readdirSync(stage.folder)], ['stopped', []]);
  });

  it('wait for their turn, and are stopped while they wait', async () => {
    const stage = await start();
    const held = await stage.made({ trace_id: heldTrace });
    const waiting = await stage.made({});
    for (const id of [held, waiting]) assert.equal((await stage.asService('POST', `/v1/logs/exports/${id}/start`)).status, 200);
    await stage.asService('POST', `/v1/logs/exports/${waiting}/cancel`);
    await stage.asService('POST', `/v1/logs/exports/${held}/cancel`);
    await stage.runner.idle();
    for (const id of [held, waiting]) assert.equal((await stage.asService('GET', `/v1/logs/exports/${id}`)).body.status, 'stopped');
    assert.deepEqual(readdirSync(stage.folder), []);
  });

  it('fail with a reason when the records cannot be read, and can be started again', async () => {
    const stage = await start();
    stage.logs.insert([logRecord({ organisationId: stage.organisationId, workspaceId: stage.workspaceId })]);
    stage.logs.beforePage = () => Promise.reject(new Error('the disk is gone'));
    const id = await stage.made({});
    const failed = await stage.ran(id);
    assert.deepEqual([failed.status, failed.fault, stage.faults.length], ['failed', 'the disk is gone', 1]);
    stage.logs.beforePage = async () => {};
    assert.equal((await stage.ran(id)).status, 'success');
  });

  it('of a process that died have failed once they show no life, and can be started again; a living one shows life', async () => {
    const stage = await start();
    const id = await stage.made({});
    // As a process leaves it that ends at once: the row says that it runs, and nobody runs it.
    const dead = new ExportRunner({ repository: stage.repository, logs: stage.logs, folder: stage.folder, now: () => stage.clock.nowMs, onFault: () => {} });
    await dead.stop();
    const stored = await stage.repository.get(logExports, id);
    assert.ok(stored);
    const nowMs = stage.clock.nowMs;
    await putRows(stage.repository, logExports, { ...stored.row, status: 'in_progress', run: { id: 'run', filter: '{}', seesBodies: true, seesMetadata: true, origin: '', aliveAtMs: nowMs, endedAtMs: null, rows: 0, bytes: 0, isCut: false, fault: '', isRemoved: false } });
    const held = await stage.made({ trace_id: heldTrace });
    await stage.asService('POST', `/v1/logs/exports/${held}/start`);
    const states = async (): Promise<unknown> => Promise.all([id, held].map(async (each) => (await stage.asService('GET', `/v1/logs/exports/${each}`)).body.status));
    await stage.runner.sweep();
    assert.deepEqual(await states(), ['in_progress', 'in_progress']);
    stage.clock.nowMs += exportLeaseMs / 2;
    await stage.runner.sweep();
    stage.clock.nowMs += exportLeaseMs / 2 + 1;
    assert.deepEqual(await states(), ['failed', 'in_progress'], 'before anybody has written it down');
    await stage.runner.sweep();
    assert.deepEqual([await states(), (await stage.repository.get(logExports, id))?.row.status], [['failed', 'in_progress'], 'failed']);
    await stage.asService('POST', `/v1/logs/exports/${held}/cancel`);
    await stage.runner.idle();
    assert.equal((await stage.ran(id)).status, 'success');
  });

  it('are run by one of two processes that are asked for it at once', async () => {
    const stage = await start();
    const other = await startControl({ exportsFolder: stage.folder, beside: stage });
    stage.logs.insert([logRecord({ id: 'one', organisationId: stage.organisationId, workspaceId: stage.workspaceId })]);
    let pages = 0;
    stage.logs.beforePage = async () => { pages += 1; };
    for (let round = 0; round < 5; round += 1) {
      const id = await stage.made({});
      const replies = await Promise.all([stage, other].map((each) => each.call('POST', `/v1/logs/exports/${id}/start`, undefined, { as: firstApiKey })));
      assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409]);
      await Promise.all([stage.runner.idle(), other.exports?.idle()]);
      assert.deepEqual([(await stage.asService('GET', `/v1/logs/exports/${id}`)).body.status, stage.lines(id).length, pages], ['success', 1, round + 1]);
    }
    assert.deepEqual([stage.faults, other.faults], [[], []]);
  });

  it('have the file of the run that counts, whatever one that was taken for dead does when it goes on', async () => {
    const stage = await start();
    const other = await startControl({ exportsFolder: stage.folder, beside: stage });
    const { organisationId, workspaceId } = stage;
    for (const isDeadFirst of [false, true]) {
      const id = await stage.made({});
      stage.logs.insert([logRecord({ id: `early of ${id}`, organisationId, workspaceId })]);
      /** By run: each waits before its first page. */
      const goOn: (() => void)[] = [];
      const arrive: (() => void)[] = [];
      const arrived = [0, 1].map(() => new Promise<void>((resolve) => { arrive.push(resolve); }));
      stage.logs.beforePage = () => new Promise((resolve) => {
        if (goOn.length >= arrive.length) resolve();
        else arrive[goOn.push(resolve) - 1]?.();
      });
      await stage.asService('POST', `/v1/logs/exports/${id}/start`);
      await arrived[0];
      // The first one hangs, and is given up; another process runs it again, and finds more.
      stage.clock.nowMs += exportLeaseMs + 1;
      stage.logs.insert([logRecord({ id: `late of ${id}`, organisationId, workspaceId })]);
      assert.equal((await other.call('POST', `/v1/logs/exports/${id}/start`, undefined, { as: firstApiKey })).status, 200);
      await arrived[1];
      for (const resume of isDeadFirst ? [...goOn] : goOn.toReversed()) {
        resume();
        await (resume === goOn[0] ? stage.runner : other.exports)?.idle();
      }
      const { status, total_records, bytes } = (await stage.asService('GET', `/v1/logs/exports/${id}`)).body;
      const files = filesOf(stage.folder, id);
      assert.deepEqual([status, files.length, files.map((name) => statSync(join(stage.folder, name)).size)], ['success', 1, [bytes]]);
      assert.deepEqual([stage.lines(id).length, stage.lines(id).at(-1)?.id], [total_records, `late of ${id}`]);
    }
  });

  it('fail when the gateway is stopped in the middle', async () => {
    const stage = await start();
    const id = await stage.made({ trace_id: heldTrace });
    await stage.asService('POST', `/v1/logs/exports/${id}/start`);
    await stage.runner.stop();
    const { status, fault } = (await stage.asService('GET', `/v1/logs/exports/${id}`)).body;
    assert.deepEqual([status, fault], ['failed', 'the gateway was stopped']);
  });

  it('lose their files after some days, and what dead processes left', async () => {
    const stage = await start();
    const id = await stage.made({});
    await stage.ran(id);
    const left = join(stage.folder, '01890000-0000-7000-8000-000000000001.01890000-0000-7000-8000-000000000002.part');
    const orphan = join(stage.folder, '01890000-0000-7000-8000-000000000001.01890000-0000-7000-8000-000000000002.jsonl');
    const earlier = join(stage.folder, `${id}.01890000-0000-7000-8000-000000000002.jsonl`);
    const foreign = join(stage.folder, 'README');
    for (const file of [left, orphan, earlier, foreign]) {
      writeFileSync(file, 'x');
      utimesSync(file, 1, 1);
    }
    stage.clock.nowMs += 7 * 86_400_000 + 1;
    await stage.runner.sweep();
    assert.deepEqual(readdirSync(stage.folder), ['README']);
    const gone = await stage.asService('GET', `/v1/logs/exports/${id}/download`);
    assert.deepEqual([gone.status, /7 days/.test(String(gone.body.message))], [409, true]);
    assert.equal((await stage.ran(id)).status, 'success');
    assert.deepEqual([filesOf(stage.folder, id).length, readdirSync(stage.folder).length], [1, 2]);
  });

  it('leave no file whose end could not be written, at once or once they are given up', async () => {
    for (const isLasting of [false, true]) {
      const stage = await start();
      // So that the folder is there.
      await stage.ran(await stage.made({}));
      const id = await stage.made({});
      const commit = stage.repository.commit.bind(stage.repository);
      let failures = 0;
      stage.repository.commit = async (change) => {
        // The end is what is written once the file has its name.
        if ((isLasting || failures === 0) && filesOf(stage.folder, id).some((name) => name.endsWith('.jsonl'))) {
          failures += 1;
          throw new Error('the disk is full');
        }
        return commit(change);
      };
      const { status } = await stage.ran(id);
      stage.repository.commit = commit;
      assert.deepEqual([status, failures], isLasting ? ['in_progress', 2] : ['failed', 1]);
      for (const name of filesOf(stage.folder, id)) utimesSync(join(stage.folder, name), 1, 1);
      assert.equal(filesOf(stage.folder, id).length, isLasting ? 1 : 0);
      stage.clock.nowMs += 3_600_000;
      await stage.runner.sweep();
      assert.equal((await stage.asService('GET', `/v1/logs/exports/${id}`)).body.status, 'failed');
      assert.deepEqual(filesOf(stage.folder, id), []);
    }
  });

  it('keep their files of a build that named them by the export alone, and lose those that nobody can fetch', async () => {
    const stage = await start();
    stage.logs.insert([logRecord({ id: 'one', organisationId: stage.organisationId, workspaceId: stage.workspaceId })]);
    const nobodys = '01890000-0000-7000-8000-000000000001.jsonl';
    const [kept, renewed, lost, draft] = [await stage.made({}), await stage.made({}), await stage.made({}), await stage.made({})];
    for (const id of [kept, renewed, lost]) await stage.ran(id);
    const nameOf = (id: string): string => String(filesOf(stage.folder, id)[0]);
    const [keptName, renewedName] = [nameOf(kept), nameOf(renewed)];
    renameSync(join(stage.folder, keptName), join(stage.folder, `${kept}.jsonl`));
    rmSync(join(stage.folder, nameOf(lost)));
    // What was written for another run than that of the row is nobody's.
    for (const name of [`${renewed}.jsonl`, `${lost}.jsonl`, `${draft}.jsonl`, nobodys]) {
      writeFileSync(join(stage.folder, name), 'of an earlier run');
      utimesSync(join(stage.folder, name), 1, 1);
    }
    stage.clock.nowMs += 3_600_000;
    await stage.runner.sweep();
    assert.deepEqual(readdirSync(stage.folder).toSorted(), [keptName, renewedName].toSorted());
    assert.deepEqual(stage.lines(kept).map((line) => line.id), ['one']);
    stage.clock.nowMs += 7 * 86_400_000;
    await stage.runner.sweep();
    assert.deepEqual(readdirSync(stage.folder), []);
  });

  it('lose the oldest of their files when all of them take too much room', async () => {
    const stage = await start();
    stage.logs.insert([logRecord({ organisationId: stage.organisationId, workspaceId: stage.workspaceId, bodies })]);
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      stage.clock.nowMs += 1;
      const id = await stage.made({}, all);
      ids.push(id);
      await stage.ran(id);
    }
    const { size } = statSync(join(stage.folder, String(filesOf(stage.folder, String(ids[0]))[0])));
    // One with room for two of the three.
    const runner = new ExportRunner({ repository: stage.repository, logs: stage.logs, folder: stage.folder, now: () => stage.clock.nowMs, onFault: (_, thrown) => stage.faults.push(thrown), keptBytesMax: 2 * size + 10 });
    await runner.sweep();
    assert.deepEqual(ids.map((id) => filesOf(stage.folder, id).length), [0, 1, 1]);
    assert.deepEqual(await Promise.all(ids.map(async (id) => (await stage.asService('GET', `/v1/logs/exports/${id}/download`)).status)), [409, 200, 200]);
    assert.deepEqual(stage.faults, []);
  });

  it('are for those alone who see what is in them', async () => {
    const stage = await start();
    stage.logs.insert([logRecord({ organisationId: stage.organisationId, workspaceId: stage.workspaceId, metadata: '{"team":"search"}', bodies })]);
    const [whole, plain] = [await stage.made({}, ['id', 'request']), await stage.made({}, ['id', 'cost'])];
    for (const id of [whole, plain]) await stage.ran(id);
    const asPerson = (method: string, path: string, body?: unknown): Promise<TestReply> => stage.call(method, path, body, { as: personKey });
    await stage.settings({ managersViewLogBodies: false, managersViewMetadata: false });
    assert.deepEqual([(await asPerson('GET', `/v1/logs/exports/${whole}/download`)).status, (await asPerson('GET', `/v1/logs/exports/${plain}/download`)).status], [403, 200]);
    for (const requested_data of [['response'], ['metadata']]) assert.equal((await asPerson('POST', '/v1/logs/exports', { filters: {}, requested_data })).status, 403);
    assert.equal((await asPerson('POST', '/v1/logs/exports', { filters: { metadata: { team: 'search' } }, requested_data: ['id'] })).status, 403);
    await stage.settings({ managersViewLogs: false });
    for (const path of ['', `/${plain}`, `/${plain}/download`]) assert.equal((await asPerson('GET', `/v1/logs/exports${path}`)).status, 403);
  });

  it('are refused by the place that is at fault', async () => {
    const stage = await start();
    for (const [body, place] of [
      [{ requested_data: ['id'] }, 'filters'], [{ filters: {} }, 'requested_data'], [{ filters: {}, requested_data: ['everything'] }, 'requested_data.0'], [{ filters: {}, requested_data: [] }, 'requested_data'],
      [{ filters: { status_code: 'ok' }, requested_data: ['id'] }, 'filters.status_code'], [{ filters: { page_size: 50_001 }, requested_data: ['id'] }, 'filters.page_size'], [{ filters: { total_units_min: '1' }, requested_data: ['id'] }, 'filters.total_units_min'],
    ] as const) {
      const reply = await stage.asService('POST', '/v1/logs/exports', body);
      assert.deepEqual([reply.status, param(reply)], [400, place]);
    }
    assert.equal(param(await stage.call('POST', '/v1/logs/exports', { filters: {}, requested_data: ['id'] })), 'workspace_id', 'an organisation key names a workspace');
  });
});

describe('links to files', () => {
  it('are good for one file and a quarter of an hour', async () => {
    const stage = await start();
    const id = await stage.made({});
    await stage.ran(id);
    const { search } = new URL(String((await stage.asService('GET', `/v1/logs/exports/${id}/download`)).body.signed_url));
    const query = search.slice(1);
    const { nowMs } = stage.clock;
    const isValid = (changes: { readonly exportId?: string; readonly query?: string; readonly sealer?: Sealer; readonly nowMs?: number } = {}): boolean =>
      runOfLink(changes.exportId ?? id, changes.query ?? query, changes.sealer ?? stage.sealer, changes.nowMs ?? nowMs) !== undefined;
    assert.deepEqual([isValid(), isValid({ nowMs: nowMs + linkMs - 1 }), isValid({ nowMs: nowMs + linkMs })], [true, true, false]);
    const expires = new URLSearchParams(query).get('expires') ?? '';
    for (const wrong of [
      { exportId: '01890000-0000-7000-8000-000000000000' }, { query: '' }, { query: query.replace(expires, String(Number(expires) + 1)) }, { query: `${query}x` }, { query: query.slice(0, -1) }, { query: query.replace(expires, `0${expires}`) }, { query: query.replace(/run=[^&]*/, 'run=01890000-0000-7000-8000-000000000002') }, { query: query.replace(/run=[^&]*/, 'run=') },
      { query: query.replace(/signature=.*/, `signature=${stage.sealer.sign('cursor', `${id} ${expires}`)}`) }, { sealer: new Sealer(Buffer.alloc(32, 8)) },
    ]) assert.equal(isValid(wrong), false, JSON.stringify(wrong));
  });
});
