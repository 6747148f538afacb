import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { organisations } from '../../../core/storage/tables/organisations.js';
import { bootstraps } from '../../../core/storage/tables/bootstraps.js';
import { workspaceMembers } from '../../../core/storage/tables/workspace-members.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { workspaces } from '../../../core/storage/tables/workspaces.js';
import { hashKey } from '../../../core/auth/key.js';
import { scopesOfType } from '../../../core/auth/scopes.js';
import { firstAdminKey, firstApiKey, firstPerson, startControl, type TestControl, type TestReply } from '../../support/control.js';
import { logRecord } from '../../support/memory-logs.js';
import { keyRow, memberRow, putRows } from '../../support/rows.js';

const secret = 'sk-ant-secret-0123456789abcdef';
const chat = { request: { url: 'https://api.openai.com/v1/chat/completions?key=secret#x', provider: 'openai', headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }, body: { model: 'gpt-4o', messages: [{ role: 'user', content: `my key is ${secret}` }] } },
  response: { status: 200, body: { id: 'c1', model: 'gpt-4o-2024-08-06', choices: [{ finish_reason: 'stop', message: { content: 'hi' } }], usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15, prompt_tokens_details: { cached_tokens: 4 } } }, response_time: 250 } };
const claude = { request: { url: '/v1/messages', body: { model: 'claude-3-5-haiku', messages: [] } }, response: { body: { model: 'claude-3-5-haiku', stop_reason: 'end_turn', usage: { input_tokens: 7, output_tokens: 2, cache_read_input_tokens: 5 } } } };

interface Stage extends TestControl {
  readonly organisationId: string;
  readonly workspaceId: string;
  asService(method: string, path: string, body?: unknown): Promise<TestReply>;
  asPerson(method: string, path: string, body?: unknown): Promise<TestReply>;
  settings(settings: Readonly<Record<string, unknown>>): Promise<void>;
  role(role: 'member' | 'manager'): Promise<void>;
}

const personKey = 'logs-test-person-key-1';

async function start(): Promise<Stage> {
  const control = await startControl();
  const first = await control.repository.get(bootstraps, 'first');
  assert.ok(first);
  const { organisationId, workspaceId } = first.row;
  await putRows(control.repository, apiKeys, keyRow('b', { id: '01890000-0000-7000-8000-0000000000bb', type: 'workspace-user', organisationId, workspaceId, userId: firstPerson, scopes: scopesOfType['workspace-user'], keyHash: hashKey(personKey) }));
  return {
    ...control, organisationId, workspaceId,
    asService: (method, path, body) => control.call(method, path, body, { as: firstApiKey }),
    asPerson: (method, path, body) => control.call(method, path, body, { as: personKey }),
    settings: async (settings) => {
      const stored = await control.repository.get(organisations, organisationId);
      assert.ok(stored);
      await putRows(control.repository, organisations, { ...stored.row, settings });
    },
    role: (role) => putRows(control.repository, workspaceMembers, memberRow(workspaceId, firstPerson, role, { organisationId })),
  };
}

const members = (value: unknown): Readonly<Record<string, unknown>> => Object(value);
const data = ({ body }: TestReply): readonly Record<string, any>[] => body.data as readonly Record<string, any>[];

