import assert from 'node:assert/strict';
import { resourceCases, type BadInput, type OperationCase, type Stage, type StageReply } from './cases.js';

const dayMs = 86_400_000;
/** Records of this test alone: told with a trace of their own. */
async function told(stage: Stage, status = 200): Promise<string> {
  const trace = stage.unique('seen');
  await stage.made('POST', '/v1/logs', {
    request: { url: 'https://api.openai.com/v1/chat/completions', method: 'POST', provider: 'openai', body: { model: 'gpt-4o-mini' } },
    response: { status, body: { model: 'gpt-4o-mini', usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } }, response_time: 12 },
    metadata: { trace_id: trace, _user: 'ann', team: 'search' },
  }, { key: stage.keys.workspace });
  await stage.made('POST', '/v1/feedback', { trace_id: trace, value: 4, weight: 0.5 }, { key: stage.keys.workspace });
  // A range that is longer than two days has other buckets.
  const nowMs = Date.now();
  const [from, to] = [new Date(nowMs - dayMs).toISOString(), new Date(nowMs + dayMs).toISOString()];
  return `workspace_slug=${stage.workspace.slug}&time_of_generation_min=${from}&time_of_generation_max=${to}&trace_id=${trace}`;
}

const times = 'time_of_generation_min=2030-01-01T00:00:00Z&time_of_generation_max=2030-01-02T00:00:00Z';
const bad: readonly BadInput[] = [
  { query: times, param: 'workspace_slug' }, { query: 'time_of_generation_max=2030-01-02T00:00:00Z', param: 'time_of_generation_min' }, { query: 'time_of_generation_min=2030-01-02T00:00:00Z', param: 'time_of_generation_max' },
  { query: `${times}&status_code=ok&workspace_slug=`, param: 'workspace_slug' },
];
const badOf = (others: readonly BadInput[] = []): readonly BadInput[] => [...bad, ...others];
const unchanged = { none: 'it changes nothing' };

const seen = (check: (body: StageReply['body']) => void, more: { readonly query?: string; readonly params?: Readonly<Record<string, string>>; readonly status?: number; readonly bad?: readonly BadInput[] } = {}): OperationCase => ({
  target: async (stage) => ({ query: `${await told(stage, more.status)}${more.query ?? ''}`, ...(more.params === undefined ? {} : { params: more.params }) }),
  check: ({ body }) => check(body),
  bad: badOf(more.bad),
  conflict: unchanged,
  unknown: { none: 'every name is a value, or refused with what may stand there' },
  isConditional: false,
});

/** A graph by time: its summary, and what its points add up to or say where there is something. */
const graph = (summary: Readonly<Record<string, unknown>>, point: Readonly<Record<string, unknown>>, status?: number): OperationCase => seen((body) => {
  assert.equal(body.object, 'analytics-graph');
  assert.deepEqual(body.summary, summary);
  assert.equal(body.data_points.length, 49);
  const others = body.data_points.filter((each: Record<string, unknown>) => !Object.entries(point).every(([name, value]) => JSON.stringify(each[name]) === JSON.stringify(value)));
  assert.equal(others.length, 48, JSON.stringify(body.data_points.at(24)));
  for (const [index, { timestamp }] of body.data_points.entries()) {
    assert.match(timestamp, /^\d{4}-\d{2}-\d{2}T\d{2}:00:00\.000Z$/);
    if (index > 0) assert.equal(Date.parse(timestamp) - Date.parse(body.data_points[index - 1].timestamp), 3_600_000);
  }
}, status === undefined ? {} : { status });

