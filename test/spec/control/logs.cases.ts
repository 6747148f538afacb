import assert from 'node:assert/strict';
import { resourceCases, type Stage } from './cases.js';

const told = (trace: string) => ({
  request: { url: 'https://api.openai.com/v1/chat/completions', method: 'POST', provider: 'openai', headers: { 'content-type': 'application/json' }, body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] } },
  response: { status: 200, body: { model: 'gpt-4o-mini', choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } }, response_time: 12 },
  metadata: { trace_id: trace, span_id: 'span', span_name: 'plan', team: 'search' },
});
const tell = async (stage: Stage): Promise<{ readonly id: string; readonly trace: string }> => {
  const trace = stage.unique('trace');
  return { id: String((await stage.made('POST', '/v1/logs', told(trace), { key: stage.keys.workspace })).body.ids[0]), trace };
};
const badFilters = [
  { query: 'page_size=0', param: 'page_size' }, { query: 'status_code=ok', param: 'status_code' }, { query: 'cost_min=2&cost_max=1', param: 'cost_max' }, { query: 'metadata=x', param: 'metadata' },
  { query: 'time_of_generation_min=yesterday', param: 'time_of_generation_min' }, { query: 'trace_id=,', param: 'trace_id' },
];
const foreign = (stage: Stage) => ({ query: `workspace_id=${stage.workspace.id}` });
const unchanged = { none: 'it changes nothing' };

export default resourceCases({
  resource: 'logs',
  operations: {
    list: {
      as: 'workspace',
      target: async (stage) => ({ query: `trace_id=${(await tell(stage)).trace}&include_total=true&page_size=5&status_code=200` }),
      check: ({ body }) => {
        assert.deepEqual([body.object, body.total, body.has_more, body.next_cursor, body.data.length], ['list', 1, false, null, 1]);
        assert.deepEqual([body.data[0].ai_model, body.data[0].total_units, body.data[0].source, body.data[0]['metadata.key']], ['gpt-4o-mini', 7, 'insert', ['team']]);
      },
      bad: [...badFilters, { query: 'cursor=made-up', param: 'cursor' }, { query: 'records=some', param: 'records' }],
      conflict: unchanged,
      foreign,
    },
    live: {
      as: 'workspace',
      target: async (stage) => {
        const { after } = (await stage.made('GET', '/v1/logs/live', undefined, { key: stage.keys.workspace })).body;
        return { query: `after=${encodeURIComponent(String(after))}&trace_id=${(await tell(stage)).trace}` };
      },
      check: ({ body }) => assert.deepEqual([body.object, body.data.length, body.has_more, typeof body.after], ['list', 1, false, 'string']),
      bad: [...badFilters, { query: 'after=made-up', param: 'after' }],
      conflict: unchanged,
      foreign,
    },
    create: {
      as: 'workspace',
      target: (stage) => ({ body: told(stage.unique('trace')) }),
      check: async ({ body }, stage) => {
        assert.deepEqual([body.status, body.ids.length, typeof body.message], ['success', 1, 'string']);
        assert.equal((await stage.made('GET', `/v1/logs/${String(body.ids[0])}`)).body.request.body.model, 'gpt-4o-mini');
      },
      bad: [
        { body: [], param: 'body' }, { body: [told('t'), {}], param: '1.request' }, { body: { ...told('t'), request: {} }, param: 'request.url' }, { body: { ...told('t'), metadata: { trace_id: {} } }, param: 'metadata.trace_id' },
        { body: { ...told('t'), response: { status: 99, body: {} } }, param: 'response.status' },
      ],
      conflict: { none: 'each one is another' },
      foreign: (stage) => ({ body: { ...told('t'), workspace_id: stage.workspace.id } }),
    },
    read: {
      as: 'workspace',
      target: async (stage) => ({ params: { logId: (await tell(stage)).id } }),
      check: ({ body }, _, { params }) => {
        assert.deepEqual([body._id, body.request.url, body.response.responseTime, body.metrics.ai_org], [params?.logId, 'https://api.openai.com/v1/chat/completions', 12, 'openai']);
        assert.equal(body.response.body.usage.total_tokens, 7);
      },
      bad: [],
      conflict: unchanged,
      foreign: { none: 'there are no logs but those of the own workspace' },
      isConditional: false,
    },
    why: {
      as: 'workspace',
      target: async (stage) => ({ params: { logId: (await tell(stage)).id } }),
      check: ({ body }, _, { params }) => {
        assert.deepEqual([body.object, body.id, body.source, body.status, body.price.cost_currency], ['log.why', params?.logId, 'insert', 200, 'USD']);
        assert.deepEqual([body.tokens.input, body.tokens.output, body.targets.length, body.passed_over, body.limits], [3, 4, 1, [], []]);
        assert.equal(typeof body.key.name, 'string');
      },
      bad: [],
      conflict: unchanged,
      foreign: { none: 'there are no logs but those of the own workspace' },
      isConditional: false,
    },
  },
});