describe('logs that clients tell', () => {
  it('are stored one by one or as a list, in any spelling of their places, with what their bodies say of model and tokens', async () => {
    const stage = await start();
    const one = await stage.asService('POST', '/v1/logs', { ...chat, metadata: { 'trace-id': 't1', spanId: 's1', span_name: 'plan', parentSpanId: 'p1', team: 'search', attempt: 2 } });
    assert.equal(one.status, 200, JSON.stringify(one.body));
    const [id] = one.body.ids as string[];
    const two = await stage.asService('POST', '/v1/logs', [claude, claude]);
    const three = await stage.asService('POST', '/v1/logs', { 0: claude, 1: claude });
    assert.deepEqual([two.status, (two.body.ids as string[]).length, three.status, (three.body.ids as string[]).length, stage.logs.records.length], [200, 2, 200, 2, 5]);
    const [record, messages] = stage.logs.records;
    assert.ok(record && messages);
    assert.deepEqual(
      [record.id, record.traceId, record.spanId, record.spanName, record.parentSpanId, record.metadata, record.model, record.provider, record.endpoint, record.source, record.tookMs, record.finishReason],
      [id, 't1', 's1', 'plan', 'p1', '{"team":"search","attempt":"2"}', 'gpt-4o-2024-08-06', 'openai', 'chatCompletions', 'insert', 250, 'stop'],
    );
    assert.deepEqual([record.inputTokens, record.outputTokens, record.totalTokens, record.cachedTokens, record.path], [12, 3, 15, 4, 'https://api.openai.com/v1/chat/completions']);
    assert.deepEqual([messages.endpoint, messages.model, messages.outputTokens, messages.cachedTokens, messages.status], ['messages', 'claude-3-5-haiku', 2, 5, 200]);
    assert.match(messages.traceId, /^[0-9a-f-]{36}$/);
    // 8 tokens of input at 250 cents a million, 4 read from the cache at 125, 3 of output at 1000.
    assert.deepEqual([record.isPriced, Number(record.cost.toFixed(9)), messages.isPriced, messages.cost], [true, Number(((8 * 250 + 4 * 125 + 3 * 1000) / 1e6).toFixed(9)), false, 0]);
    assert.equal(JSON.stringify(stage.logs.records).includes(secret), false, 'credentials are not kept');
  });

  it('hold no credential that stands behind an escape of JSON', async () => {
    const stage = await start();
    const text = `first line\n${secret}\t${secret}\u0007${secret}`;
    assert.equal((await stage.asService('POST', '/v1/logs', { request: { ...chat.request, body: { text } }, response: { body: { text } } })).status, 200);
    assert.equal(JSON.stringify(stage.logs.records).includes(secret), false);
  });

  it('hold no credential whose member says that it is one, however it looks', async () => {
    const stage = await start();
    const told = await stage.asService('POST', '/v1/logs', {
      request: { url: 'https://h.example/v1/chat/completions', body: { model: 'm', api_key: 'plain-secret-1', max_tokens: 5, messages: [{ role: 'user', content: 'password: none', auth: { Authorization: 'plain-secret-2', clientSecret: 'plain-secret-3' } }], extra: [{ 'x-api-key': 'plain-secret-4', password: 12345678 }] } },
      response: { body: { access_token: 'plain-secret-5', usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } } }, metadata: { api_key: 'plain-secret-6', team: 'red', trace_id: 'named' },
    });
    assert.equal(told.status, 200);
    const text = JSON.stringify(stage.logs.records).replaceAll('\\', '');
    assert.doesNotMatch(text, /plain-secret|12345678/);
    for (const kept of ['"max_tokens":5', 'password: none', '"api_key":"[masked]"', '"prompt_tokens":1', '"clientSecret":"[masked]"', '"team":"red"']) assert.ok(text.includes(kept), kept);
  });

  it('hold no credential of a member that is more than a text, or of a text that is JSON itself', async () => {
    const inner = (name: string, value: unknown): string => JSON.stringify({ [name]: value, max_tokens: 7 });
    const stage = await start();
    const told = await stage.asService('POST', '/v1/logs', [
      {
        request: { url: 'https://h.example/v1/chat/completions', body: { authorization: { value: 'plain-secret-1' }, password: ['plain-secret-2', 3], tokens: ['kept'], cookie: null, api_key: '', access_token: [], tool_calls: [{ arguments: inner('password', 'plain-secret-3') }, { arguments: '{ "city" : "Rome" }' }] } },
        response: { body: inner('api_key', ['plain-secret-4']) }, metadata: { sent: inner('id_token', 'plain-secret-5') },
      },
      { request: { url: 'https://h.example/v1/chat/completions', body: `data: ${inner('password', 'plain-\\"secret-6')}\n\ndata: [DONE]` }, response: { body: JSON.stringify(inner('secret_key', 'plain-secret-7')) } },
      { request: { url: 'https://h.example/v1/chat/completions', body: inner('password', 'plain-secret-8').slice(0, 25) }, response: { body: '{"password":"plain-secret-9","password":null}' } },
      { request: { url: 'https://h.example/v1/chat/completions', body: `${'['.repeat(100_000)}{"password":"plain-secret-10"}${']'.repeat(100_000)}` }, response: { body: ' a text that is none, { as it is' } },
    ]);
    assert.equal(told.status, 200, JSON.stringify(told.body));
    const text = JSON.stringify(stage.logs.records).replaceAll('\\', '');
    assert.doesNotMatch(text, /plain-|secret-/);
    for (const kept of ['"authorization":"[masked]"', '"password":"[masked]"', '"tokens":["kept"]', '"cookie":null', '"api_key":""', '"access_token":[]', '"{ "city" : "Rome" }"', '"api_key":"[masked]","max_tokens":7', '"id_token":"[masked]"', 'data: [DONE]', ' a text that is none, { as it is']) assert.ok(text.includes(kept), kept);
  });

  it('are refused by the place of the item that is at fault, and need both scopes', async () => {
    const stage = await start();
    const wrong = async (body: unknown): Promise<readonly unknown[]> => {
      const reply = await stage.asService('POST', '/v1/logs', body);
      return [reply.status, (reply.body.error as { param: string }).param];
    };
    assert.deepEqual(await wrong([chat, { request: {} }]), [400, '1.response']);
    assert.deepEqual(await wrong([chat, { ...chat, metadata: { a: {} } }]), [400, '1.metadata.a']);
    assert.deepEqual(await wrong([chat, 5]), [400, '1']);
    assert.deepEqual(await wrong([]), [400, 'body']);
    assert.deepEqual(await wrong(Array.from({ length: 101 }, () => claude)), [400, 'body']);
    assert.deepEqual(await wrong({ 0: chat, 2: chat }), [400, 'request']);
    assert.equal(stage.logs.records.length, 0);
    const key = await stage.repository.find(apiKeys, 'hash', [hashKey(firstApiKey)]);
    assert.ok(key);
    await putRows(stage.repository, apiKeys, { ...key.row, scopes: ['completions.write'] });
    assert.equal((await stage.asService('POST', '/v1/logs', chat)).status, 403);
    await putRows(stage.repository, apiKeys, { ...key.row, scopes: ['logs.write'] });
    assert.equal((await stage.asService('POST', '/v1/logs', chat)).status, 403);
  });
});

