// Calls that name what is stored: providers, virtual keys, configs, models with a slug before them, and the defaults of keys.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { workspaces } from '../../core/storage/tables/workspaces.js';
import { adminKey, startTestGateway } from '../support/gateway.js';
import { putRows } from '../support/rows.js';
import { noDefaults, storedData } from '../support/stored.js';
import { chatCompletion, sendJson, startUpstream, type Received } from '../support/upstream.js';

const upstream = await startUpstream((received, response) => {
  if (received.url.endsWith('/embeddings')) sendJson(response, 200, { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'e', usage: { prompt_tokens: 1, total_tokens: 1 } });
  else if (received.url.endsWith('/transcriptions')) sendJson(response, 200, { text: 'said' });
  else if (received.headers['x-fail'] !== undefined || received.url.startsWith('/broken')) sendJson(response, 500, { error: { message: 'broken', type: 'server_error' } });
  else sendJson(response, 200, chatCompletion);
});
const host = (path = ''): string => `${upstream.url}${path}/v1`;

const { rows, environment } = await storedData();
const { workspaceId } = rows;
await rows.integration('main', { key: 'sk-stored-main', headers: { 'x-tenant': 'tenant-1' } }, { customHost: host() });
await rows.provider('main', 'main');
await rows.integration('second', { key: 'sk-stored-second' }, { customHost: host('/second') });
await rows.provider('second', 'second');
await rows.integration('claude', { key: 'sk-stored-claude' }, { customHost: host('/claude'), aiProviderId: 'anthropic' });
await rows.provider('claude', 'claude');
const model = (slug: string, changes: object = {}): object => ({ slug, name: null, enabled: true, is_custom: true, is_finetune: false, base_model_slug: null, custom_host: null, header_names: [], pricing_config: null, ...changes });
await rows.integration('listed', { key: 'sk-stored-listed', headers: { 'x-tenant': 'tenant-2' }, modelHeaders: { elsewhere: { 'x-model': 'its own' } } }, {
  customHost: host('/listed'), allowAllModels: false, models: [model('allowed'), model('disabled', { enabled: false }), model('elsewhere', { custom_host: host('/elsewhere') })] as never,
});
await rows.provider('listed', 'listed');
await rows.provider('expired', 'main', { expiresAtMs: 5 });
await rows.provider('exhausted', 'main', { status: 'exhausted' });
await rows.provider('archived', 'main', { status: 'archived' });
await rows.integration('closed', { key: 'sk' }, { customHost: host(), globalAccess: { enabled: false, usage_limits: null, rate_limits: [] } });
await rows.provider('closed', 'closed');
await rows.integration('abroad', { key: 'sk' }, { customHost: host(), organisationId: 'another-organisation', models: [model('m')] as never });
await rows.provider('abroad', 'abroad');
await rows.integration('gone', { key: 'sk' });
await rows.provider('orphan', 'no-such-integration');
await rows.config('pc-plain', { provider: '@main' });
await rows.config('pc-mixed', { strategy: { mode: 'fallback' }, targets: [{ provider: '@exhausted' }, { virtual_key: 'second', override_params: { temperature: 0 } }] });
await rows.config('pc-models', { strategy: { mode: 'fallback' }, targets: [{ override_params: { model: '@expired/a' } }, { override_params: { model: '@second/b' } }] });
await rows.config('pc-open', { retry: { attempts: 1 } });
await rows.config('pc-archived', { provider: '@main' }, { status: 'archived' });
await rows.config('pc-tag', { strategy: { mode: 'conditional', conditions: [{ query: { 'metadata.tier': { $eq: 'gold' } }, then: 'gold' }], default: 'rest' }, targets: [{ name: 'gold', provider: '@second' }, { name: 'rest', provider: '@main' }] });
await rows.key('key-plain-0000000000');
await rows.key('key-config-0000000000', { defaults: { ...noDefaults, config_id: 'pc-plain' } });
await rows.key('key-config-id-000000', { defaults: { ...noDefaults, config_id: 'id-of-pc-mixed', allow_config_override: false } });
await rows.key('key-provider-000000', { defaults: { ...noDefaults, provider: '@main', metadata: { tier: 'silver', team: 'key' } } });
await rows.key('key-member-0000000', { type: 'workspace-user', userId: 'u', creationMode: 'auto' });
const first = await rows.repository.get(workspaces, workspaceId);
assert.ok(first !== undefined);
const workspace = (id: string, changes: Partial<typeof first.row>): Promise<void> => putRows(rows.repository, workspaces, { ...first.row, id, slug: id, name: id, isDefault: false, ...changes });
await workspace('ws-archived', { status: 'archived' });
await workspace('ws-gold', { defaults: { ...first.row.defaults, metadata: { tier: 'gold' }, user_api_key_config: 'pc-tag' } });
await rows.key('key-archived-00000000', { workspaceId: 'ws-archived' });
await rows.key('key-no-workspace-0000', { workspaceId: 'ws-nowhere' });
for (const slug of ['main', 'second']) await rows.provider(slug, slug, { id: `gold-${slug}`, workspaceId: 'ws-gold' });
await rows.config('pc-tag', { strategy: { mode: 'conditional', conditions: [{ query: { 'metadata.tier': { $eq: 'gold' } }, then: 'gold' }], default: 'rest' }, targets: [{ name: 'gold', provider: '@second' }, { name: 'rest', provider: '@main' }] }, { id: 'gold-tag', workspaceId: 'ws-gold' });
await rows.key('key-gold-00000000000', { workspaceId: 'ws-gold' });
await rows.key('key-gold-member-0000', { workspaceId: 'ws-gold', type: 'workspace-user', userId: 'u', creationMode: 'auto' });
await rows.integration('openai-itself', { key: 'sk' }, { models: [model('gpt-4o', { enabled: false, is_custom: false }), model('zz-ours', { base_model_slug: 'gpt-4o-mini', pricing_config: { pay_as_you_go: { request_token: { price: 9 } } } })] as never });
await rows.provider('priced', 'openai-itself', { id: 'id-of-priced', workspaceId: 'ws-models' });
await rows.integration('claude-itself', { key: 'sk' }, { aiProviderId: 'anthropic' });
await rows.provider('other', 'claude-itself', { id: 'id-of-other', workspaceId: 'ws-models' });
await workspace('ws-models', {});
await rows.key('key-models-000000000', { workspaceId: 'ws-models' });

