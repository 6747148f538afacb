// The log of calls as users have it: calls through a gateway with its log thread and control thread, and what the API says of them afterwards.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { spawnGateway } from '../support/child-gateway.js';
import { adminKey, apiKey, routed, startTestGateway } from '../support/gateway.js';
import { answerChat, answerStream, sendJson, startUpstream } from '../support/upstream.js';

const upstream = await startUpstream();
const gateway = await startTestGateway({}, { hasLogThread: true, hasControlThread: true });
/** None of these may leave the gateway in a log. */
const secrets = { provider: 'sk-marked-provider-secret-0001', client: 'marked-client-secret-0002', cookie: 'marked-cookie-secret-0003', told: 'sk-marked-told-secret-0004', apiKey, adminKey };
const deadlineMs = 60_000;
type Body = Record<string, any>;

async function ask(method: string, path: string, body?: unknown, key = apiKey): Promise<{ readonly status: number; readonly body: Body; readonly text: string }> {
  const response = await fetch(gateway.url + path, { method, headers: { 'x-gateway-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text) as Body, text };
}

async function made(method: string, path: string, body?: unknown, key = apiKey): Promise<Body> {
  const reply = await ask(method, path, body, key);
  assert.equal(reply.status, 200, `${method} ${path}: ${reply.text}`);
  return reply.body;
}

/** Asks again until it is as wanted; what is logged arrives within a second or two. */
async function until(path: string, isWanted: (body: Body) => boolean, key = apiKey): Promise<Body> {
  for (const startMs = Date.now(); ;) {
    const body = await made('GET', path, undefined, key);
    if (isWanted(body)) return body;
    assert.ok(Date.now() - startMs < deadlineMs, `${path} is still ${JSON.stringify(body).slice(0, 500)}`);
  }
}

async function call(trace: string, config: Readonly<Record<string, unknown>> = {}, body: object = {}): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST', body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: `asked in ${trace}` }], ...body }),
    headers: {
      'content-type': 'application/json', ...routed(upstream.url, { api_key: secrets.provider, ...config }), 'x-gateway-trace-id': trace, 'x-gateway-debug': 'true', 'x-gateway-metadata': '{"team":"search","_user":"ada"}',
      authorization: `Bearer ${secrets.client}`, cookie: `session=${secrets.cookie}`,
    },
  });
  await response.text();
  return response.status;
}

const place = String((await made('GET', '/v1/logs/live')).after);
upstream.answer = answerChat;
assert.equal(await call('plain'), 200);
upstream.answer = answerStream(['one', 'two']);
assert.equal(await call('stream', {}, { stream: true }), 200);
upstream.answer = (_, response) => sendJson(response, 500, { error: { message: `no ${secrets.provider} here` } });
assert.equal(await call('failed'), 500);
let answers = 0;
upstream.answer = (received, response, request) => {
  answers += 1;
  if (answers === 1) sendJson(response, 503, { error: { message: 'busy' } });
  else answerChat(received, response, request);
};
const target = { provider: 'openai', api_key: secrets.provider, custom_host: `${upstream.url}/v1` };
assert.equal(await call('rescued', { provider: undefined, api_key: undefined, custom_host: undefined, strategy: { mode: 'fallback' }, targets: [target, target] }), 200);
const other = await made('POST', '/v1/admin/workspaces', { name: 'Elsewhere' }, adminKey);
const otherKey = String((await made('POST', '/v1/api-keys/workspace/service', { name: 'Elsewhere', scopes: ['completions.write', 'logs.write', 'logs.list', 'logs.view', 'logs.export'], workspace_id: other.id }, adminKey)).key);
const told = await made('POST', '/v1/logs', [{
  request: { url: 'https://api.openai.com/v1/chat/completions', provider: 'openai', headers: { authorization: `Bearer ${secrets.told}` }, body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: `my key is ${secrets.told}` }] } },
  response: { status: 200, body: { model: 'gpt-4o-mini-2024-07-18', usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 } }, response_time: 10 }, metadata: { traceId: 'told' },
}]);
await until('/v1/logs?include_total=true', ({ total }) => total >= 5);

