import assert from 'node:assert/strict';
import { resourceCases } from './cases.js';

const bad = [{ body: { trace_id: 't', value: 11 }, param: 'value' }, { body: { trace_id: 't', value: '5' }, param: 'value' }, { body: { trace_id: 't', value: 1, weight: 2 }, param: 'weight' }, { body: { trace_id: 't' }, param: 'value' }];

export default resourceCases({
  resource: 'feedback',
  operations: {
    create: {
      as: 'workspace',
      target: (stage) => ({ body: { trace_id: stage.unique('trace'), value: 5, weight: 0.5, metadata: { by: 'a person' } } }),
      check: ({ body }) => assert.deepEqual([body.status, typeof body.message, body.feedback_ids.length], ['success', 'string', 1]),
      bad: [...bad, { body: { value: 1 }, param: 'trace_id' }, { body: [{ trace_id: 't', value: 1 }, { trace_id: 't', value: 1.5 }], param: '1.value' }, { body: [], param: 'body' }],
      conflict: { none: 'each one is another' },
      foreign: (stage) => ({ body: { trace_id: 't', value: 1, workspace_id: stage.workspace.id } }),
    },
    update: {
      as: 'workspace',
      target: async (stage) => {
        const { body } = await stage.made('POST', '/v1/feedback', { trace_id: stage.unique('trace'), value: 5 }, { key: stage.keys.workspace });
        return { params: { id: String(body.feedback_ids[0]) }, body: { value: -5, weight: 1 } };
      },
      check: ({ body }, _, { params }) => assert.deepEqual([body.status, body.feedback_ids], ['success', [params?.id]]),
      bad: bad.map(({ body: { trace_id: _, ...body }, param }) => ({ body, param })),
      conflict: { none: 'it may say the same' },
      foreign: { none: 'there is no feedback but that of the own workspace' },
      isConditional: false,
    },
  },
});
