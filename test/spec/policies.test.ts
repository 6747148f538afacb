// Policies as calls meet them: which calls one binds, what it counts apart, and that changes are obeyed by the reply to the call that made them.

import assert from 'node:assert/strict';
import { after, afterEach, describe, it } from 'node:test';
import { adminKey, apiKey, startTestGateway } from '../support/gateway.js';
import { withinOneDay } from '../support/one-day.js';
import { storedData } from '../support/stored.js';
import { chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const upstream = await startUpstream((_, response) => sendJson(response, 200, { ...chatCompletion, id: 'of main' }));
const spare = await startUpstream((_, response) => sendJson(response, 200, { ...chatCompletion, id: 'of spare' }));
const { rows, environment } = await storedData();
await rows.integration('main', { key: 'sk-main' }, { customHost: `${upstream.url}/v1` });
await rows.provider('main', 'main');
await rows.integration('spare', { key: 'sk-spare' }, { customHost: `${spare.url}/v1`, aiProviderId: 'groq' });
await rows.provider('spare', 'spare');
await rows.config('pc-both', { strategy: { mode: 'fallback' }, targets: [{ provider: '@main' }, { provider: '@spare' }] });
await rows.config('pc-main', { provider: '@main', override_params: { model: 'other' } });
const gateway = await startTestGateway(environment);
await withinOneDay();

type Kind = 'rate-limits' | 'usage-limits';

async function control(method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${gateway.url}/v1${path}`, {
    method, headers: { 'x-gateway-api-key': adminKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }, ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const reply: any = await response.json();
  assert.equal(response.status, 200, JSON.stringify(reply));
  return reply;
}

/** Of the tests before, for the next one to begin without. */
const left: string[] = [];
afterEach(async () => { for (const path of left.splice(0)) await control('DELETE', path); });

/** Its path. */
async function policy(kind: Kind, members: object): Promise<string> {
  const { id } = await control('POST', `/policies/${kind}`, { workspace_id: 'first-workspace', conditions: [{ key: 'workspace_id', value: '*' }], ...members });
  const path = `/policies/${kind}/${String(id)}`;
  left.push(path);
  return path;
}

/** By the week: a test that runs as a minute ends is like any other. */
const weekly = { type: 'requests', unit: 'rpw' } as const;
const by = (...keys: readonly string[]) => keys.map((key) => ({ key }));

interface Said {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly model?: string;
  readonly config?: string;
  readonly path?: string;
  readonly user?: string;
}

async function call({ metadata, model = 'm', config, path = '/v1/chat/completions', user }: Said = {}): Promise<Response> {
  const isEmbedding = path.endsWith('embeddings');
  const response = await fetch(gateway.url + path, {
    method: 'POST', body: JSON.stringify({ model, ...(isEmbedding ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] }), ...(user === undefined ? {} : { user }) }),
    headers: {
      'content-type': 'application/json', 'x-gateway-api-key': apiKey, ...(config === undefined ? { 'x-gateway-provider': '@main' } : { 'x-gateway-config': config }),
      ...(metadata === undefined ? {} : { 'x-gateway-metadata': JSON.stringify(metadata) }),
    },
  });
  return response;
}

async function status(said?: Said): Promise<number> {
  const response = await call(said);
  await response.arrayBuffer();
  return response.status;
}

async function statuses(...said: readonly Said[]): Promise<readonly number[]> {
  const all: number[] = [];
  for (const each of said) all.push(await status(each));
  return all;
}

const red = { metadata: { team: 'red' } };
const blue = { metadata: { team: 'blue' } };
const green = { metadata: { team: 'green' } };

describe('a rate policy', () => {
  it('counts each value apart, and leaves calls alone that do not meet it', async () => {
    await policy('rate-limits', { conditions: [{ key: 'metadata.team', value: '*', excludes: 'green' }], group_by: by('metadata.team'), ...weekly, value: 2 });
    assert.deepEqual(await statuses(red, red, red, blue, blue, blue, green, green, green, {}, {}, {}), [200, 200, 429, 200, 200, 429, 200, 200, 200, 200, 200, 200]);
    const refused = await call(red);
    const { error }: any = await refused.json();
    assert.equal(refused.status, 429, JSON.stringify(error));
    assert.deepEqual([refused.headers.get('x-ratelimit-limit-requests'), refused.headers.get('x-ratelimit-remaining-requests')], ['2', '0']);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
  });

  it('binds by all of its conditions, each by any of its values', async () => {
    await policy('rate-limits', { conditions: [{ key: 'metadata.team', value: ['red', 'blue'] }, { key: 'model', value: ['m', 'n'] }], group_by: by('workspace_id'), ...weekly, value: 1 });
    assert.deepEqual(await statuses({ ...green, model: 'm' }, { ...red, model: 'x' }, { ...red, model: 'm' }, { ...blue, model: 'n' }, { ...blue, model: 'x' }), [200, 200, 200, 429, 200]);
  });

  it('knows the model as the call asks for it, whatever a config makes of it', async () => {
    await policy('rate-limits', { conditions: [{ key: 'model', value: '*' }], group_by: by('model'), ...weekly, value: 1 });
    assert.deepEqual(await statuses({ model: 'a', config: 'pc-main' }, { model: 'a' }, { model: '@main/a' }, { model: 'b', config: 'pc-main' }, { model: 'other' }), [200, 429, 429, 200, 200]);
  });

  it('knows models of one stored provider, and requests of one type', async () => {
    await policy('rate-limits', { conditions: [{ key: 'model', value: '@main/*', excludes: '@main/free' }, { key: 'endpoint_type', value: 'chatComplete' }], group_by: by('api_key'), ...weekly, value: 1 });
    assert.deepEqual(await statuses({ model: '@main/a' }, { model: 'b' }, { model: 'free' }, { model: '@spare/a', config: 'pc-both' }), [200, 429, 200, 200]);
    assert.deepEqual(await statuses({ model: 'b', path: '/v1/embeddings' }, { model: 'b', path: '/v1/embeddings' }), [200, 200]);
  });

  it('that a target exceeds is passed on to the next one', async () => {
    await policy('rate-limits', { conditions: [{ key: 'virtual_key', value: '@main' }], group_by: by('virtual_key'), ...weekly, value: 1 });
    await policy('rate-limits', { conditions: [{ key: 'provider', value: 'groq' }], group_by: by('provider'), ...weekly, value: 1 });
    const ids: unknown[] = [];
    for (let calls = 0; calls < 3; calls += 1) {
      const response = await call({ config: 'pc-both' });
      const body: any = await response.json();
      ids.push(response.status === 200 ? body.id : response.status);
    }
    assert.deepEqual(ids, ['of main', 'of spare', 429]);
    assert.equal(await status(), 429);
  });

  it('of the organisation binds the workspaces that it names', async () => {
    const own = await policy('rate-limits', { workspace_id: undefined, conditions: [{ key: 'workspace_id', value: ['first-workspace'] }], group_by: by('workspace_id'), ...weekly, value: 1 });
    assert.deepEqual(await statuses({}, {}), [200, 429]);
    await control('PUT', own, { conditions: [{ key: 'workspace_id', value: '*', excludes: ['first-workspace'] }] });
    assert.deepEqual(await statuses({}, {}), [200, 200]);
  });

  it('is obeyed as it is as soon as a change is answered', async () => {
    const path = await policy('rate-limits', { group_by: by('api_key'), ...weekly, value: 1 });
    assert.deepEqual(await statuses({}, {}), [200, 429]);
    await control('PUT', path, { value: 2 });
    assert.deepEqual(await statuses({}, {}), [200, 429]);
    await control('PUT', path, { conditions: [{ key: 'metadata.team', value: 'red' }] });
    assert.deepEqual(await statuses({}, red), [200, 429]);
    await control('DELETE', left.pop() ?? '');
    assert.deepEqual(await statuses(red, {}), [200, 200]);
    await control('PUT', path, { status: 'active' });
    left.push(path);
    assert.deepEqual(await statuses(red, {}), [429, 200]);
  });
});

describe('a usage policy', () => {
  it('ends for one user at a time, and begins again with a reset or a higher limit', async () => {
    const path = await policy('usage-limits', { group_by: by('metadata._user'), type: 'requests', credit_limit: 2 });
    const [bob, alice] = [{ user: 'bob' }, { user: 'alice' }];
    assert.deepEqual(await statuses(bob, bob, bob, alice), [200, 200, 412, 200]);
    const { data } = await control('GET', `${path}/entities?search=bob`);
    assert.deepEqual(data.map(({ value_key, current_usage, status: state }: any) => [value_key, current_usage, state]), [['metadata._user:bob', 2, 'exhausted']]);
    assert.equal((await control('GET', `${path}/entities?status=active`)).data[0].value_key, 'metadata._user:alice');
    const { value_key_usage_map: map } = await control('GET', `${path}?include_usage=true`);
    assert.deepEqual([map['metadata._user:bob'].current_usage, map['metadata._user:alice'].current_usage], [2, 1]);

    await control('PUT', `${path}/entities/${String(data[0].id)}/reset`);
    assert.deepEqual(await statuses(bob, bob, bob), [200, 200, 412]);
    await control('PUT', path, { credit_limit: 3 });
    assert.deepEqual(await statuses(bob, bob), [200, 412]);
    await control('PUT', path, { reset_usage_for_value: 'metadata._user:bob' });
    assert.deepEqual(await statuses(bob), [200]);
    assert.deepEqual(await statuses(alice, alice, alice), [200, 200, 412]);
  });

  it('counts calls without a value together', async () => {
    await policy('usage-limits', { group_by: by('metadata.team', 'metadata._user'), type: 'requests', credit_limit: 1 });
    assert.deepEqual(await statuses({}, {}, red, red, { ...red, user: 'bob' }), [200, 412, 200, 412, 200]);
  });

  it('counts the tokens that were used', async () => {
    const path = await policy('usage-limits', { conditions: [{ key: 'metadata.team', value: 'red' }], group_by: by('metadata.team'), type: 'tokens', credit_limit: 100_000 });
    assert.equal(await status(red), 200);
    const { data: [{ current_usage: used }] } = await control('GET', `${path}/entities`);
    assert.equal(used, chatCompletion.usage.total_tokens);
  });
});

after(() => assert.deepEqual(left, []));
