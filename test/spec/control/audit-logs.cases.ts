import assert from 'node:assert/strict';
import { resourceCases } from './cases.js';

const past = '2020-01-01T00:00:00.000Z';
const future = '2999-01-01T00:00:00.000Z';

export default resourceCases({
  resource: 'audit-logs',
  operations: {
    list: {
      target: async (stage) => {
        await stage.made('PUT', `/v1/workspaces/${stage.workspace.id}`, { name: stage.unique('Audited') });
        return { query: `start_time=${past}&end_time=${future}&method=PUT&resource_type=workspace&action=updated&response_status_code=200&page_size=1&uri=${stage.workspace.id}&user_type=api_key` };
      },
      check: ({ body }, stage) => {
        const [record] = body.records;
        assert.deepEqual([body.object, body.records.length, record.uri, record.method, record.response_status_code, record.user_type], ['list', 1, `/v1/workspaces/${stage.workspace.id}`, 'PUT', 200, 'api_key']);
        assert.match(record.timestamp, /^\d{4}-.*Z$/);
        assert.match(record.request_body, /^\{"name":"Audited/);
        assert.match(record.client_ip, /^127\.0\.0\.1$/);
      },
      bad: [
        { query: `end_time=${future}`, param: 'start_time' }, { query: `start_time=${past}`, param: 'end_time' }, { query: `start_time=yesterday&end_time=${future}`, param: 'start_time' },
        { query: `start_time=${future}&end_time=${past}`, param: 'end_time' }, { query: `start_time=${past}&end_time=${future}&page_size=101`, param: 'page_size' },
        { query: `start_time=${past}&end_time=${future}&method=GET`, param: 'method' }, { query: `start_time=${past}&end_time=${future}&current_page=100&page_size=100`, param: 'current_page' },
      ],
      conflict: { none: 'it changes nothing' },
    },
  },
});
