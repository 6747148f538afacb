// Guardrails that are stored: named by configs, demanded by the organisation and by workspaces of all their calls, changed while calls go on.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { workspaces } from '../../core/storage/tables/workspaces.js';
import { everyByte } from '../support/every-byte.js';
import { adminKey, startTestGateway } from '../support/gateway.js';
import { putRows } from '../support/rows.js';
import { storedData } from '../support/stored.js';
import { answerStream, chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const upstream = await startUpstream((_, response) => sendJson(response, 200, chatCompletion));
const { rows, environment } = await storedData();
const first = await rows.repository.get(workspaces, rows.workspaceId);
assert.ok(first !== undefined);
const [mine, other] = ['workspace-key-000000', 'other-key-0000000000'];
await rows.key(mine, { scopes: ['completions.write', 'guardrails.invoke', 'guardrails.list'] });
await putRows(rows.repository, workspaces, { ...first.row, id: 'other', slug: 'other', name: 'other', isDefault: false });
await rows.key(other, { workspaceId: 'other' });
const gateway = await startTestGateway(environment);

// The shapes are what the tests are about.
type Reply = Record<string, any>;

async function control(method: string, path: string, body?: object): Promise<Reply> {
  const response = await fetch(`${gateway.url}/v1${path}`, {
    method, headers: { 'x-gateway-api-key': adminKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }, ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { ...await response.json() as Reply, status: response.status };
}

async function call(config: object | string | undefined, text: string, { key = mine, more = {} }: { key?: string; more?: object } = {}): Promise<{ status: number; body: Reply; text: string; sent: number }> {
  const before = upstream.received.length;
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json', 'x-gateway-api-key': key,
      ...(config === undefined ? { 'x-gateway-provider': 'openai', 'x-gateway-custom-host': `${upstream.url}/v1`, authorization: 'Bearer sk' } : { 'x-gateway-config': typeof config === 'string' ? config : JSON.stringify(config) }),
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }], ...more }),
  });
  const answer = await response.text();
  return { status: response.status, body: answer.startsWith('{') ? JSON.parse(answer) : {}, text: answer, sent: upstream.received.length - before };
}

