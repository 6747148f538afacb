// `GET /v1/logs/{id}/why` and `gateway why`: of real calls, the API and the command line say what was decided, and on what ground.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Surroundings } from '../../core/cli/app-contract.js';
import { runCommandLine } from '../../core/cli/command-line.js';
import type { Why } from '../../core/cli/why.js';
import { adminKey, apiKey, startTestGateway } from '../support/gateway.js';
import { withinOneDay } from '../support/one-day.js';
import { answerChat, sendJson, startUpstream } from '../support/upstream.js';

const directory = mkdtempSync(join(tmpdir(), 'gateway-why-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const upstream = await startUpstream();
upstream.answer = (received, response, request) => {
  if (received.url.startsWith('/ok')) answerChat(received, response, request);
  else sendJson(response, 503, { error: { message: 'no' } });
};
const at = (path: string, more: object = {}): object => ({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/${path}`, ...more });

async function control(method: string, path: string, body?: object, gateway = url): Promise<{ status: number; body: Record<string, any> }> {
  const response = await fetch(`${gateway}/v1${path}`, { method, headers: { 'content-type': 'application/json', 'x-gateway-api-key': adminKey }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return { status: response.status, body: await response.json() as Record<string, any> };
}

async function call(trace: string, config: string, model = 'gpt-4o-mini', text = 'hello', key = apiKey): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST', body: JSON.stringify({ model, messages: [{ role: 'user', content: text }] }),
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, 'x-gateway-trace-id': trace, 'x-gateway-config': config },
  });
  await response.arrayBuffer();
  return response.status;
}

// What calls leave has to be in the store, so they are made with one gateway and asked about with the next.
const first = await startTestGateway({ GATEWAY_DATA_DIR: directory });
let { url } = first;
const workspace = String((await control('GET', '/admin/workspaces')).body.data[0].id);
const config = {
  strategy: { mode: 'fallback' }, retry: { attempts: 1, use_retry_after_headers: false }, cache: { mode: 'simple' },
  targets: [at('busy'), { strategy: { mode: 'conditional', conditions: [{ query: { 'metadata.team': 'x' }, then: 'a' }], default: 'b' }, targets: [at('busy', { name: 'a' }), at('ok', { name: 'b' })] }],
  input_guardrails: [{ 'default.contains': { words: ['hello'], operator: 'any' }, deny: false }],
};
const saved = (await control('POST', '/configs', { name: 'Two of them', config, workspace_id: workspace })).body;
await call('fallback', String(saved.slug));
await call('hit', String(saved.slug));
await call('denied', JSON.stringify({ ...at('ok'), input_guardrails: [{ 'default.contains': { words: ['absent'], operator: 'any' }, deny: true }] }));
await call('unpriced', JSON.stringify(at('ok')), 'no-such-model-0');
const limited = (await control('POST', '/api-keys/workspace/service', { name: 'limited', scopes: ['completions.write'], workspace_id: workspace, rate_limits: [{ type: 'requests', unit: 'rpd', value: 1 }], usage_limits: { type: 'cost', credit_limit: 3 } })).body;
await call('limited', JSON.stringify(at('ok')), 'gpt-4o-mini', 'hello', String(limited.key));
await call('refused', JSON.stringify(at('ok')), 'gpt-4o-mini', 'hello', String(limited.key));
await first.stop(3000);
const second = await startTestGateway({ GATEWAY_DATA_DIR: directory });
await withinOneDay();
({ url } = second);

const why = async (id: string): Promise<Why> => {
  const { status, body } = await control('GET', `/logs/${id}/why?workspace_id=${workspace}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as Why;
};

async function told(...words: string[]): Promise<{ code: number; out: string; error: string }> {
  const out: string[] = [];
  const error: string[] = [];
  const unexpected = (): never => assert.fail('not for this command');
  const around: Surroundings = {
    environment: { GATEWAY_URL: url, GATEWAY_API_KEY: apiKey }, cwd: directory, version: '0', out: (text) => { out.push(text); }, error: (text) => { error.push(text); },
    loadApp: unexpected, onSignal: unexpected, exit: unexpected, endWithin: unexpected,
  };
  return { code: await runCommandLine(['why', ...words], around), out: out.join('\n'), error: error.join('\n') };
}

describe('why a call went as it did', () => {
  it('says key, config and version, each target tried, what the strategies chose, retries, hooks and cache', async () => {
    const said = await why('fallback');
    assert.equal(said.trace_id, 'fallback');
    assert.equal(typeof said.key?.name, 'string');
    assert.deepEqual([said.config?.slug, said.config?.version, said.prompt, said.workspace?.id], [saved.slug, 1, null, workspace]);
    assert.deepEqual(said.targets.map(({ path, status, retries, attempts, is_final }) => [path, status, retries, attempts, is_final]), [['config.targets[0]', 503, 1, 2, false], ['config.targets[1].targets[1]', 200, 0, 1, true]]);
    assert.equal(said.retries.attempts, 3);
    assert.deepEqual(said.strategies.map(({ path, mode, chosen, turn, ground }) => [path, mode, chosen, turn, ground]), [
      ['config', 'fallback', 0, 0, null], ['config', 'fallback', 1, 1, null], ['config.targets[1]', 'conditional', 1, 0, { condition: null }],
    ]);
    assert.deepEqual(said.retries.waits.map(({ path, status }) => [path, status]), [['config.targets[0]', 503]]);
    assert.deepEqual(said.hooks.map(({ id, stage, verdict }) => [id, stage, verdict]), [['input_guardrail_0', 'before', true]]);
    assert.deepEqual([said.cache.status, said.cache.mode], ['MISS', 'simple']);
    assert.ok(said.timing.total_ms >= said.timing.upstream_ms && said.timing.upstream_ms > 0);
    assert.deepEqual([said.tokens.input, said.tokens.output, said.tokens.total, said.tokens.cached], [9, 3, 12, null]);
    // Each target can be asked about by the id of its own record.
    const left = await why(said.targets[0]?.log_id ?? '');
    assert.deepEqual(left.targets.map(({ path, is_final }) => [path, is_final]), [['config.targets[0]', false]]);
  });

  it('says the price with its rates, what a cached answer saved, and that a model has no price', async () => {
    const { price } = await why('fallback');
    assert.ok(price.is_priced && price.cost !== null && price.cost > 0 && price.rates !== null, JSON.stringify(price));
    assert.ok(Math.abs((price.cost_now ?? 0) - price.cost) < 1e-12);
    const hit = await why('hit');
    // The first target, whose answers are not kept, was called again.
    assert.deepEqual([hit.cache.status, hit.price.cost, hit.retries.attempts, hit.targets.map(({ attempts }) => attempts)], ['HIT', 0, 2, [2, 0]]);
    assert.ok(Math.abs(hit.price.saved - price.cost) < 1e-12);
    assert.equal(hit.cache.key, (await why('fallback')).cache.key);
    assert.deepEqual((await why('unpriced')).price, { cost: 0, cost_currency: 'USD', is_priced: false, saved: 0, rates: null, is_own: false, is_adjusted: false, cost_now: null });
  });

  it('says of a call that hooks denied who did, and that nobody was called', async () => {
    const said = await why('denied');
    assert.deepEqual([said.status, said.error_code, said.targets, said.hooks.map(({ denied, checks }) => [denied, checks.map(({ id, verdict }) => [id, verdict])])], [446, 'HOOKS_FAILED', [], [[true, [['default.contains', false]]]]]);
  });

  it('says what limits counted before and after, and which one let the call not through', async () => {
    const said = await why('limited');
    assert.equal(said.key?.name, 'limited');
    assert.deepEqual(said.limits.slice(0, 1).map(({ counted, before, after, maximum }) => [counted, before, after, maximum]), [['requests', 0, 1, 1]]);
    const [, spent] = said.limits;
    assert.deepEqual([spent?.counted, spent?.before, spent?.maximum], ['cost', 0, 3]);
    assert.ok(spent !== undefined && spent.after > 0 && spent.after < 0.01, 'dollars');
    assert.match((await told('limited')).out, /^limit {6}key\/\S+\/cost: 0 before, 0\.0000\d+ after, of 3 US dollars$/m);
    const refused = await why('refused');
    assert.deepEqual([refused.status, refused.refused_by.map(({ before, needed, maximum }) => [before, needed, maximum])], [429, [[1, 1, 1]]]);
    assert.match((await told('refused')).out, /^limit {6}key\/\S+ refused the call: 1 of 1 requests had been used, and it needs 1$/m);
  });

  it('is told in plain words on the command line', async () => {
    const { code, out, error } = await told('fallback');
    assert.deepEqual([code, error], [0, '']);
    assert.match(out, /^call {7}POST \/v1\/chat\/completions at .*: status 200$/m);
    assert.match(out, new RegExp(`^config {5}${String(saved.slug)}, version 1$`, 'm'));
    assert.match(out, /^strategy {3}fallback at config chose target 1 of 2 in its turn 2$/m);
    assert.match(out, /^strategy {3}conditional at config\.targets\[1\] chose target 1 of 2: no condition fitted$/m);
    assert.match(out, /^left {7}config\.targets\[0\]: openai, .*: status 503, 2 tries, .* ms; left for another one$/m);
    assert.match(out, /^target {5}config\.targets\[1\]\.targets\[1\]: openai, gpt-test-2024: status 200, [\d.]+ ms$/m);
    assert.match(out, /^hook {7}input_guardrail_0 \(before the request\): passed$/m);
    assert.match(out, /^cache {6}MISS \(simple\), key /m);
    assert.match(out, /^tokens {5}9 input, 3 output, 12 total$/m);
    assert.match(out, /^price {6}[\d.e-]+ US cents by the public price: /m);
    assert.match((await told('denied')).out, /^hook {7}input_guardrail_0 \(before the request\): failed and denied the call; failed: default\.contains$/m);
    assert.match((await told('denied')).out, /^target {5}none was called$/m);
    assert.match((await told('unpriced')).out, /^price {6}the model has no price, so the call cost 0$/m);
    assert.equal((JSON.parse((await told('fallback', '--json')).out) as Why).object, 'log.why');
  });

  it('is a clear error where there is nothing to tell', async () => {
    assert.equal((await control('GET', `/logs/nothing/why?workspace_id=${workspace}`)).status, 404);
    const none = await told('nothing');
    assert.deepEqual([none.code, none.out, none.error], [1, '', 'gateway: there is no log nothing']);
    assert.match((await told()).error, /why needs the id of a log or of its trace/);
  });
});
