// A marked secret in every stored place that holds one, and calls that go well and badly with it: it goes to its provider and nowhere else.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startChildGateway } from '../support/child-gateway.js';
import { storedData } from '../support/stored.js';
import { answerStream, chatCompletion, sendJson, startUpstream } from '../support/upstream.js';
import { temporaryFolder, writePackage } from '../core/registry/plugin-package.js';

const mark = 'MARKEDsecret';
/** What is no header value, no part of an address, no JSON: whoever refuses it must not quote it. */
const crooked = `${mark} "}\n{é@/`;

const upstream = await startUpstream((received, response) => {
  switch (received.headers['x-play']) {
    case 'stream': answerStream(['a', 'b'])(received, response, undefined as never); return;
    case 'refuse': sendJson(response, 401, { error: { message: 'incorrect API key', type: 'invalid_request_error', code: 'invalid_api_key' } }); return;
    case 'break': response.destroy(); return;
    case 'nonsense': response.end('<html>'); return;
    default: sendJson(response, 200, chatCompletion);
  }
});

// Tells the client and the log all that a plugin can see by looking.
const folder = writePackage(temporaryFolder(), {
  gateway: { namespace: 'acme', contract: { guardrail: 1 }, plugins: { guardrail: ['spy'] } },
  files: {
    'guardrail/spy.js': `import { defineGuardrail } from '@gateway/plugin-sdk';
import { inspect } from 'node:util';
export default defineGuardrail({ title: 'Spy', describe: 'Spies.', stages: ['input', 'output'], needs: { request: 'json', response: 'json' }, params: { type: 'object', properties: {} },
  create: (params, host) => ({ evaluate: (input) => ({ pass: true, data: { seen: inspect({ input, host, exchange: input.exchange, running: input.exchange.running }, { depth: 12, showHidden: true }) } }) }),
});`,
  },
});

const { rows, environment } = await storedData();
const host = `${upstream.url}/v1`;
for (const [name, value] of [['good', mark], ['crooked', crooked]] as const) {
  for (const [provider, configurations] of [
    ['openai', { vendor_organization: value, vendor_project: value }],
    ['anthropic', {}],
    ['google', {}],
    ['azure-openai', { cloud3_ad_token: value, resource_name: 'r' }],
    ['bedrock', { cloud1_access_key_id: value, cloud1_secret_access_key: value, cloud1_session_token: value, cloud1_region: 'us-east-1' }],
  ] as const) {
    const id = `${provider}-${name}`;
    const changes = { aiProviderId: provider, customHost: host };
    await rows.integration(id, { key: value, configurations, headers: { 'x-secret': value }, modelHeaders: { special: { 'x-other': value } } }, {
      ...changes, models: [{ slug: 'special', name: null, enabled: true, is_custom: true, is_finetune: false, base_model_slug: null, custom_host: null, header_names: [], pricing_config: null }],
    });
    await rows.provider(id, id);
    await rows.config(`pc-${id}`, { provider, api_key: value, custom_host: host, ...configurations, retry: { attempts: 1 }, after_request_hooks: [{ id: 'h', checks: [{ id: 'acme.spy', parameters: {} }] }], before_request_hooks: [{ id: 'b', checks: [{ id: 'acme.spy', parameters: {} }] }] });
    await rows.config(`pd-${id}`, { provider: `@${id}`, after_request_hooks: [{ id: 'h', checks: [{ id: 'acme.spy', parameters: {} }] }], cache: { mode: 'simple' } });
  }
}
await rows.integration('gone', { key: mark }, { customHost: 'http://127.0.0.1:1/v1' });
await rows.provider('gone', 'gone');
// Sealed for another place: it does not open.
await rows.integration('moved', { key: mark });
const moved = rows.integrationRow('elsewhere', { key: mark });
await rows.integration('sealed', {}, { sealedKey: moved.sealedKey });
await rows.provider('sealed', 'sealed');
await rows.key('key-of-secrets-00000');
const logs = temporaryFolder();
const settingsFile = join(logs, 'gateway.json');
writeFileSync(settingsFile, JSON.stringify({ exporters: ['store', { id: 'jsonl', params: { path: join(logs, 'calls.jsonl') } }] }));
const gateway = await startChildGateway({ ...environment, GATEWAY_PLUGINS: folder, GATEWAY_LOG_LEVEL: 'debug', GATEWAY_SETTINGS: settingsFile });