const target = { provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1` };
const forbids = (word: string) => [{ id: 'default.regexMatch', parameters: { rule: word, not: true } }];
async function made(word: string, actions: object = { on_fail: 'deny' }, workspaceId: string | null = rows.workspaceId): Promise<string> {
  const reply = await control('POST', '/guardrails', { name: word, checks: forbids(word), actions, ...(workspaceId === null ? {} : { workspace_id: workspaceId }) });
  assert.equal(reply.status, 200, JSON.stringify(reply));
  return reply.slug;
}
const workspaceDefaults = async (defaults: object, id = rows.workspaceId): Promise<void> => assert.equal((await control('PUT', `/workspaces/${id}`, { defaults })).status, 200);
const organisationDefaults = async (defaults: object): Promise<void> => assert.equal((await control('PUT', '/admin/organisation/defaults', defaults)).status, 200);
const hooksOf = ({ body }: { body: Reply }): string[] => [...body.hook_results?.before_request_hooks ?? [], ...body.hook_results?.after_request_hooks ?? []].map(({ id }: Reply) => id);

beforeEach(async () => {
  upstream.answer = (_, response) => sendJson(response, 200, chatCompletion);
  await workspaceDefaults({ input_guardrails: null, output_guardrails: null });
  await organisationDefaults({ input_guardrails: null, output_guardrails: null });
  await control('PUT', '/workspace-exclusions/input-guardrails', { workspaces: [] });
});

describe('a stored guardrail that a config names', () => {
  it('is found as a text, as an entry with an id, and as a hook, by slug and by id', async () => {
    const slug = await made('banned');
    const { id } = await control('GET', `/guardrails/${slug}?workspace_id=${rows.workspaceId}`);
    for (const lists of [{ input_guardrails: [slug] }, { input_guardrails: [id] }, { input_guardrails: [{ id: slug }] }, { before_request_hooks: [{ id: slug }] }, { before_request_hooks: [{ id, type: 'guardrail' }] }]) {
      const denied = await call({ ...target, ...lists }, 'a banned word');
      assert.deepEqual([denied.status, denied.sent, hooksOf(denied)], [446, 0, [slug]], JSON.stringify(lists));
      assert.deepEqual(denied.body.hook_results.before_request_hooks[0].feedback.value, -5);
      assert.equal((await call({ ...target, ...lists }, 'a fine word')).status, 200);
    }
    const softened = await call({ ...target, input_guardrails: [{ id: slug, deny: false }] }, 'a banned word');
    assert.deepEqual([softened.status, softened.sent], [246, 1]);
  });

  it('is as it is now for every call, in stored configs as well', async () => {
    const slug = await made('before');
    const config = (await control('POST', '/configs', { workspace_id: rows.workspaceId, config: { ...target, input_guardrails: [slug] } })).slug;
    assert.deepEqual([(await call(config, 'before')).status, (await call(config, 'after')).status], [446, 200]);
    assert.equal((await control('PUT', `/guardrails/${slug}?workspace_id=${rows.workspaceId}`, { checks: forbids('after') })).status, 200);
    assert.deepEqual([(await call(config, 'before')).status, (await call(config, 'after')).status], [200, 446]);
    const inUse = await control('DELETE', `/guardrails/${slug}?workspace_id=${rows.workspaceId}`);
    assert.equal(inUse.status, 409);
    assert.match(inUse.message, new RegExp(`in use by the config ${config}`));
  });

  it('is refused when there is none, and those of other workspaces count as none', async () => {
    const theirs = await made('x', {}, 'other');
    for (const slug of [theirs, 'pg-nothing']) {
      const refused = await call({ ...target, output_guardrails: [slug] }, 'hi');
      assert.deepEqual([refused.status, refused.body.error.param, refused.sent], [404, 'config.output_guardrails[0]', 0]);
      assert.match(refused.body.error.message, /no stored guardrail/);
      const stored = await control('POST', '/configs', { workspace_id: rows.workspaceId, config: { strategy: { mode: 'single' }, targets: [{ ...target, output_guardrails: [slug] }] } });
      assert.deepEqual([stored.status, stored.error.param], [404, 'config.targets[0].output_guardrails[0]']);
    }
    const gone = await made('gone');
    assert.equal((await call({ ...target, input_guardrails: [gone] }, 'gone')).status, 446);
    assert.equal((await control('DELETE', `/guardrails/${gone}?workspace_id=${rows.workspaceId}`)).status, 200);
    assert.equal((await call({ ...target, input_guardrails: [gone] }, 'gone')).status, 404);
  });

  it('runs on each side the checks that are for it, and is refused where it has none', async () => {
    const both = await control('POST', '/guardrails', { name: 'Both', workspace_id: rows.workspaceId, checks: [...forbids('banned'), { id: 'default.jsonKeys', parameters: { keys: ['a'] } }], actions: { deny: true } });
    const denied = await call({ ...target, input_guardrails: [both.slug] }, 'banned');
    assert.deepEqual(denied.body.hook_results.before_request_hooks[0].checks.map(({ id }: Reply) => id), ['default.regexMatch']);
    const output = await control('POST', '/guardrails', { name: 'Output', workspace_id: rows.workspaceId, checks: [{ id: 'default.jsonKeys', parameters: { keys: ['a'] } }], actions: { deny: true } });
    const refused = await call({ ...target, input_guardrails: [output.slug] }, 'hi');
    assert.equal(refused.status, 400);
    assert.match(refused.body.error.message, /none of the checks of the guardrail .* runs on the input/);
    assert.deepEqual((await control('PUT', `/workspaces/${rows.workspaceId}`, { defaults: { input_guardrails: [output.slug] } })).error.param, 'defaults.input_guardrails.0');
  });

  it('keeps its secrets sealed', async () => {
    const secret = 'judge-secret-0123456789-abcdef';
    const reply = await control('POST', '/guardrails', { name: 'Judge', workspace_id: rows.workspaceId, checks: [{ id: 'default.webhook', parameters: { webhookURL: 'https://judge.example/x', headers: { 'x-any': secret } } }], actions: {} });
    assert.equal(reply.status, 200);
    const read = await control('GET', `/guardrails/${String(reply.id)}`);
    assert.equal(read.checks[0].parameters.headers['x-any'], 'jud****cdef');
    assert.ok(!(await everyByte(rows.repository)).includes(secret));
  });
});

describe('a guardrail that denies softly', () => {
  const post = async (path: string, body: object, config: object): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${gateway.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': mine, 'x-gateway-config': JSON.stringify(config) }, body: JSON.stringify(body) });
    return { status: response.status, text: await response.text() };
  };
  const said = 'blocked by the guardrails';

  it('answers with 200 and a text that says so, in every dialect, plain and streamed', async () => {
    const slug = await made('banned', { on_fail: 'deny', soft_deny_200: true });
    const config = { ...target, input_guardrails: [slug] };
    const before = upstream.received.length;
    const user = { role: 'user', content: 'banned' };
    for (const [path, body, whole, text] of [
      ['/v1/chat/completions', { model: 'm', messages: [user] }, '"finish_reason":"content_filter"', (answer: Reply) => answer.choices[0].message.content],
      ['/v1/completions', { model: 'm', prompt: 'banned' }, '"text_completion"', (answer: Reply) => answer.choices[0].text],
      ['/v1/messages', { model: 'm', max_tokens: 5, messages: [user] }, 'message_stop', (answer: Reply) => answer.content[0].text],
      ['/v1/responses', { model: 'm', input: 'banned' }, 'response.', (answer: Reply) => answer.output[0].content[0].text],
    ] as const) {
      const plain = await post(path, body, config);
      assert.equal(plain.status, 200, plain.text);
      const answer = JSON.parse(plain.text) as Reply;
      assert.ok(text(answer).includes(said), plain.text);
      assert.equal(answer.hook_results.before_request_hooks[0].deny, true);
      const streamed = await post(path, { ...body, stream: true }, config);
      assert.equal(streamed.status, 200);
      assert.ok(streamed.text.includes(whole) && streamed.text.includes('guardrails'), streamed.text);
    }
    assert.equal(upstream.received.length, before);
    // There is no text to answer embeddings with.
    assert.equal((await post('/v1/embeddings', { model: 'm', input: 'banned' }, config)).status, 446);
  });

  it('withholds answers, and is an outcome like another for the strategy', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, { ...chatCompletion, choices: [{ index: 0, message: { role: 'assistant', content: 'poison' }, finish_reason: 'stop' }] });
    const soft = { 'default.regexMatch': { rule: 'poison', not: true }, deny: true, soft_deny_200: true };
    const denied = await call({ ...target, output_guardrails: [soft] }, 'hi');
    assert.deepEqual([denied.status, denied.body.choices[0].finish_reason, denied.text.includes('"content":"poison"')], [200, 'content_filter', false]);
    const next = await call({ strategy: { mode: 'fallback', on_status_codes: [446] }, targets: [{ ...target, output_guardrails: [soft] }, target] }, 'hi');
    assert.deepEqual([next.status, next.body.choices[0].message.content], [200, 'poison']);
    // Of two that deny, the one that did is asked.
    const hard = { 'default.wordCount': { maxWords: 0 }, deny: true };
    assert.equal((await call({ ...target, output_guardrails: [hard, soft] }, 'hi')).status, 446);
    assert.equal((await call({ ...target, output_guardrails: [soft, hard] }, 'hi')).status, 200);
  });
});

describe('a trial of a guardrail', () => {
  const invoke = async (slug: string, body: object): Promise<Reply> => {
    const response = await fetch(`${gateway.url}/v1/guardrails/${slug}/invoke`, { method: 'POST', headers: { 'x-gateway-api-key': mine, 'content-type': 'application/json' }, body: JSON.stringify(body) });
    return { ...await response.json() as Reply, code: response.status };
  };

  it('says what it would say of a text, and of bodies of any dialect, on both sides', async () => {
    const slug = await made('banned', { deny: true, async: true });
    assert.deepEqual([(await invoke(slug, { text: 'fine' })).status, (await invoke(slug, { text: 'banned' })).status], [200, 446]);
    const answer = await invoke(slug, { text: 'banned', stage: 'output' });
    assert.deepEqual([answer.status, answer.hook_results.before_request_hooks.length, answer.hook_results.after_request_hooks.length], [446, 0, 1]);
    const messages = await invoke(slug, { endpoint: 'messages', request: { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'fine' }] }, response: { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'banned' }] } });
    assert.deepEqual([messages.hook_results.before_request_hooks[0].verdict, messages.hook_results.after_request_hooks[0].verdict], [true, false]);
  });

  it('shows what it would change, and runs what is judged in the pool', async () => {
    const { slug } = await control('POST', '/guardrails', { name: 'Hide', workspace_id: rows.workspaceId, actions: {}, checks: [{ id: 'default.regexReplace', parameters: { rule: 'jane', redactText: '[name]' } }, { id: 'default.jsonSchema', parameters: { schema: { type: 'object' }, timeout: 60_000 } }] });
    const changed = await invoke(slug, { text: 'I am jane' });
    assert.equal(changed.transformed_request.messages[0].content, 'I am [name]');
    const judged = await invoke(slug, { text: '{"a":1}', stage: 'output' });
    assert.deepEqual(judged.hook_results.after_request_hooks[0].checks.map(({ id, verdict }: Reply) => [id, verdict]), [['default.regexReplace', true], ['default.jsonSchema', true]]);
  });

  it('takes those of the organisation for granted, and is no business of others', async () => {
    const shared = await made('ours', { deny: true }, null);
    assert.equal((await invoke(shared, { text: 'ours' })).status, 446);
    assert.equal((await invoke(await made('theirs', {}, 'other'), { text: 'x' })).code, 404);
  });
});

describe('guardrails of a workspace', () => {
  it('judge every call of it: with no config, an inline one, a stored one, and targets with lists of their own', async () => {
    const config = (await control('POST', '/configs', { workspace_id: rows.workspaceId, config: target })).slug;
    const own = { strategy: { mode: 'fallback' }, targets: [{ ...target, input_guardrails: [{ 'default.wordCount': { maxWords: 100 } }] }, target] };
    const all = [undefined, target, config, own];
    for (const each of all) assert.equal((await call(each, 'banned')).status, 200);
    await workspaceDefaults({ input_guardrails: [await made('banned')] });
    for (const each of all) {
      const denied = await call(each, 'banned');
      assert.deepEqual([denied.status, denied.sent], [446, 0], JSON.stringify(each));
      assert.equal((await call(each, 'fine')).status, 200);
    }
    assert.equal((await call(undefined, 'banned', { key: other })).status, 200, 'another workspace');
    await workspaceDefaults({ input_guardrails: [] });
    for (const each of all) assert.equal((await call(each, 'banned')).status, 200);
  });

  it('are what they are now, and cannot be deleted while they are', async () => {
    const slug = await made('first');
    await workspaceDefaults({ input_guardrails: [slug] });
    assert.equal((await call(undefined, 'first')).status, 446);
    await control('PUT', `/guardrails/${slug}?workspace_id=${rows.workspaceId}`, { checks: forbids('second') });
    assert.deepEqual([(await call(undefined, 'first')).status, (await call(undefined, 'second')).status], [200, 446]);
    const inUse = await control('DELETE', `/guardrails/${slug}?workspace_id=${rows.workspaceId}`);
    assert.match(inUse.message, /in use by the defaults of the workspace /);
  });

  it('judge answers, plain and streamed', async () => {
    await workspaceDefaults({ output_guardrails: [await made('poison')] });
    upstream.answer = (_, response) => sendJson(response, 200, { ...chatCompletion, choices: [{ index: 0, message: { role: 'assistant', content: 'poison' }, finish_reason: 'stop' }] });
    assert.equal((await call(undefined, 'hi')).status, 446);
    upstream.answer = answerStream(['po', 'ison']);
    const streamed = await call(undefined, 'hi', { more: { stream: true } });
    assert.ok(streamed.status === 446 || streamed.text.includes('hooks_failed'), streamed.text);
    assert.ok(!streamed.text.includes('"ison"'));
  });
});

describe('guardrails of the organisation', () => {
  it('judge calls of all workspaces but those that are left out, each guardrail once', async () => {
    const [own, shared] = [await made('mine'), await made('ours', { on_fail: 'deny' }, null)];
    await organisationDefaults({ input_guardrails: [shared] });
    await workspaceDefaults({ input_guardrails: [own, shared] });
    const passed = await call({ ...target, input_guardrails: [shared, own, { id: shared, deny: false }] }, 'fine');
    assert.deepEqual(hooksOf(passed), [shared, own]);
    // What the organisation demands is not softened by a config.
    assert.equal((await call({ ...target, input_guardrails: [{ id: shared, deny: false }] }, 'ours')).status, 446);
    assert.equal((await call(undefined, 'ours', { key: other })).status, 446);
    await control('PUT', '/workspace-exclusions/input-guardrails', { workspaces: ['other'] });
    assert.equal((await call(undefined, 'ours', { key: other })).status, 200);
    assert.equal((await call(undefined, 'ours')).status, 446);
    const inUse = await control('DELETE', `/guardrails/${shared}`);
    assert.match(inUse.message, /in use by the defaults of the organisation, the defaults of the workspace /);
  });

  it('are not put aside by one of a workspace with the same slug', async () => {
    const slug = 'pg-demanded-twice';
    const own = await control('POST', '/guardrails', { name: 'own', slug, checks: forbids('another'), actions: { on_fail: 'deny' }, workspace_id: rows.workspaceId });
    assert.equal(own.status, 200, JSON.stringify(own));
    assert.equal((await control('POST', '/guardrails', { name: 'demanded', slug, checks: forbids('demanded'), actions: { on_fail: 'deny' } })).status, 200);
    await organisationDefaults({ input_guardrails: [slug] });
    assert.equal((await call(undefined, 'a demanded word')).status, 446);
    // The workspace's own is the one that its configs name.
    assert.equal((await call({ ...target, input_guardrails: [slug] }, 'another word')).status, 446);
    assert.equal((await call({ ...target, input_guardrails: [slug] }, 'a demanded word')).status, 446);
    assert.equal((await call(undefined, 'another word')).status, 200);
    // It was there before. Later, none takes the place of the organisation's.
    const shared = await made('shared', { on_fail: 'deny' }, null);
    const late = await control('POST', '/guardrails', { name: 'late', slug: shared, checks: forbids('late'), actions: {}, workspace_id: rows.workspaceId });
    assert.deepEqual([late.status, late.error.param], [409, 'slug']);
  });

  it('are not for keys of workspaces to see or to change', async () => {
    const shared = await made('ours', {}, null);
    const response = await fetch(`${gateway.url}/v1/guardrails/${shared}`, { headers: { 'x-gateway-api-key': mine } });
    assert.equal(response.status, 403);
    assert.ok((await control('GET', '/guardrails')).data.some(({ slug }: Reply) => slug === shared));
    const list = await fetch(`${gateway.url}/v1/guardrails`, { headers: { 'x-gateway-api-key': mine } });
    assert.ok(!(await list.json() as Reply).data.some(({ slug }: Reply) => slug === shared));
  });
});
