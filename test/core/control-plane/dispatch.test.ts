import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ControlPlane } from '../../../core/control-plane/dispatch.js';
import { resources } from '../../../core/control-plane/resources/index.js';
import { firstAdminKey, firstApiKey, startControl } from '../../support/control.js';

describe('a control call', () => {
  it('lists, reads and updates rows, in every path form', async () => {
    const control = await startControl();
    const list = await control.call('GET', '/v1/workspaces?page_size=5');
    assert.deepEqual([list.status, list.body.object, list.body.total], [200, 'list', 1]);
    for (const path of ['/workspaces/first-workspace', '/v2/workspaces/first-workspace', '/v1/admin/workspaces/first-workspace']) {
      const read = await control.call('GET', path);
      assert.deepEqual([read.status, read.body.slug, read.body.name], [200, 'first-workspace', 'First workspace'], path);
    }
    const read = await control.call('GET', '/workspaces/first-workspace');
    assert.deepEqual(read.headers, ['etag', '"1"']);
    const update = await control.call('PUT', '/v1/workspaces/first-workspace', { name: 'Renamed' }, { ifMatch: '"1"' });
    assert.deepEqual([update.status, update.body, update.headers], [200, {}, ['etag', '"2"']]);
    assert.equal((await control.call('GET', '/workspaces/first-workspace')).body.name, 'Renamed');
    assert.equal((await control.call('PUT', '/v1/workspaces/first-workspace', { name: 'Late' }, { ifMatch: '"1"' })).status, 412);
    assert.deepEqual(control.faults, []);
  });

  it('is refused in the envelope that every client understands', async () => {
    const control = await startControl();
    const refusals: readonly [string, string, unknown, number, string, string | null][] = [
      ['GET', '/v1/workspaces/unknown', undefined, 404, 'AB08', null],
      ['GET', '/v1/nowhere', undefined, 404, 'AB08', null],
      ['POST', '/v1/workspaces/first-workspace', {}, 405, 'AB01', null],
      ['PUT', '/v1/workspaces/first-workspace', { nmae: 'x' }, 400, 'AB01', 'nmae'],
      ['PUT', '/v1/workspaces/first-workspace', { name: 5 }, 400, 'AB01', 'name'],
      ['PUT', '/v1/workspaces/first-workspace', { id: 'another' }, 400, 'AB01', 'id'],
      ['GET', '/v1/workspaces?page_size=0', undefined, 400, 'AB01', 'page_size'],
      ['GET', '/v1/workspaces?page_size=1&page_size=2', undefined, 400, 'AB01', 'page_size'],
      ['GET', '/v1/workspaces?__proto__=x', undefined, 400, 'AB01', '__proto__'],
      ['GET', '/v1/workspaces?organisation_id=other', undefined, 403, 'AB03', 'organisation_id'],
    ];
    for (const [method, path, body, status, code, param] of refusals) {
      const reply = await control.call(method, path, body);
      const error = Object(reply.body.error);
      assert.deepEqual([reply.status, reply.body.success, Object(reply.body.data).errorCode, error.code, error.param, Object(reply.body.data).message], [status, false, code, code, param, error.message], path);
    }
    assert.deepEqual((await control.call('GET', '/v1/workspaces/first-workspace', undefined, { as: firstApiKey })).status, 200);
    assert.deepEqual(control.faults, []);
  });

  it('takes only times that are one', async () => {
    const control = await startControl();
    const wrong = ['2030-12-31T23:59:60Z', '2031-01-01T00:00:00+01', '2031-01-01T00:00:00+0100', '2031-02-30T00:00:00Z', '2031-01-01T24:00:00Z', '2031-01-01', '2031-01-01 00:00:00Z'];
    for (const time of wrong) {
      const query = new URLSearchParams({ start_time: time, end_time: '2031-03-01T00:00:00Z' }).toString();
      const replies = [
        await control.call('POST', '/v1/api-keys/workspace/service', { name: 'x', scopes: [], workspace_id: 'first-workspace', rotation_policy: { next_rotation_at: time } }),
        await control.call('POST', '/v1/api-keys/workspace/service', { name: 'x', scopes: [], workspace_id: 'first-workspace', expires_at: time }),
        await control.call('GET', `/v1/audit-logs?${query}`),
      ];
      assert.deepEqual(replies.map(({ status, body }) => [status, Object(body.error).param]), [[400, 'rotation_policy.next_rotation_at'], [400, 'expires_at'], [400, 'start_time']], time);
      assert.match(String(Object(replies[0]?.body.error).message), /must be an ISO 8601 time such as/);
    }
    assert.deepEqual(control.faults, []);
  });

  it('that changed something is answered when calls obey it, and one that did not at once', async () => {
    const control = await startControl();
    const waited: number[] = [];
    let obey = (): void => undefined;
    const plane = new ControlPlane({
      ...control.plane.services, repository: control.repository,
      untilObeyed: (sequence) => { waited.push(sequence); return new Promise((resolve) => { obey = resolve; }); },
    }, resources);
    const caller = await control.callerOf(firstAdminKey);
    const call = { id: 'x', path: '/v1/workspaces/first-workspace', query: '', ifMatch: undefined, idempotencyKey: undefined, headers: [], address: '', caller };
    assert.equal((await plane.handle({ ...call, method: 'GET', body: new Uint8Array(0) })).status, 200);
    assert.deepEqual(waited, []);
    let status = 0;
    const update = plane.handle({ ...call, method: 'PUT', body: Buffer.from('{"name":"Obeyed"}') }).then((reply) => { status = reply.status; });
    for (let turn = 0; turn < 100 && waited.length === 0; turn += 1) await new Promise((resolve) => { setImmediate(resolve); });
    assert.deepEqual([waited, status], [[await control.repository.sequence()], 0]);
    obey();
    await update;
    assert.equal(status, 200);
  });

  it('leaves an entry in the audit log when it changes something', async () => {
    const control = await startControl();
    await control.call('PUT', '/v1/workspaces/first-workspace', { name: 'Renamed' });
    const entries = [];
    for await (const { record } of control.repository.audit()) entries.push(record);
    assert.deepEqual(entries.map(({ method, uri, request_body, resource_type, action }) => [method, uri, request_body, resource_type, action]), [
      ['PUT', '/v1/workspaces/first-workspace', '{"name":"Renamed"}', 'workspace', 'updated'],
    ]);
  });
});
