// What the log says of calls that several targets were tried for: a record for each target that was tried, of which one is final, and in that why others were
// passed over.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { LogRecord } from '@gateway/plugin-sdk';
import { deadAddress } from '../support/dead-address.js';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { loggedInto, recordsIn } from '../support/logged.js';
import { answerChat, sendJson, startUpstream } from '../support/upstream.js';

const directory = mkdtempSync(join(tmpdir(), 'gateway-attempts-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const upstream = await startUpstream();
const gateway = await startTestGateway(loggedInto(directory));
const gone = await deadAddress();

const at = (path: string, more: object = {}): object => ({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/${path}`, ...more });
const fallback = (...targets: object[]): object => ({ strategy: { mode: 'fallback' }, targets });
const statuses = new Map<string, number>();

async function call(trace: string, config: object, body: object = { messages: [{ role: 'user', content: 'hello' }] }, path = 'chat/completions'): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST', body: JSON.stringify({ model: 'asked', ...body }),
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-trace-id': trace, 'x-gateway-config': JSON.stringify(config) },
  });
  statuses.set(trace, response.status);
  await response.arrayBuffer();
}

upstream.answer = (received, response, request) => {
  if (received.url.startsWith('/ok')) answerChat(received, response, request);
  else sendJson(response, received.url.startsWith('/busy') ? 503 : 429, { error: { message: 'no' } });
};
const retry = { attempts: 2, use_retry_after_headers: false };

await call('plain', at('ok'));
await call('retried', at('busy', { retry }));
await call('three', fallback(at('busy', { retry }), { provider: 'openai', api_key: 'sk', custom_host: `${gone.url}/v1` }, at('ok')));
await call('inner', fallback({ strategy: { mode: 'loadbalance' }, targets: [at('limit', { weight: 1 })] }, at('ok')));
await call('none', fallback(at('busy'), at('limit')));
await call('denied', fallback(at('ok', { output_guardrails: [{ 'default.contains': { words: ['absent'], operator: 'any' }, deny: true }] }), at('ok')));
await call('passed', { strategy: { mode: 'fallback', on_status_codes: [446, 503] }, targets: [at('ok', { output_guardrails: [{ 'default.contains': { words: ['absent'], operator: 'any' }, deny: true }] }), at('ok')] });
// Anthropic has no embeddings: that target is passed over without a call.
await call('skipped', fallback(at('busy'), at('ok', { provider: 'anthropic' })), { input: 'hello' }, 'embeddings');
await call('chosen', { strategy: { mode: 'conditional', conditions: [{ query: { 'metadata.x': 'y' }, then: 'one' }], default: 'two' }, targets: [at('busy', { name: 'one' }), at('ok', { name: 'two' })] });
await gateway.stop(2000);

const records = recordsIn(directory);
const of = (trace: string): LogRecord[] => records.filter((record) => record.traceId === trace);
const brief = (trace: string): unknown[] => of(trace).map(({ isFinal, targetIndex, targetPath, status, errorCode, retries, attempts }) => [isFinal, targetIndex, targetPath, status, errorCode, retries, attempts]);
const decisions = (trace: string): Record<string, unknown>[] => {
  const { decision } = of(trace).at(-1) as LogRecord;
  return decision === '' ? [] : (JSON.parse(decision) as Record<string, unknown>[]).filter(({ about }) => about !== 'price');
};

describe('the log of targets', () => {
  it('has one record for a call with one target, and of a plain one no decisions', () => {
    assert.deepEqual(brief('plain'), [[true, 0, 'config', 200, '', 0, 1]]);
    assert.deepEqual(brief('retried'), [[true, 0, 'config', 503, '', 2, 3]]);
    assert.deepEqual(decisions('plain'), []);
    assert.deepEqual(decisions('retried').map(({ about, path, status }) => [about, path, status]), [['retry', 'config', 503], ['retry', 'config', 503]]);
  });

  it('has a record for each target that was tried, the last one final', () => {
    assert.deepEqual(brief('three'), [
      [false, 0, 'config.targets[0]', 503, '', 2, 3],
      [false, 1, 'config.targets[1]', 502, 'UPSTREAM_UNREACHABLE', 0, 1],
      [true, 2, 'config.targets[2]', 200, '', 0, 5],
    ]);
    assert.deepEqual(brief('inner'), [[false, 0, 'config.targets[0].targets[0]', 429, '', 0, 1], [true, 1, 'config.targets[1]', 200, '', 0, 2]]);
    assert.deepEqual(brief('none'), [[false, 0, 'config.targets[0]', 503, '', 0, 1], [true, 1, 'config.targets[1]', 429, '', 0, 2]]);
  });

  it('hangs the records of targets below that of the call, with ids and times of their own', () => {
    const [first, second, final] = of('three') as [LogRecord, LogRecord, LogRecord];
    assert.equal(new Set([first, second, final].flatMap(({ id, spanId }) => [id, spanId])).size, 6);
    assert.deepEqual([first.parentSpanId, second.parentSpanId, final.parentSpanId], [final.spanId, final.spanId, '']);
    assert.deepEqual([first.model, first.keyId, first.workspaceId, first.configId], [final.model === 'gpt-test-2024' ? 'asked' : '', final.keyId, final.workspaceId, final.configId]);
    assert.ok(final.startedAtMs <= first.startedAtMs && first.startedAtMs + first.tookMs <= second.startedAtMs + 0.1 && second.startedAtMs + second.tookMs <= final.startedAtMs + final.tookMs);
    assert.ok(first.upstreamMs > 0 && first.upstreamMs <= first.tookMs && first.upstreamMs + second.upstreamMs < final.upstreamMs);
  });

  it('tells of an answer that was not wanted what it said of itself, and what hooks said of it', () => {
    assert.deepEqual(brief('denied'), [[true, 0, 'config.targets[0]', 446, 'HOOKS_FAILED', 0, 1]]);
    assert.deepEqual(of('denied').map(({ model, totalTokens }) => [model, totalTokens]), [['gpt-test-2024', 12]]);
    const [left, final] = of('passed') as [LogRecord, LogRecord];
    assert.deepEqual(brief('passed'), [[false, 0, 'config.targets[0]', 446, 'HOOKS_FAILED', 0, 1], [true, 1, 'config.targets[1]', 200, '', 0, 2]]);
    assert.deepEqual([left.model, left.inputTokens, left.outputTokens], ['gpt-test-2024', 9, 3]);
    assert.match(left.hookResults, /"verdict":false/);
    assert.doesNotMatch(final.hookResults, /"verdict":false/);
  });

  it('says why targets were passed over, and whose failure the client was told of', () => {
    assert.deepEqual(brief('skipped'), [[true, 0, 'config.targets[0]', 503, '', 0, 1]]);
    const passed = decisions('skipped').filter(({ about }) => about === 'target');
    assert.deepEqual(passed.map(({ path, provider, status, code }) => [path, provider, status, code]), [['config.targets[1]', 'anthropic', 400, 'ENDPOINT_UNSUPPORTED']]);
    assert.match(String(passed[0]?.reason), /does not offer embeddings/);
    assert.equal(statuses.get('skipped'), 503);
  });

  it('says what a strategy chose among several, and on what ground', () => {
    assert.deepEqual(decisions('chosen'), [{ about: 'strategy', at: 'config', mode: 'conditional', chosen: 1, of: 2, turn: 0, ground: { condition: null } }]);
    assert.deepEqual(decisions('three').filter(({ about }) => about === 'strategy').map(({ mode, chosen, turn }) => [mode, chosen, turn]), [['fallback', 0, 0], ['fallback', 1, 1], ['fallback', 2, 2]]);
    assert.deepEqual(decisions('inner').map(({ at: place, mode, ground }) => [place, mode, ground]), [
      ['config', 'fallback', undefined], ['config.targets[0]', 'loadbalance', { sticky: false, weights: [1] }], ['config', 'fallback', undefined],
    ]);
  });
});
