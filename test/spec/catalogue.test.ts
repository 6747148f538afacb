// Provider keys, stored over the API and called by what they are named: what is changed there is obeyed by the next call, and the keys go nowhere but
// to their provider.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { chatCompletion, sendJson, startUpstream, type Received } from '../support/upstream.js';

const upstream = await startUpstream((received, response) => {
  // What a provider says is not the gateway's to change; it must not say a key.
  if (received.headers.authorization?.includes('refused') === true) sendJson(response, 401, { error: { message: 'no', type: 'invalid_request_error' } });
  else sendJson(response, 200, chatCompletion);
});
const dataDir = mkdtempSync(join(tmpdir(), 'gateway-catalogue-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));
const gateway = await startTestGateway({ GATEWAY_DATA_DIR: dataDir });
const secret = (name: string): string => `marked-secret-${name}-of-catalogue`;

/** All that the gateway said. */
const said: string[] = [];

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function send(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const response = await fetch(gateway.url + path, {
    method, headers: { 'x-gateway-api-key': apiKey, 'content-type': 'application/json', ...headers }, ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  said.push(text, JSON.stringify([...response.headers]));
  return { status: response.status, body: JSON.parse(text) };
}

async function made(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await send(method, path, body);
  assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** What went upstream for a call; without `sent` it was refused. */
async function call(headers: Readonly<Record<string, string>>, model = 'gpt-test'): Promise<Answer & { readonly sent: Received | undefined }> {
  const before = upstream.received.length;
  const answer = await send('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'x' }] }, headers);
  return { ...answer, sent: upstream.received.length > before ? upstream.received.at(-1) : undefined };
}

const authorization = async (headers: Readonly<Record<string, string>>): Promise<unknown> => {
  const answer = await call(headers);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.sent?.headers.authorization;
};

describe('what is stored in the catalogue', () => {
  const mine = { 'x-gateway-provider': '@mine' };

  it('is called by its slug, and changes are obeyed by the next call', async () => {
    await made('POST', '/v1/integrations', { name: 'Mine', slug: 'mine', ai_provider_id: 'openai', key: secret('a'), configurations: { custom_host: `${upstream.url}/v1`, custom_headers: { 'X-Team': secret('b') }, openai_project: 'p' } });
    const first = await call(mine);
    assert.deepEqual([first.status, first.sent?.headers.authorization, first.sent?.headers['x-team'], first.sent?.headers['openai-project']], [200, `Bearer ${secret('a')}`, secret('b'), 'p']);
    await made('PUT', '/v1/integrations/mine', { key: secret('c'), configurations: { custom_headers: null } });
    const second = await call(mine);
    assert.deepEqual([second.sent?.headers.authorization, second.sent?.headers['x-team']], [`Bearer ${secret('c')}`, undefined]);
    await made('PUT', '/v1/integrations/mine/models', { models: [{ slug: 'gpt-test', enabled: true }, { slug: 'own', enabled: true, is_custom: true, base_model_slug: 'gpt-test', configurations: { custom_host: `${upstream.url}/own`, custom_headers: { 'x-own': secret('d') } } }], allow_all_models: false });
    const refused = await call(mine, 'gpt-other');
    assert.deepEqual([refused.status, Object(refused.body.error).type, refused.sent], [403, 'model_not_allowed', undefined]);
    const own = await call(mine, 'own');
    assert.deepEqual([own.status, own.sent?.url, own.sent?.headers['x-own']], [200, '/own/chat/completions', secret('d')]);
    await made('DELETE', '/v1/integrations/mine/models?slugs=own');
    assert.equal((await call(mine, 'own')).status, 403);
  });

  it('is called by a config, always by its newest version', async () => {
    const { slug } = await made('POST', '/v1/configs', { name: 'Main', config: { provider: '@mine', override_params: { temperature: 0.5 } } });
    const headers = { 'x-gateway-config': String(slug) };
    const temperature = async (): Promise<unknown> => JSON.parse(String((await call(headers)).sent?.body)).temperature;
    assert.equal(await temperature(), 0.5);
    await made('PUT', `/v1/configs/${String(slug)}`, { config: { provider: '@mine', override_params: { temperature: 0.7 } } });
    assert.equal(await temperature(), 0.7);
    const inline = await made('POST', '/v1/configs', { config: { provider: 'openai', api_key: secret('e'), custom_host: `${upstream.url}/v1` } });
    assert.equal(await authorization({ 'x-gateway-config': String(inline.slug) }), `Bearer ${secret('e')}`);
    const { config } = await made('GET', `/v1/configs/${String(inline.slug)}`);
    await made('PUT', `/v1/configs/${String(inline.slug)}`, { config: { ...Object(config), retry: { attempts: 1 } } });
    assert.equal(await authorization({ 'x-gateway-config': String(inline.slug) }), `Bearer ${secret('e')}`);
    await made('PUT', `/v1/configs/${String(slug)}`, { status: 'archived' });
    assert.notEqual((await call(headers)).status, 200);
    await made('DELETE', `/v1/configs/${String(slug)}`);
    assert.notEqual((await call(headers)).status, 200);
  });

  it('is called as a virtual key, by either name', async () => {
    const { slug } = await made('POST', '/v1/virtual-keys', { name: 'Old', provider: 'openai', key: secret('f'), model_config: { custom_host: `${upstream.url}/v1` } });
    for (const headers of [{ 'x-gateway-virtual-key': String(slug) }, { 'x-gateway-provider': `@${String(slug)}` }]) assert.equal(await authorization(headers), `Bearer ${secret('f')}`);
    await made('PUT', `/v1/virtual-keys/${String(slug)}`, { key: secret('refused') });
    assert.equal((await call({ 'x-gateway-virtual-key': String(slug) })).status, 401);
    await made('DELETE', `/v1/virtual-keys/${String(slug)}`);
    const gone = await call({ 'x-gateway-virtual-key': String(slug) });
    assert.deepEqual([gone.status === 200, gone.sent], [false, undefined]);
  });

  it('is not called any more when its provider is deleted or has expired', async () => {
    const expiring = await made('POST', '/v1/providers', { name: 'Second', slug: 'second', integration_id: 'mine', expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    assert.equal(await authorization({ 'x-gateway-provider': '@second' }), `Bearer ${secret('c')}`);
    await made('DELETE', `/v1/providers/${String(expiring.slug)}`);
    assert.equal((await call({ 'x-gateway-provider': '@second' })).sent, undefined);
    assert.equal(await authorization(mine), `Bearer ${secret('c')}`);
    await made('DELETE', '/v1/integrations/mine');
    assert.equal((await call(mine)).sent, undefined);
  });

  it('is in no answer, no audit entry and no file', async () => {
    await send('POST', '/v1/integrations', { name: 'Bad', ai_provider_id: 'openai', kye: secret('g'), key: `${secret('h')}\n` });
    await send('POST', '/v1/virtual-keys', { name: 'Bad', provider: 'openai', model_config: { unknown: secret('j') } });
    await send('POST', '/v1/configs', { config: `{"provider": "openai", "api_key": "${secret('k')}"` });
    assert.doesNotMatch(said.join('\n'), /marked-secret/);
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    const contents = files.map((file) => readFileSync(join(file.parentPath, file.name)));
    // Entries of the audit log, for one thing.
    assert.ok(contents.some((content) => content.includes('/v1/integrations')));
    for (const [index, content] of contents.entries()) assert.equal(content.includes('marked-secret'), false, files[index]?.name);
  });
});