const gateway = await startTestGateway({ ...environment, GATEWAY_HEADERS_TO_METADATA: 'x-tier:tier, baggage' });

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
  readonly code: unknown;
  /** What went upstream last. */
  readonly sent: Received | undefined;
}

async function call(headers: Readonly<Record<string, string>>, body: unknown = { model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] }, path = '/v1/chat/completions'): Promise<Answered> {
  const before = upstream.received.length;
  const isJson = !(body instanceof FormData);
  const response = await fetch(gateway.url + path, {
    method: 'POST', headers: { 'x-gateway-api-key': 'key-plain-0000000000', ...headers, ...(isJson ? { 'content-type': 'application/json' } : {}) }, body: isJson ? JSON.stringify(body) : body,
  });
  const answer = await response.json() as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body: answer, code: (answer.error as { code?: unknown } | undefined)?.code, sent: upstream.received.length > before ? upstream.received.at(-1) : undefined };
}

const chat = (name: string): object => ({ model: name, messages: [{ role: 'user', content: 'x' }] });

describe('a stored provider', () => {
  it('is named by header, as virtual key, in configs of all kinds, and takes the stored key with it', async () => {
    for (const headers of [
      { 'x-gateway-provider': '@main' }, { 'x-gateway-virtual-key': 'main' }, { 'x-gateway-virtual-key': '@main' }, { 'x-gateway-virtual-key': 'main', 'x-gateway-provider': 'openai' },
      { 'x-gateway-config': '{"provider":"@main"}' }, { 'x-gateway-config': '{"virtual_key":"main"}' }, { 'x-gateway-config': 'pc-plain' }, { 'x-gateway-config': 'id-of-pc-plain' },
      { 'x-gateway-config': 'pc-open', 'x-gateway-provider': '@main' },
    ]) {
      const { status, sent, headers: answered } = await call({ ...headers, authorization: 'Bearer sk-of-the-client' });
      assert.equal(status, 200, JSON.stringify(headers));
      assert.equal(sent?.headers.authorization, 'Bearer sk-stored-main');
      assert.equal(sent.headers['x-tenant'], 'tenant-1');
      assert.equal(sent.url, '/v1/chat/completions');
      assert.equal(answered.get('x-gateway-provider'), 'openai');
    }
  });

  it('is named before the model of the body, in every dialect, and the model goes up without it', async () => {
    for (const [path, body] of [
      ['/v1/chat/completions', chat('@second/gpt/x')],
      ['/v1/responses', { model: '@second/gpt/x', input: 'hi' }],
      ['/v1/messages', { ...chat('@second/gpt/x'), max_tokens: 5 }],
      ['/v1/embeddings', { model: '@second/gpt/x', input: 'hi' }],
      ['/v1/images/generations', { model: '@second/gpt/x', prompt: 'hi' }],
      ['/v1/proxy/anything', { model: '@second/gpt/x' }],
    ] as const) {
      for (const headers of [{}, { 'x-gateway-api-key': 'key-provider-000000' }, { 'x-gateway-config': 'pc-open' }, { 'x-gateway-provider': '@main' }]) {
        if (path === '/v1/proxy/anything' && Object.keys(headers).length > 0) continue;
        const { status, sent } = await call(headers, body, path);
        assert.equal(status, 200, path);
        assert.equal(sent?.json().model, 'gpt/x', path);
        assert.match(sent.url, /^\/second\//);
        assert.equal(sent.headers.authorization, 'Bearer sk-stored-second');
      }
    }
  });

  it('is named in the field of a form', async () => {
    for (const headers of [{}, { 'x-gateway-api-key': 'key-provider-000000' }, { 'x-gateway-provider': '@main' }]) {
      const form = new FormData();
      form.set('file', new Blob(['sound']), 'a.wav');
      form.set('model', '@second/whisper-1');
      const { status, sent } = await call(headers, form, '/v1/audio/transcriptions');
      assert.equal(status, 200);
      assert.match(sent?.url ?? '', /^\/second\//);
      assert.match(String(sent?.body), /\r\n\r\nwhisper-1\r\n/);
      assert.doesNotMatch(String(sent?.body), /@second/);
    }
  });

  it('is named by the models that targets of a config set', async () => {
    const { status, sent, headers } = await call({ 'x-gateway-config': 'pc-models' });
    assert.equal(status, 200);
    assert.equal(sent?.json().model, 'b');
    assert.match(sent.url, /^\/second\//);
    assert.equal(headers.get('x-gateway-last-used-option-index'), 'config.targets[1]');
  });

  it('leaves models alone that only look like it', async () => {
    const { sent } = await call({ 'x-gateway-provider': '@main' }, chat('@cf/meta/llama'));
    assert.equal(sent?.json().model, '@cf/meta/llama');
    assert.match(sent.url, /^\/v1\//);
  });

  it('that may not be used is refused, says why, and the next target takes the call', async () => {
    for (const [slug, status, code] of [
      ['expired', 403, 'provider_inactive'], ['archived', 403, 'provider_inactive'], ['closed', 403, 'provider_inactive'], ['abroad', 403, 'provider_inactive'], ['orphan', 403, 'provider_inactive'],
      ['exhausted', 412, 'provider_exhausted'], ['nothing', 404, 'provider_slug_unknown'],
    ] as const) {
      for (const [headers, body] of [[{ 'x-gateway-provider': `@${slug}` }, chat('m')], [{ 'x-gateway-virtual-key': slug }, chat('m')], [{ 'x-gateway-config': JSON.stringify({ provider: `@${slug}` }) }, chat('m')], [{}, chat(`@${slug}/m`)]] as const) {
        const answered = await call(headers, body);
        assert.deepEqual([answered.status, answered.code, answered.sent], [status, code, undefined], slug);
      }
    }
    const { status, sent } = await call({ 'x-gateway-config': 'pc-mixed' });
    assert.equal(status, 200);
    assert.equal(sent?.json().temperature, 0);
    assert.match(sent.url, /^\/second\//);
  });

  it('takes only the models that its integration allows, each where it lives', async () => {
    for (const name of ['disabled', 'unlisted']) {
      for (const answered of [await call({ 'x-gateway-provider': '@listed' }, chat(name)), await call({}, chat(`@listed/${name}`)), await call({ 'x-gateway-provider': '@listed' }, chat(name), '/v1/proxy/chat/completions')]) {
        assert.deepEqual([answered.status, answered.code, answered.sent], [403, 'model_not_allowed', undefined]);
      }
    }
    assert.equal((await call({ 'x-gateway-provider': '@listed' }, { prompt: 'no model' }, '/v1/proxy/other')).code, 'model_not_allowed');
    const allowed = await call({ 'x-gateway-provider': '@listed' }, chat('allowed'));
    assert.deepEqual([allowed.status, allowed.sent?.url, allowed.sent?.headers['x-tenant']], [200, '/listed/v1/chat/completions', 'tenant-2']);
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions']) {
      const elsewhere = await call({ 'x-gateway-provider': '@listed', 'x-tenant': 'spoofed' }, chat('elsewhere'), path);
      assert.deepEqual([elsewhere.sent?.url, elsewhere.sent?.headers['x-tenant'], elsewhere.sent?.headers['x-model']], ['/elsewhere/v1/chat/completions', 'tenant-2', 'its own']);
    }
  });

  it('takes no body that names its model twice, when not every model is allowed', async () => {
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions']) {
      for (const text of ['{"model":"unlisted","messages":[{"role":"user","content":"x"}],"model":"allowed"}', '{"model":"allowed","messages":[{"role":"user","content":"x"}],"model":"unlisted"}']) {
        const before = upstream.received.length;
        const response = await fetch(gateway.url + path, { method: 'POST', headers: { 'x-gateway-api-key': 'key-plain-0000000000', 'x-gateway-provider': '@listed', 'content-type': 'application/json' }, body: text });
        assert.ok([400, 403].includes(response.status), `${path} ${response.status}`);
        await response.arrayBuffer();
        assert.equal(upstream.received.length, before);
      }
    }
    const form = new FormData();
    for (const name of ['allowed', 'unlisted']) form.append('model', name);
    form.set('file', new Blob(['sound']), 'a.wav');
    for (const path of ['/v1/audio/transcriptions', '/v1/proxy/audio/transcriptions']) assert.deepEqual(await call({ 'x-gateway-provider': '@listed' }, form, path).then(({ status, sent }) => [status, sent]), [400, undefined], path);
  });

  it('is sent nowhere but where its integration says', async () => {
    for (const headers of [
      { 'x-gateway-provider': '@main', 'x-gateway-custom-host': host('/thief') },
      { 'x-gateway-config': JSON.stringify({ provider: '@main', custom_host: host('/thief') }) },
      { 'x-gateway-config': JSON.stringify({ custom_host: host('/thief'), strategy: { mode: 'fallback' }, targets: [{ provider: '@main' }] }) },
    ]) {
      const answered = await call(headers);
      assert.deepEqual([answered.status, answered.code, answered.sent], [400, 'custom_host_invalid', undefined]);
    }
  });
});

describe('the defaults of a key', () => {
  it('route calls that say nothing, by each way to send the key', async () => {
    for (const key of ['key-config-0000000000', 'key-provider-000000']) {
      for (const headers of [{ 'x-gateway-api-key': key }, { authorization: `Bearer ${key}` }, { 'x-api-key': key }]) {
        const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(chat('m')) });
        assert.equal(response.status, 200, JSON.stringify(headers));
        await response.arrayBuffer();
        const sent = upstream.received.at(-1);
        assert.equal(sent?.headers.authorization, 'Bearer sk-stored-main');
        assert.doesNotMatch(JSON.stringify([sent.headers, String(sent.body)]), new RegExp(key));
      }
    }
  });

  it('give way to a config of the call, unless the key forbids it', async () => {
    const own = await call({ 'x-gateway-api-key': 'key-config-0000000000', 'x-gateway-config': '{"provider":"@second"}' });
    assert.match(own.sent?.url ?? '', /^\/second\//);
    for (const config of ['{"provider":"@second"}', 'pc-plain']) {
      const refused = await call({ 'x-gateway-api-key': 'key-config-id-000000', 'x-gateway-config': config });
      assert.deepEqual([refused.status, refused.code, refused.sent], [400, 'config_override_not_allowed', undefined]);
    }
    assert.equal((await call({ 'x-gateway-api-key': 'key-config-id-000000' })).status, 200);
    assert.equal((await call({ 'x-gateway-api-key': 'key-config-id-000000', 'x-gateway-config': 'id-of-pc-mixed' })).status, 200);
  });

  it('of the workspace are for keys that were made for members', async () => {
    assert.match((await call({ 'x-gateway-api-key': 'key-gold-member-0000' })).sent?.url ?? '', /^\/second\//);
    assert.deepEqual([(await call({ 'x-gateway-api-key': 'key-gold-00000000000' })).code, (await call({ 'x-gateway-api-key': 'key-member-0000000' })).code], ['routing_missing', 'routing_missing']);
  });

  it('say the metadata: that of the workspace before that of the key before that of the call', async () => {
    const target = async (headers: Readonly<Record<string, string>>): Promise<string | undefined> => (await call({ 'x-gateway-config': 'pc-tag', ...headers })).sent?.url.split('/')[1];
    assert.equal(await target({}), 'v1');
    assert.equal(await target({ 'x-gateway-metadata': '{"tier":"gold"}' }), 'second');
    assert.equal(await target({ 'x-gateway-metadata': '{"tier":"gold"}', 'x-gateway-api-key': 'key-provider-000000' }), 'v1');
    assert.equal(await target({ 'x-gateway-metadata': '{"tier":"bronze"}', 'x-gateway-api-key': 'key-gold-00000000000' }), 'second');
  });
});

describe('what calls may not do', () => {
  it('is to use a key of the organisation, or of a workspace that is no more', async () => {
    assert.deepEqual(await call({ 'x-gateway-api-key': adminKey, 'x-gateway-provider': '@main' }).then(({ status, code }) => [status, code]), [403, 'key_without_workspace']);
    for (const key of ['key-archived-00000000', 'key-no-workspace-0000']) assert.deepEqual(await call({ 'x-gateway-api-key': key, 'x-gateway-provider': '@main' }).then(({ status, code }) => [status, code]), [403, 'workspace_inactive']);
  });

  it('is to name a config that is archived, unknown, or of another workspace', async () => {
    for (const config of ['pc-archived', 'pc-unknown', 'gold-tag']) assert.deepEqual(await call({ 'x-gateway-config': config }).then(({ status, code }) => [status, code]), [404, 'config_unknown'], config);
  });
});

describe('metadata of a call', () => {
  it('come from headers and from baggage where the operator says so, behind those that the call, its key and its workspace say', async () => {
    const target = (condition: string, value: string): string => JSON.stringify({ strategy: { mode: 'conditional', conditions: [{ query: { [`metadata.${condition}`]: { $eq: value } }, then: 'gold' }], default: 'rest' }, targets: [{ name: 'gold', provider: '@second' }, { name: 'rest', provider: '@main' }] });
    const goesTo = async (headers: Readonly<Record<string, string>>, body?: object): Promise<string> => {
      const { status, sent } = await call(headers, body);
      assert.equal(status, 200);
      return sent?.headers.authorization === 'Bearer sk-stored-second' ? 'gold' : 'rest';
    };
    const tier = { 'x-gateway-config': target('tier', 'gold') };
    assert.equal(await goesTo({ ...tier, 'x-tier': 'gold' }), 'gold');
    assert.equal(await goesTo({ ...tier, baggage: 'other=1;prop, tier = gold;x=y ,broken' }), 'gold');
    assert.equal(await goesTo({ ...tier, baggage: 'tier=silver', 'x-tier': 'gold' }), 'gold');
    assert.equal(await goesTo({ ...tier, 'x-tier': 'gold', 'x-gateway-metadata': '{"tier":"silver"}' }), 'rest');
    assert.equal(await goesTo({ ...tier, 'x-tier': 'gold', 'x-gateway-api-key': 'key-provider-000000' }), 'rest', 'the key says silver');
    assert.equal(await goesTo({ ...tier, 'x-tier': 'silver', 'x-gateway-api-key': 'key-gold-00000000000' }), 'gold', 'the workspace says gold');
    assert.equal(await goesTo({ 'x-gateway-config': target('city', 'New York'), baggage: 'city=New%20York' }), 'gold');
    const user = { 'x-gateway-config': target('_user', 'jane') };
    assert.deepEqual([await goesTo(user, { ...chat('m'), user: 'jane' }), await goesTo(user, { ...chat('m'), user: 'joe' }), await goesTo({ ...user, 'x-gateway-metadata': '{"_user":"jane"}' }, { ...chat('m'), user: 'joe' })], ['gold', 'rest', 'gold']);
  });
});

describe('GET /v1/models', () => {
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await fetch(gateway.url + path, { headers: { 'x-gateway-api-key': 'key-plain-0000000000', ...headers } });
    return { status: response.status, body: await response.json() as Record<string, unknown> };
  };

  it('lists what the key may use, and one of it', async () => {
    for (const headers of [{}, { 'x-gateway-api-key': 'key-config-0000000000' }]) {
      const { status, body } = await get('/v1/models', headers);
      assert.equal(status, 200);
      const data = body.data as { id: string; object: string; created: number; owned_by: string }[];
      assert.deepEqual(data.map(({ id }) => id), ['@listed/allowed', '@listed/elsewhere']);
      assert.deepEqual([body.object, body.total, body.total_count], ['list', 2, 2]);
      assert.deepEqual([data[0]?.object, typeof data[0]?.created, data[0]?.owned_by], ['model', 'number', 'openai']);
    }
    assert.equal((await get('/v1/models/@listed/allowed')).body.id, '@listed/allowed');
    assert.equal((await get(`/v1/models/${encodeURIComponent('@listed/allowed')}`)).body.id, '@listed/allowed');
    assert.equal((await get('/v1/models/@listed/disabled')).status, 404);
    assert.deepEqual((await get('/v1/models', { 'x-gateway-api-key': 'key-gold-00000000000' })).body.data, []);
  });

  it('lists them page by page, filtered and sorted, with what they cost', async () => {
    const list = async (query: string): Promise<{ total_count: number; data: Record<string, any>[] }> => {
      const { status, body } = await get(`/v1/models?${query}`, { 'x-gateway-api-key': 'key-models-000000000' });
      assert.equal(status, 200, JSON.stringify(body));
      return body as never;
    };
    const all = await list('');
    assert.ok(all.total_count > 20);
    const openai = await list('ai_service=openai');
    const anthropic = await list('provider=@other');
    assert.equal(openai.total_count + anthropic.total_count, all.total_count);
    assert.ok(openai.data.every(({ provider }) => provider === '@priced') && anthropic.data.every(({ ai_service: service }) => service === 'anthropic'));
    assert.ok(!openai.data.some(({ slug }) => slug === 'gpt-4o'), 'a model that is switched off');
    const names = (await list('sort=name&order=desc&limit=3')).data.map(({ slug }) => slug);
    assert.deepEqual(names, all.data.map(({ slug }) => slug).sort().reverse().slice(0, 3));
    assert.deepEqual((await list('sort=name&order=desc&limit=2&offset=1')).data.map(({ slug }) => slug), names.slice(1));
    assert.deepEqual((await list('sort=provider&limit=1')).data[0]?.provider, '@other');
    const ours = (await get('/v1/models/@priced/zz-ours', { 'x-gateway-api-key': 'key-models-000000000' })).body as Record<string, any>;
    assert.deepEqual([ours.canonical_slug, ours.context_length, ours.pricing.pay_as_you_go.request_token, ours.is_custom], ['gpt-4o-mini', 128_000, { price: 9 }, true]);
    assert.ok(ours.pricing.pay_as_you_go.response_token.price > 0);
    for (const [query, param] of [['limit=1001', 'limit'], ['sort=price', 'sort'], ['order=up', 'order'], ['offset=-1', 'offset'], ['colour=red', 'colour']]) {
      const { status, body } = await get(`/v1/models?${query}`, { 'x-gateway-api-key': 'key-models-000000000' });
      assert.deepEqual([status, (body.error as Record<string, unknown>).param], [400, param]);
    }
  });

  it('asks the provider that a call names', async () => {
    const before = upstream.received.length;
    await get('/v1/models', { 'x-gateway-provider': '@main' });
    assert.equal(upstream.received.length, before + 1);
    assert.equal(upstream.received.at(-1)?.url, '/v1/models');
  });
});
