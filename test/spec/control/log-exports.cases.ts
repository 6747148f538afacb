import assert from 'node:assert/strict';
import { heldTrace } from '../../support/memory-logs.js';
import { resourceCases, type Stage, type Target } from './cases.js';

const asked = { filters: { status_code: '200', cost_max: 5 }, requested_data: ['id', 'trace_id', 'request', 'cost'] };
const stepsMax = 500;

const draft = async (stage: Stage, filters: object = asked.filters): Promise<Target> => {
  const { body } = await stage.made('POST', '/v1/logs/exports', { ...asked, filters, workspace_id: stage.workspace.id });
  return { params: { exportId: String(body.id) } };
};
const act = (stage: Stage, { params }: Target, action: string) => stage.made('POST', `/v1/logs/exports/${String(params?.exportId)}/${action}`);
const stateOf = async (stage: Stage, { params }: Target): Promise<string> => String((await stage.made('GET', `/v1/logs/exports/${String(params?.exportId)}`)).body.status);

async function done(stage: Stage): Promise<Target> {
  const target = await draft(stage);
  await act(stage, target, 'start');
  for (let step = 0; step < stepsMax && await stateOf(stage, target) === 'in_progress'; step += 1);
  return target;
}

const bad = [
  { body: { filters: {}, requested_data: ['everything'] }, param: 'requested_data.0' }, { body: { filters: { status_code: 'ok' }, requested_data: ['id'] }, param: 'filters.status_code' },
  { body: { filters: { cost_min: 2, cost_max: 1 }, requested_data: ['id'] }, param: 'filters.cost_max' }, { body: { filters: { metadata: { a: 1 } }, requested_data: ['id'] }, param: 'filters.metadata.a' }, { body: { requested_data: ['id'] }, param: 'filters' },
];
const unchanged = { none: 'it changes nothing' };

export default resourceCases({
  resource: 'log-exports',
  operations: {
    list: {
      target: async (stage) => {
        await draft(stage);
        return { query: `workspace_id=${stage.workspace.id}&page_size=1` };
      },
      check: ({ body }) => assert.deepEqual([body.object, body.data.length, body.data[0].object, body.data[0].status], ['list', 1, 'export', 'draft']),
      bad: [{ query: 'page_size=1001', param: 'page_size' }],
      conflict: unchanged,
    },
    create: {
      target: (stage) => ({ body: { ...asked, description: 'For the books', workspace_id: stage.workspace.slug } }),
      check: async ({ body }, stage) => {
        assert.equal(body.object, 'export');
        const read = (await stage.made('GET', `/v1/logs/exports/${String(body.id)}`)).body;
        assert.deepEqual([read.filters, read.requested_data, read.description, read.workspace_id], [asked.filters, asked.requested_data, 'For the books', stage.workspace.id]);
      },
      bad: [...bad.map(({ body, param }) => ({ body: { ...body, workspace_id: 'first-workspace' }, param })), { body: asked, param: 'workspace_id' }],
      conflict: { none: 'there may be several of the same' },
    },
    fieldRestrictions: {
      target: () => ({}),
      check: ({ body }) => assert.deepEqual([body.object, body.deniedFields, body.denied_fields], ['export-field-restrictions', [], []]),
      bad: [],
      conflict: unchanged,
      foreign: { none: 'it is the same for all of the organisation' },
    },
    read: { target: draft, check: ({ body }) => assert.deepEqual([body.object, body.status, body.total_records], ['export', 'draft', 0]), bad: [], conflict: unchanged },
    update: {
      target: async (stage) => ({ ...await draft(stage), body: { filters: {}, requested_data: ['id'] } }),
      check: async (_, stage, target) => assert.deepEqual((await stage.made('GET', `/v1/logs/exports/${String(target.params?.exportId)}`)).body.requested_data, ['id']),
      bad,
      conflict: async (stage, target) => ({ ...await done(stage), body: target.body ?? {} }),
    },
    start: {
      target: draft,
      check: async ({ body }, stage, target) => {
        assert.equal(body.object, 'export');
        for (let step = 0; step < stepsMax && await stateOf(stage, target) === 'in_progress'; step += 1);
        assert.equal(await stateOf(stage, target), 'success');
      },
      bad: [],
      conflict: done,
    },
    cancel: {
      target: async (stage) => {
        const target = await draft(stage, { trace_id: heldTrace });
        await act(stage, target, 'start');
        return target;
      },
      check: async (_, stage, target) => assert.equal(await stateOf(stage, target), 'stopped'),
      bad: [],
      conflict: (stage) => draft(stage),
    },
    download: {
      target: done,
      check: async ({ body }) => {
        const response = await fetch(body.signed_url);
        assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/x-ndjson']);
        await response.text();
      },
      bad: [],
      conflict: (stage) => draft(stage),
    },
  },
});