const all = ['id', 'trace_id', 'created_at', 'request', 'response', 'is_success', 'ai_org', 'ai_model', 'req_units', 'res_units', 'total_units', 'request_url', 'cost', 'cost_currency', 'response_time', 'response_status_code', 'mode', 'config', 'prompt_slug', 'metadata'];

async function exported(filters: object, key = apiKey): Promise<{ readonly lines: readonly Body[]; readonly text: string }> {
  const { id } = await made('POST', '/v1/logs/exports', { filters, requested_data: all }, key);
  await made('POST', `/v1/logs/exports/${String(id)}/start`, undefined, key);
  const { status, fault } = await until(`/v1/logs/exports/${String(id)}`, (body) => body.status !== 'in_progress', key);
  assert.equal(status, 'success', fault);
  const response = await fetch((await made('GET', `/v1/logs/exports/${String(id)}/download`, undefined, key)).signed_url);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return { text, lines: text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Body) };
}

describe('the log of a gateway', () => {
  it('lists its calls, the final ones alone unless all are asked for', async () => {
    const { data } = await made('GET', '/v1/logs');
    const traces = data.map(({ trace_id }: Body) => trace_id);
    assert.deepEqual([...traces].sort(), ['failed', 'plain', 'rescued', 'stream', 'told']);
    const attempts = (await made('GET', '/v1/logs?trace_id=rescued&records=all')).data;
    assert.deepEqual(attempts.map(({ is_final, response_status_code }: Body) => [is_final, response_status_code]).sort(), [[false, 503], [true, 200]]);
    const [rescued] = (await made('GET', '/v1/logs?trace_id=rescued')).data;
    assert.deepEqual([rescued.last_used_option_index, [...rescued['metadata.key']].sort(), rescued.is_success], [1, ['_user', 'team'], true]);
    assert.deepEqual((await made('GET', '/v1/logs?is_success=false')).data.map(({ trace_id }: Body) => trace_id), ['failed']);
    const ofTeam = (await made('GET', `/v1/logs?metadata=${encodeURIComponent('{"team":"search"}')}&status_code=200`)).data;
    assert.deepEqual(ofTeam.map(({ trace_id }: Body) => trace_id).sort(), ['plain', 'rescued', 'stream']);
  });

  it('pages through them by cursor without gaps or doubles', async () => {
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { data, next_cursor } = await made('GET', `/v1/logs?records=all&page_size=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...data.map(({ id }: Body) => String(id)));
      if (next_cursor === null) break;
      cursor = next_cursor;
    }
    assert.deepEqual([seen.length, new Set(seen).size], [6, 6]);
  });

  it('tells what arrived behind a place, each once', async () => {
    const seen: string[] = [];
    let after = place;
    // They are told when they have been there for a second.
    for (let isMore = true, startMs = Date.now(); isMore || seen.length < 5;) {
      const reply = await made('GET', `/v1/logs/live?page_size=2&after=${after}`);
      seen.push(...reply.data.map(({ trace_id }: Body) => String(trace_id)));
      after = reply.after;
      isMore = reply.has_more;
      assert.ok(Date.now() - startMs < deadlineMs, `${seen}`);
    }
    assert.deepEqual(seen.sort(), ['failed', 'plain', 'rescued', 'stream', 'told']);
    assert.deepEqual((await made('GET', `/v1/logs/live?after=${after}`)).data, []);
  });

  it('reads one with its bodies, by the id of the trace or its own', async () => {
    // Bodies follow their records.
    const plain = await until('/v1/logs/plain', ({ request }) => request.body !== undefined);
    assert.equal((await made('GET', `/v1/logs/${String(plain._id)}`))._id, plain._id);
    assert.deepEqual([plain.request.body.messages[0].content, plain.request.url, plain.response.body.object, plain.response.status], ['asked in plain', `${gateway.url}/v1/chat/completions`, 'chat.completion', 200]);
    assert.deepEqual([plain.transformedRequest.url, plain.transformedRequest.body.model, plain.originalResponse.body.object], [`${upstream.url}/v1/chat/completions`, 'gpt-4o-mini', 'chat.completion']);
    const it = await made('GET', `/v1/logs/${String(told.ids[0])}`);
    // 1000 tokens at 15 cents a million, 100 at 60.
    assert.deepEqual([it.metrics.trace_id, it.metrics.source, it.metrics.total_units, Number(it.metrics.cost.toFixed(6)), it.metrics.is_priced], ['told', 'insert', 1100, 0.021, true]);
  });

  it('takes feedback, and changes it', async () => {
    const { feedback_ids: [id] } = await made('POST', '/v1/feedback', { trace_id: 'plain', value: 8, weight: 0.5 });
    await until('/v1/logs?weighted_feedback_min=3', ({ data }) => data.length === 1 && data[0].trace_id === 'plain');
    await made('PUT', `/v1/feedback/${String(id)}`, { value: -8, weight: 1 });
    await until('/v1/logs?weighted_feedback_max=-7', ({ data }) => data.length === 1 && data[0].trace_id === 'plain');
    assert.equal((await ask('PUT', `/v1/feedback/${String(id)}`, { value: 1 }, otherKey)).status, 404);
  });

  it('exports what was asked for', async () => {
    const { lines } = await exported({});
    assert.deepEqual(lines.map(({ trace_id }) => trace_id), ['plain', 'stream', 'failed', 'rescued', 'told']);
    const [plain, , failed] = lines;
    assert.deepEqual(Object.keys(plain ?? {}), all);
    assert.deepEqual([plain?.request.body.messages[0].content, plain?.response.body.object, plain?.metadata, failed?.response_status_code, failed?.is_success], ['asked in plain', 'chat.completion', { team: 'search', _user: 'ada' }, 500, false]);
    assert.deepEqual((await exported({ status_code: '500' })).lines.map(({ trace_id }) => trace_id), ['failed']);
  });

  it('shows a workspace its own alone', async () => {
    const id = String((await made('GET', '/v1/logs/plain'))._id);
    assert.deepEqual((await made('GET', '/v1/logs', undefined, otherKey)).data, []);
    assert.deepEqual((await made('GET', '/v1/logs/live', undefined, otherKey)).data, []);
    for (const each of [id, 'plain']) assert.equal((await ask('GET', `/v1/logs/${each}`, undefined, otherKey)).status, 404);
    assert.deepEqual((await exported({ trace_id: 'plain' }, otherKey)).lines, []);
    assert.equal((await made('GET', '/v1/logs', undefined, adminKey)).data.length, 5);
    assert.deepEqual((await made('GET', `/v1/logs?workspace_id=${String(other.slug)}`, undefined, adminKey)).data, []);
    assert.equal((await ask('GET', `/v1/logs?workspace_id=${String(other.id)}`)).status, 403);
  });

  it('holds no secret, in no list, log or file', async () => {
    const texts = [(await exported({})).text, (await ask('GET', '/v1/logs?records=all')).text];
    for (const trace of ['plain', 'stream', 'failed', 'rescued', 'told']) texts.push((await ask('GET', `/v1/logs/${trace}`)).text);
    assert.ok(texts.join('').includes('asked in plain'), 'there is something to be found');
    for (const [name, secret] of Object.entries(secrets)) for (const [index, text] of texts.entries()) assert.equal(text.includes(secret), false, `${name} is in text ${index}`);
  });

  it('is followed on the command line until it is interrupted', async () => {
    const child = spawnGateway(['logs', '--follow', '--status', '200'], { GATEWAY_URL: gateway.url, GATEWAY_API_KEY: apiKey });
    upstream.answer = answerChat;
    let calls = 0;
    // The first ones may come before it has asked for its place.
    const seen = child.until((text) => /followed-\d+/.test(text));
    const isSeen = seen.then(() => true);
    for (const startMs = Date.now(); ;) {
      await call(`followed-${calls += 1}`);
      if (await Promise.race([isSeen, new Promise((resolve) => { setImmediate(resolve, false); })])) break;
      assert.ok(Date.now() - startMs < deadlineMs, child.stderr());
    }
    child.kill('SIGINT');
    assert.deepEqual([await child.ended, child.stderr()], [{ code: 0, signal: null }, '']);
    const lines = child.stdout().trimEnd().split('\n');
    assert.match(lines[0] ?? '', /^\d{4}-.*Z {2}200 {2} *\d+ ms {2}openai\/\S+ .*followed-\d+/);
    assert.equal(new Set(lines.map((line) => /followed-\d+/.exec(line)?.[0])).size, lines.length, 'each once');
  });
});