export default resourceCases({
  resource: 'analytics',
  operations: {
    requests: graph({ total: 1 }, { total: 1 }),
    cost: seen((body) => assert.ok(body.summary.total >= 0 && body.summary.avg === body.summary.total)),
    latency: graph({ avg: 12, p50: 12, p90: 12, p99: 12 }, { avg: 12, p50: 12, p90: 12, p99: 12 }),
    tokens: graph({ total: 7, avg: 7 }, { total: 7, avg: 7 }),
    users: graph({ total: 1 }, { total: 1 }),
    usersRequests: graph({ total: 1, unique: 1, avg: 1 }, { avg: 1 }),
    errors: graph({ total: 1 }, { total: 1 }, 500),
    errorsRate: graph({ rate: 100 }, { rate: 100 }, 500),
    errorsStacks: graph({ total: 1 }, { stats: [{ response_status_code: 429, count: 1 }] }, 429),
    errorsStatusCodes: seen((body) => assert.deepEqual([body.summary, body.data_points], [{ total_errors: 1, unique_error_codes: 1 }, [{ status_code: 404, count: 1 }]]), { status: 404 }),
    requestsRescued: seen((body) => assert.deepEqual([body.summary, body.data_points[24]?.retry, body.data_points[24]?.fallback, body.data_points.length], [{ retry: 0, fallback: 0 }, [], 0, 49])),
    cacheHitRate: seen((body) => {
      assert.deepEqual([body.summary, body.data_points.length], [{ total: 0, rate: 0 }, 49]);
      assert.deepEqual({ ...body.data_points[0], timestamp: '' }, { timestamp: '', simple_hits: 0, semantic_hits: 0, rate: 0, cumulative_simple_cache_savings: 0, cumulative_semantic_cache_savings: 0 });
    }),
    cacheLatency: seen((body) => assert.deepEqual([body.summary, body.data_points[3]?.avg], [{ avg: 0 }, 0])),
    feedbacks: seen((body) => assert.ok(body.object === 'analytics-graph' && body.summary.total >= 1)),
    feedbacksScores: seen((body) => assert.ok(body.data_points.some(({ score, total }: { readonly score: number; readonly total: number }) => score === 4 && total >= 1))),
    feedbacksWeighted: seen((body) => assert.ok(body.summary.avg !== 0 && body.data_points.length === 49)),
    feedbacksAiModels: seen((body) => assert.ok(body.data_points.some(({ ai_model: model, total }: { readonly ai_model: string; readonly total: number }) => model === 'gpt-4o-mini' && total >= 1))),
    summaryCache: seen((body) => assert.deepEqual(body, { summary: { hits: 0, avg_latency: 0, total_requests: 1, cache_speedup: 0 }, object: 'analytics-summary' })),
    groupUsers: seen((body) => assert.deepEqual([body.object, body.total, body.data[0].user, body.data[0].requests, typeof body.data[0].cost, body.data[0].object], ['list', 1, 'ann', '1', 'string', 'analytics-group'])),
    groupAiModels: seen((body) => assert.deepEqual(body, { object: 'list', total: 1, data: [{ ai_model: 'gpt-4o-mini', requests: '1', object: 'analytics-group' }] })),
    groupMetadata: seen((body) => assert.deepEqual([body.total, body.data[0].metadata_value, body.data[0].requests, body.data[0].avg_tokens], [1, 'search', 1, 7]), { params: { metadataKey: 'team' } }),
    groupBy: {
      ...seen((body) => {
        const [{ last_seen: lastSeen, ...row }] = body.data;
        assert.deepEqual([body.object, body.total, row], ['list', 1, { ai_service: 'openai', requests: 1, total_tokens: 7, success_rate: 100, p95_latency: 12, object: 'analytics-group' }]);
        assert.ok(Math.abs(Date.parse(lastSeen) - Date.now()) < dayMs);
      }, {
        query: '&columns=total_tokens,success_rate,p95_latency,last_seen&order_by=avg_latency&order=asc', params: { groupBy: 'ai_service' },
        bad: [{ query: `${times}&columns=nothing`, param: 'columns' }, { query: `${times}&order_by=nothing`, param: 'order_by' }, { query: `${times}&order=up`, param: 'order' }],
      }),
    },
  },
});
