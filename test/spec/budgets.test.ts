import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { backupGateway, restoreGateway, verifySpending } from '../../core/app.js';
import { journalFolder, journalName } from '../../core/limits/journal-layout.js';
import { readSettings } from '../../core/settings/read.js';
import { adminKey, startTestGateway } from '../support/gateway.js';
import { withinOneDay } from '../support/one-day.js';
import { storedData } from '../support/stored.js';
import { answerChat, sendJson, startUpstream } from '../support/upstream.js';

const keyId = '00000000-0000-4000-8000-0000000b0d9e';
const key = 'budget-key-of-spec-tests-0001';
const posted: Record<string, unknown>[] = [];
const waiting: (() => void)[] = [];
let refusals = 1;
const webhook = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => { body += text; });
  request.on('end', () => {
    refusals -= 1;
    response.writeHead(refusals >= 0 ? 500 : 204).end();
    if (refusals >= 0) return;
    posted.push(JSON.parse(body));
    for (const wake of waiting.splice(0)) wake();
  });
});
await new Promise<void>((resolve) => { webhook.listen(0, '127.0.0.1', resolve); });
after(() => {
  webhook.closeAllConnections();
  webhook.close();
});
const stored = await storedData();
const { rows } = stored;
const upstream = await startUpstream(answerChat);
await rows.integration('main', { key: 'sk-1' }, { customHost: `${upstream.url}/v1`, globalAccess: { enabled: true, usage_limits: null, rate_limits: [] } });
await rows.provider('free', 'main');
await rows.provider('small', 'main', { usageLimits: { type: 'tokens', credit_limit: 100 } });
await rows.key(key, { id: keyId, scopes: ['completions.write'], alertEmails: ['ops@example.com'], usageLimits: { type: 'tokens', credit_limit: 2_000, alert_threshold: 1_000, periodic_reset: 'monthly' } });
const environment = { ...stored.environment, GATEWAY_ALERT_WEBHOOK_URL: `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/alerts` };
let gateway = await startTestGateway(environment);
await withinOneDay();