const answers: string[] = [];
let answered = 0;

async function call(headers: Readonly<Record<string, string>>, path = '/v1/chat/completions', model = 'special'): Promise<void> {
  const response = await fetch(gateway.url + path, {
    method: 'POST', headers: { 'x-gateway-api-key': 'key-of-secrets-00000', 'content-type': 'application/json', 'x-gateway-forward-headers': 'x-play', ...headers },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }], max_tokens: 5, ...(headers['x-play'] === 'stream' ? { stream: true } : {}) }),
  });
  answers.push(`${path} ${JSON.stringify(headers)} ${response.status} ${JSON.stringify([...response.headers])} ${await response.text().catch(String)}`);
  if (response.status === 200) answered += 1;
}

describe('a stored secret', () => {
  it('goes to its provider, and into no answer', async () => {
    const slugs = ['openai', 'anthropic', 'google', 'azure-openai', 'bedrock'].flatMap((provider) => [`${provider}-good`, `${provider}-crooked`]);
    for (const slug of slugs) {
      for (const play of ['plain', 'stream', 'refuse', 'break', 'nonsense']) {
        for (const headers of [{ 'x-gateway-provider': `@${slug}` }, { 'x-gateway-config': `pc-${slug}` }, { 'x-gateway-config': `pd-${slug}` }]) await call({ ...headers, 'x-play': play });
      }
      await call({ 'x-gateway-provider': `@${slug}` }, '/v1/messages');
      await call({ 'x-gateway-provider': `@${slug}` }, '/v1/proxy/anything');
      await call({ 'x-gateway-provider': `@${slug}`, 'x-gateway-custom-host': 'http://127.0.0.1:2' });
    }
    await call({ 'x-gateway-provider': '@gone' });
    await call({ 'x-gateway-provider': '@sealed' });
    const models = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-gateway-api-key': 'key-of-secrets-00000' } });
    answers.push(await models.text());
    assert.ok(answered > 20, `only ${answered} calls went well`);
    assert.ok(upstream.received.some(({ headers }) => headers.authorization === `Bearer ${mark}`));
    assert.ok(upstream.received.some(({ headers }) => headers['x-other'] === mark));
    assert.ok(upstream.received.some(({ headers }) => String(headers.authorization).startsWith('AWS4-HMAC-SHA256 ')));
    assert.ok(answers.some((answer) => answer.includes('hook_results') && answer.includes('RetryLoop')), 'the spy saw nothing');
    assert.deepEqual(answers.filter((answer) => answer.includes(mark)).map((answer) => `${answer.slice(0, 100)} ... ${answer.slice(Math.max(0, answer.indexOf(mark) - 300), answer.indexOf(mark) + 100)}`), []);
  });

  it('is in no log, in nothing that is printed, and in no file', async () => {
    gateway.kill('SIGTERM');
    await gateway.ended;
    assert.equal(`${gateway.stdout()}\n${gateway.stderr()}`.includes(mark), false, gateway.stderr().split('\n').find((line) => line.includes(mark))?.slice(0, 500));
    assert.match(gateway.stderr() + gateway.stdout(), /a stored row cannot be used/);
    const files = [gateway.dataDir, logs].flatMap((folderOf) => readdirSync(folderOf, { recursive: true, withFileTypes: true }).filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name)));
    assert.match(files.filter((file) => file.endsWith('.jsonl')).map((file) => readFileSync(file, 'utf8')).join(), /"providerSlug":"openai-good"/);
    assert.deepEqual(files.filter((file) => readFileSync(file).includes(mark)), []);
  });
});