describe('lists of logs', () => {
  it('are newest first, in pages by cursor without gaps or doubles, or by number', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    stage.logs.insert(Array.from({ length: 7 }, (_, index) => logRecord({ id: `log-${index}`, organisationId, workspaceId, startedAtMs: 1000 + index })));
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const reply = await stage.call('GET', `/v1/logs?page_size=3${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
      seen.push(...data(reply).map(({ id }) => String(id)));
      assert.equal(reply.body.total, null);
      if (reply.body.next_cursor === null) break;
      cursor = String(reply.body.next_cursor);
    }
    assert.deepEqual(seen, ['log-6', 'log-5', 'log-4', 'log-3', 'log-2', 'log-1', 'log-0']);
    const second = await stage.call('GET', '/v1/logs?page_size=3&current_page=1&include_total=true');
    assert.deepEqual([data(second).map(({ id }) => id), second.body.total, second.body.has_more], [['log-3', 'log-2', 'log-1'], 7, true]);
  });

  it('take a cursor of their own alone', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    stage.logs.insert(Array.from({ length: 3 }, (_, index) => logRecord({ id: `log-${index}`, organisationId, workspaceId })));
    const cursor = String((await stage.call('GET', '/v1/logs?page_size=1')).body.next_cursor);
    for (const query of [`cursor=${cursor}&status_code=500`, `cursor=x`, `cursor=${cursor}x`, `cursor=${cursor.slice(0, 43)}`, `cursor=${cursor}&current_page=1`]) {
      assert.equal((await stage.call('GET', `/v1/logs?page_size=1&${query}`)).status, 400, query);
    }
    assert.equal((await stage.call('GET', `/v1/logs/live?after=${cursor}`)).status, 400);
  });

  it('are narrowed by every filter', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    const plain = { organisationId, workspaceId };
    const special = { id: 'wanted', status: 429, provider: 'anthropic', model: 'claude', providerSlug: 'mine', configId: 'config-1', keyId: 'key-1', promptSlug: 'pp-1', traceId: 'trace-9', spanId: 'span-9', endpoint: 'messages', cacheStatus: 'HIT',
      errorCode: 'RATE', metadata: '{"team":"search","attempt":2,"isTest":true}', cost: 9, totalTokens: 90, inputTokens: 60, outputTokens: 30, tookMs: 900, startedAtMs: Date.UTC(2030, 0, 14) } as const;
    stage.logs.insert([logRecord({ ...plain, id: 'usual' }), logRecord({ ...plain, ...special }), logRecord({ ...plain, ...special, id: 'left', isFinal: false })]);
    const filters = ['status_code=429,500', 'ai_org=anthropic', 'ai_model=claude', 'ai_org_model=anthropic__claude', 'virtual_keys=@mine', 'configs=config-1', 'api_key_ids=key-1', 'prompt_slug=pp-1', 'trace_id=trace-9', 'span_id=span-9', 'endpoint=messages',
      'cache_status=HIT', 'error_code=RATE', `metadata=${encodeURIComponent('{"team":"search"}')}`, `metadata=${encodeURIComponent('{"attempt":2,"isTest":true}')}`, 'cost_min=5', 'total_units_min=50', 'prompt_token_min=50', 'completion_token_min=20', 'response_time_min=500', 'is_success=false', 'time_of_generation_max=2030-01-14T12:00:00Z'];
    for (const filter of filters) {
      assert.deepEqual(data(await stage.call('GET', `/v1/logs?${filter}`)).map(({ id }) => id), ['wanted'], filter);
      assert.deepEqual(data(await stage.call('GET', `/v1/logs?records=all&${filter}`)).map(({ id }) => String(id)).sort(), ['left', 'wanted'], filter);
    }
    for (const [query, param] of [['status_code=ok', 'status_code'], ['cost_min=2&cost_max=1', 'cost_max'], ['metadata=[]', 'metadata'], ['time_of_generation_min=yesterday', 'time_of_generation_min'], ['trace_id=,', 'trace_id'], ['records=some', 'records']]) {
      const { status, body } = await stage.call('GET', `/v1/logs?${query}`);
      assert.deepEqual([status, (body.error as { param: string }).param], [400, param], query);
    }
  });

  it('show a key of a workspace that workspace alone', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    stage.logs.insert([logRecord({ id: 'mine', organisationId, workspaceId, traceId: 't' }), logRecord({ id: 'theirs', organisationId, workspaceId: 'other', traceId: 't' }), logRecord({ id: 'foreign', organisationId: 'else', workspaceId, traceId: 't' })]);
    const ids = async (reply: Promise<TestReply>): Promise<unknown> => data(await reply).map(({ id }) => id);
    assert.deepEqual(await ids(stage.asService('GET', '/v1/logs')), ['mine']);
    assert.deepEqual(await ids(stage.call('GET', '/v1/logs')), ['theirs', 'mine']);
    assert.deepEqual(await ids(stage.call('GET', `/v1/logs?workspace_id=${workspaceId}`)), ['mine']);
    assert.equal((await stage.asService('GET', '/v1/logs?workspace_slug=other')).status, 403);
    for (const [id, wanted] of [['mine', 200], ['theirs', 404], ['foreign', 404], ['t', 200]] as const) assert.equal((await stage.asService('GET', `/v1/logs/${id}`)).status, wanted, id);
  });
});

describe('a log', () => {
  it('has the bodies that were kept, its metrics and its cost in cents', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    const slug = (await stage.repository.get(workspaces, workspaceId))?.row.slug;
    stage.logs.insert([logRecord({ id: 'whole', organisationId, workspaceId, traceId: 't', cost: 1.25, metadata: '{"team":"search","n":1}', retries: 2, isStream: true, cacheStatus: 'SEMANTIC HIT', targetIndex: 1, bodies: {
      requestHeaders: '{"Content-Type":"application/json","x-gateway-metadata":"{}","x-stainless-runtime":"node"}', request: '{"model":"m"}', upstreamUrl: 'https://up.example/v1/chat', upstreamHeaders: '{"authorization":"[masked]"}',
      upstreamRequest: '{"model":"n"}', upstreamResponse: '{"ok":1}', responseHeaders: '{"content-type":"application/json"}', response: '{"ok":2} cut',
    } })]);
    const { body } = await stage.call('GET', '/v1/logs/whole');
    const { request, response, metrics, transformedRequest, originalResponse, finalUntransformedRequest } = body as Record<string, any>;
    assert.deepEqual([request.body, request.gatewayHeaders, request.headers['content-type'], request.url], [{ model: 'm' }, { 'x-gateway-metadata': '{}' }, 'application/json', 'http://127.0.0.1/v1/chat/completions'.replace('127.0.0.1', new URL(request.url).host)]);
    assert.deepEqual([response.body, response.status, response.responseTime, response.lastUsedOptionJsonPath], ['{"ok":2} cut', 200, 30, 'config']);
    assert.deepEqual([transformedRequest.body, transformedRequest.url, originalResponse.body, finalUntransformedRequest.body], [{ model: 'n' }, 'https://up.example/v1/chat', { ok: 1 }, { model: 'm' }]);
    assert.deepEqual(
      [metrics.cost, metrics.cost_currency, metrics.workspace_slug, metrics.is_success, metrics.retry_success_count, metrics.stream_mode, metrics.cache_type, metrics.last_used_option_index, metrics.runtime, metrics['metadata.key'], metrics['metadata.value'], metrics.gateway_processing_time, metrics.upstream_response_time],
      [1.25, 'USD', slug, true, 2, 1, 'semantic', 1, 'node', ['team', 'n'], ['search', '1'], 5, 15],
    );
  });

  it('of a trace is the final one', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    stage.logs.insert([logRecord({ id: 'left', organisationId, workspaceId, traceId: 't', isFinal: false, startedAtMs: 1 }), logRecord({ id: 'final', organisationId, workspaceId, traceId: 't', startedAtMs: 2 })]);
    assert.deepEqual([(await stage.call('GET', '/v1/logs/t')).body._id, (await stage.call('GET', '/v1/logs/left')).body._id], ['final', 'left']);
  });
});

describe('who sees logs', () => {
  it('is for the settings of the organisation to say, by role, and services see all', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    const bodies = { requestHeaders: '{"a":"b","x-gateway-metadata":"{\\"team\\":\\"search\\"}"}', request: '{"model":"m"}', upstreamUrl: 'https://up.example/', upstreamHeaders: '{}', upstreamRequest: '{}', upstreamResponse: '{}', responseHeaders: '{}', response: '{}' };
    stage.logs.insert([logRecord({ id: 'seen', organisationId, workspaceId, metadata: '{"team":"search"}', bodies })]);
    const byMetadata = `/v1/logs?metadata=${encodeURIComponent('{"team":"search"}')}`;
    for (const role of ['member', 'manager'] as const) {
      await stage.role(role);
      await stage.settings({});
      assert.deepEqual([(await stage.asPerson('GET', '/v1/logs')).status, (await stage.asPerson('GET', '/v1/logs/seen')).body.request instanceof Object], [200, true]);
      await stage.settings({ [`${role}sViewLogs`]: false });
      for (const path of ['/v1/logs', '/v1/logs/seen', '/v1/logs/live']) assert.equal((await stage.asPerson('GET', path)).status, 403, `${role} ${path}`);
      assert.equal((await stage.asService('GET', '/v1/logs/seen')).status, 200);
      await stage.settings({ [`${role}sViewLogBodies`]: false, [`${role}sViewMetadata`]: false });
      const { status, body } = await stage.asPerson('GET', '/v1/logs/seen');
      assert.deepEqual([status, members(body.request).body, members(body.request).headers, members(body.request).gatewayHeaders, body.transformedRequest, members(body.metrics)['metadata.key']], [200, undefined, undefined, {}, {}, []]);
      assert.equal(JSON.stringify((await stage.asPerson('GET', '/v1/logs')).body).includes('search'), false);
      assert.equal((await stage.asPerson('GET', byMetadata)).status, 403);
      await stage.settings({ [`${role}sViewMetadata`]: false });
      const times = 'time_of_generation_min=2030-01-15T00:00:00Z&time_of_generation_max=2030-01-16T00:00:00Z';
      for (const [path, wanted] of [['groups/users', 403], ['groups/metadata/team', 403], ['groups/model', 200], ['graphs/users', 200]] as const) assert.equal((await stage.asPerson('GET', `/v1/analytics/${path}?${times}`)).status, wanted, `${role} ${path}`);
      const headers = members((await stage.asPerson('GET', '/v1/logs/seen')).body.request);
      assert.deepEqual([headers.headers, headers.gatewayHeaders], [{ a: 'b' }, {}]);
      assert.deepEqual(members((await stage.asService('GET', '/v1/logs/seen')).body.metrics)['metadata.key'], ['team']);
    }
  });

  it('see no metadata in headers that are metadata, nor in the counters of policies, when they see none', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    const headers = '{"a":"b","baggage":"team=hidden","x-team":"hidden"}';
    const decision = '[{"about":"limit","limits":[{"counter":"policy/metadata.team:hidden-model:m","before":0,"after":1,"maximum":5},{"counter":"key/minute","before":0,"after":1,"maximum":5}]},{"about":"limit","refusedBy":"policy/model:m-metadata.team:hidden","before":5,"needed":1,"maximum":5}]';
    const bodies = { requestHeaders: headers, request: '{}', upstreamUrl: 'https://up.example/', upstreamHeaders: headers, upstreamRequest: '{}', upstreamResponse: '{}', responseHeaders: '{}', response: '{}' };
    stage.logs.insert([logRecord({ id: 'seen', organisationId, workspaceId, metadata: '{"team":"hidden"}', bodies, decision })]);
    await stage.role('member');
    await stage.settings({ membersViewMetadata: false });
    for (const path of ['/v1/logs/seen', '/v1/logs/seen/why', '/v1/logs']) {
      const { status, body } = await stage.asPerson('GET', path);
      assert.deepEqual([status, JSON.stringify(body).includes('hidden')], [200, false], `${path}: ${JSON.stringify(body)}`);
      assert.equal(path === '/v1/logs' || JSON.stringify((await stage.asService('GET', path)).body).includes('hidden'), true, path);
    }
    const { body } = await stage.asPerson('GET', '/v1/logs/seen');
    assert.deepEqual([members(body.request).headers, members(body.transformedRequest).headers, members(body.finalUntransformedRequest).headers], [{ a: 'b' }, { a: 'b' }, { a: 'b' }]);
    const why: Record<string, any> = (await stage.asPerson('GET', '/v1/logs/seen/why')).body;
    assert.deepEqual([why.limits.map((each: any) => each.counter), why.refused_by[0].counter], [['policy/metadata.…', 'key/minute'], 'policy/model:m-metadata.…']);
  });
});

describe('who sees figures', () => {
  it('by metadata sees metadata: groups of its values are refused to those from whom it is hidden', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    stage.logs.insert([logRecord({ organisationId, workspaceId, metadata: '{"team":"search","_user":"ada"}' })]);
    const times = 'time_of_generation_min=2030-01-01T00:00:00Z&time_of_generation_max=2030-02-01T00:00:00Z';
    const paths = ['metadata/team', 'users'].map((group) => `/v1/analytics/groups/${group}?${times}`);
    for (const role of ['member', 'manager'] as const) {
      await stage.role(role);
      await stage.settings({});
      for (const path of paths) assert.deepEqual([(await stage.asPerson('GET', path)).status, data(await stage.asPerson('GET', path)).length], [200, 1]);
      await stage.settings({ [`${role}sViewMetadata`]: false });
      for (const path of paths) assert.equal((await stage.asPerson('GET', path)).status, 403, `${role} ${path}`);
      assert.equal((await stage.asPerson('GET', `/v1/analytics/groups/model?${times}`)).status, 200);
      assert.equal((await stage.asService('GET', paths[0] ?? '')).status, 200);
    }
  });
});

describe('live logs', () => {
  it('come in the order of their arrival, each once, from the place of now on', async () => {
    const stage = await start();
    const { organisationId, workspaceId } = stage;
    stage.logs.insert([logRecord({ id: 'before', organisationId, workspaceId })]);
    const first = await stage.call('GET', '/v1/logs/live');
    assert.deepEqual(data(first), []);
    stage.logs.insert([logRecord({ id: 'late', organisationId, workspaceId, startedAtMs: 5 }), logRecord({ id: 'failed', organisationId, workspaceId, status: 500 }), logRecord({ id: 'last', organisationId, workspaceId, startedAtMs: 1 })]);
    const second = await stage.call('GET', `/v1/logs/live?page_size=2&after=${String(first.body.after)}`);
    assert.deepEqual([data(second).map(({ id }) => id), second.body.has_more], [['late', 'failed'], true]);
    const third = await stage.call('GET', `/v1/logs/live?after=${String(second.body.after)}`);
    assert.deepEqual([data(third).map(({ id }) => id), third.body.has_more], [['last'], false]);
    assert.deepEqual(data(await stage.call('GET', `/v1/logs/live?is_success=false&after=${String(first.body.after)}`)).map(({ id }) => id), ['failed']);
  });
});

describe('feedback', () => {
  it('is given one by one or as a list, for traces that nobody knows too, and changed', async () => {
    const stage = await start();
    const one = await stage.asService('POST', '/v1/feedback', { trace_id: 't', value: 5, metadata: { by: 'a person' } });
    const two = await stage.asService('POST', '/v1/feedback', [{ trace_id: 't', value: -10, weight: 0.5 }, { trace_id: 'unknown', value: 10 }]);
    const three = await stage.asService('POST', '/v1/feedback', { 0: { trace_id: 't', value: 1 } });
    assert.deepEqual([one.status, two.status, three.status, stage.logs.feedback.length], [200, 200, 200, 4]);
    const [id = ''] = one.body.feedback_ids as string[];
    const changed = await stage.asService('PUT', `/v1/feedback/${id}`, { value: -3, weight: 0 });
    assert.deepEqual(changed.body, { status: 'success', message: 'the feedback is changed', feedback_ids: [id] });
    const [item] = stage.logs.feedback;
    assert.deepEqual([item?.id, item?.value, item?.weight, item?.metadata, item?.workspaceId], [id, -3, 0, '', stage.workspaceId]);
    assert.equal((await stage.asService('PUT', '/v1/feedback/unknown', { value: 1 })).status, 404);
    for (const [body, param] of [[{ trace_id: 't', value: 11 }, 'value'], [{ trace_id: 't', value: 1.5 }, 'value'], [[{ trace_id: 't', value: 1 }, { value: 1 }], '1.trace_id'], [{ trace_id: 't', value: 1, weight: 2 }, 'weight'], [{ trace_id: 't', value: 1, metadata: { a: 'x'.repeat(9000) } }, 'metadata']] as const) {
      const reply = await stage.asService('POST', '/v1/feedback', body);
      assert.deepEqual([reply.status, (reply.body.error as { param: string }).param], [400, param]);
    }
  });

  it('and told logs leave no entry in the audit log', async () => {
    const stage = await start();
    await stage.asService('POST', '/v1/feedback', { trace_id: 't', value: 5 });
    await stage.asService('POST', '/v1/logs', claude);
    const entries: unknown[] = [];
    for await (const { record } of stage.repository.audit()) entries.push(record.uri);
    assert.deepEqual(entries.filter((uri) => uri === '/v1/logs' || uri === '/v1/feedback'), []);
    assert.equal((await stage.call('POST', '/v1/feedback', { trace_id: 't', value: 5 }, { as: firstAdminKey })).status, 403, 'an admin key gives none');
  });
});

describe('the list of logs', () => {
  it('is not asked for pages far behind by their number, which would find all before them first', async () => {
    const stage = await start();
    assert.equal((await stage.asService('GET', '/v1/logs?current_page=10&page_size=1000')).status, 200);
    const refused = await stage.asService('GET', '/v1/logs?current_page=11&page_size=1000');
    assert.deepEqual([refused.status, (refused.body.error as { param: string }).param], [400, 'current_page']);
  });
});