const upTo = async (count: number): Promise<void> => {
  while (posted.length < count) await new Promise<void>((resolve) => { waiting.push(resolve); });
};
/** Whether a budget that is reset at once is told of as well depends on who comes first. */
const ofKey = (): number => posted.filter(({ resource_type: type }) => type === 'api-key').length;
/** A call that uses so many tokens. */
async function spend(tokens: number, provider = 'free'): Promise<number> {
  upstream.answer = (_, response) => sendJson(response, 200, {
    id: 'x', object: 'chat.completion', created: 1, model: 'gpt-test', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: tokens - 1, total_tokens: tokens },
  });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, 'x-gateway-provider': `@${provider}` },
    body: JSON.stringify({ model: 'gpt-test', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }),
  });
  await response.text();
  return response.status;
}
async function admin<T = Record<string, unknown>>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${gateway.url}/v1${path}`, { method, headers: { 'content-type': 'application/json', 'x-gateway-api-key': adminKey }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  assert.equal(response.status, 200, `${method} ${path}`);
  return await response.json() as T;
}
interface Shown {
  readonly status: string;
  readonly usage: readonly { readonly type: string; readonly current_usage: number; readonly status: string; readonly next_usage_reset_at: string | null }[];
}
const shown = async (path: string): Promise<readonly unknown[]> => {
  const { status, usage } = await admin<Shown>('GET', path);
  return [status, ...usage.map(({ current_usage }) => current_usage)];
};

describe('budgets', { concurrency: false }, () => {
  test('are shown as they are used up, alert once at the threshold and once at the limit, and refuse then', async () => {
    assert.deepEqual(await shown(`/api-keys/${keyId}`), ['active', 0]);
    assert.equal(await spend(900), 200);
    assert.deepEqual(await shown(`/api-keys/${keyId}`), ['active', 900]);
    assert.equal(await spend(300), 200);
    await upTo(1);
    assert.equal(await spend(800), 200);
    assert.deepEqual(await shown(`/api-keys/${keyId}`), ['exhausted', 2_000]);
    assert.equal(await spend(1), 412);
    await upTo(2);
    const facts = { organisation_id: rows.organisationId, workspace_id: rows.workspaceId, resource_type: 'api-key', resource_id: keyId, value_key: null, type: 'tokens', credit_limit: 2_000, alert_threshold: 1_000, alert_emails: ['ops@example.com'] };
    for (const [index, [event, used]] of [['usage_limit.threshold_reached', 1_200], ['usage_limit.exhausted', 2_000]].entries()) {
      const { created_at: at, resets_at: resets, resource_name: _, ...told } = posted[index] ?? assert.fail();
      assert.deepEqual(told, { event, used, ...facts });
      assert.ok(Date.parse(String(at)) <= Date.now() && Date.parse(String(resets)) > Date.now());
      assert.match(String(resets), /-01T00:00:00\.000Z$/);
    }
    const { records } = await admin<{ readonly records: readonly { readonly action: string; readonly details: unknown }[] }>('GET', `/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z`);
    assert.deepEqual(records.filter(({ action }) => action?.startsWith('usage_limit.')).map(({ action }) => action).sort(), ['usage_limit.exhausted', 'usage_limit.threshold_reached']);
  });

  test('open at once when they are raised, and begin anew at once when they are reset', async () => {
    assert.equal(await spend(1), 412);
    await admin('PUT', `/api-keys/${keyId}`, { usage_limits: { type: 'tokens', credit_limit: 100_000, alert_threshold: 50_000, periodic_reset: 'monthly' } });
    assert.deepEqual(await shown(`/api-keys/${keyId}`), ['active', 2_000]);
    assert.equal(await spend(50), 200);
    await admin('PUT', `/api-keys/${keyId}`, { reset_usage: true });
    assert.deepEqual(await shown(`/api-keys/${keyId}`), ['active', 0]);
    assert.equal(await spend(70), 200);
    assert.deepEqual(await shown(`/api-keys/${keyId}`), ['active', 70]);
  });

  test('of a provider are shown and reset in the same way', async () => {
    assert.equal(await spend(150, 'small'), 200);
    assert.deepEqual(await shown('/providers/small'), ['exhausted', 150]);
    assert.equal(await spend(1, 'small'), 412);
    await admin('PUT', '/providers/small', { reset_usage: true });
    assert.deepEqual(await shown('/providers/small'), ['active', 0]);
    assert.equal(await spend(10, 'small'), 200);
  });

  test('outlive the gateway', async () => {
    await gateway.stop();
    gateway = await startTestGateway(environment);
    assert.deepEqual(await shown(`/api-keys/${keyId}`), ['active', 230]);
    assert.deepEqual(await shown('/providers/small'), ['active', 10]);
    assert.equal(ofKey(), 2, 'nothing is told again');
  });

  test('go on after a restore where the backup was made, beside the gateway, and journals of what was there before count no more', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-restored-'));
    after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'backup.jsonl');
    gateway = await startTestGateway(environment);
    await backupGateway(readSettings(environment, folder), file, { withSecrets: true });
    assert.equal(await spend(500), 200);
    await gateway.stop();
    const dataDir = join(folder, 'data');
    const journals = join(dataDir, journalFolder);
    mkdirSync(journals, { recursive: true });
    writeFileSync(join(journals, journalName('dead', 0, 1)), 'of what was there before');
    const own = { ...environment, GATEWAY_DATA_DIR: dataDir };
    await restoreGateway(readSettings(own, folder), file, { isForced: false });
    assert.deepEqual(readdirSync(journals).filter((name) => name.endsWith('.journal')), []);
    gateway = await startTestGateway(own);
    assert.deepEqual(await shown(`/api-keys/${keyId}`), ['active', 230]);
    assert.deepEqual(await shown('/providers/small'), ['active', 10]);
    assert.equal(await spend(20), 200);
    assert.deepEqual(await shown(`/api-keys/${keyId}`), ['active', 250]);
    await gateway.stop();
    const { differences, sums, calls } = await verifySpending(readSettings(own, folder));
    assert.deepEqual([differences, calls], [[], 1]);
    assert.ok(sums >= 2);
    assert.equal(ofKey(), 2, 'nothing is told again');
  });
});

describe('budgets of a gateway whose storage is its memory', () => {
  test('count and are reset, and nothing is written', async () => {
    const own = await startTestGateway({ GATEWAY_STORAGE: 'memory' });
    const call = async (method: string, path: string, body: object | undefined, as = adminKey): Promise<Response> =>
      fetch(`${own.url}/v1${path}`, { method, headers: { 'content-type': 'application/json', 'x-gateway-api-key': as, 'x-gateway-provider': 'openai', 'x-gateway-custom-host': `${upstream.url}/v1`, authorization: 'Bearer sk-1' }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const { id, key: secret } = await (await call('POST', '/api-keys/workspace/service', { name: 'small', workspace_id: 'first-workspace', scopes: ['completions.write'], usage_limits: { type: 'tokens', credit_limit: 200 } })).json() as { id: string; key: string };
    upstream.answer = answerChat;
    const spendHere = async (): Promise<number> => {
      const response = await fetch(`${own.url}/v1/chat/completions`, {
        method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': secret, 'x-gateway-provider': 'openai', 'x-gateway-custom-host': `${upstream.url}/v1`, authorization: 'Bearer sk-1' },
        body: JSON.stringify({ model: 'gpt-test', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] }),
      });
      const text = await response.text();
      assert.ok(response.status === 200 || response.status === 412, text);
      return response.status;
    };
    let calls = 0;
    while (calls < 30 && await spendHere() === 200) calls += 1;
    assert.ok(calls >= 1 && calls < 30, `${calls} calls`);
    const { usage: [usage] } = await (await call('GET', `/api-keys/${id}`, undefined)).json() as Shown;
    assert.ok(usage !== undefined && usage.current_usage > 150 && usage.current_usage <= 200, 'what is left is less than a call is expected to take');
    assert.equal((await call('PUT', `/api-keys/${id}`, { reset_usage: true })).status, 200);
    assert.equal(await spendHere(), 200);
    await own.stop();
  });
});
