// `gateway ledger verify` over real traffic with budgets, beside the gateway and after its end: ledger, log and counters say the same; and what somebody changed is found.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Packr } from 'msgpackr';
import * as app from '../../core/app.js';
import { runCommandLine } from '../../core/cli/command-line.js';
import { readSettings } from '../../core/settings/read.js';
import { spendStore, verifySpending } from '../../core/spend.js';
import { usagePolicies } from '../../core/storage/tables/policies.js';
import { ThreadServices } from '../../core/thread-services.js';
import { startTestGateway } from '../support/gateway.js';
import { putRows, usagePolicyRow } from '../support/rows.js';
import { storedData } from '../support/stored.js';
import { answerChat, answerStream, sendJson, startUpstream } from '../support/upstream.js';

const secret = 'verified-key-of-spec-tests-0001';
const triesMax = 200;
const pauseMs = 100;
const upstream = await startUpstream(answerChat);
const spare = await startUpstream(answerChat);
const { rows, environment: stored } = await storedData();
await rows.integration('main', { key: 'sk-1' }, { customHost: `${upstream.url}/v1` });
await rows.provider('main', 'main', { usageLimits: { type: 'tokens', credit_limit: 100_000_000 } });
await rows.integration('spare', { key: 'sk-2' }, { customHost: `${spare.url}/v1` });
await rows.provider('spare', 'spare', { usageLimits: { type: 'cost', credit_limit: 1_000 } });
await rows.config('pc-retry', { provider: '@main', retry: { attempts: 2 } });
await rows.config('pc-both', { strategy: { mode: 'fallback' }, targets: [{ provider: '@main' }, { provider: '@spare' }] });
await rows.config('pc-cached', { provider: '@main', cache: { mode: 'simple' } });
await rows.key(secret, { id: '00000000-0000-4000-8000-00000000c0de', scopes: ['completions.write'], usageLimits: { type: 'tokens', credit_limit: 100_000_000 } });
for (const type of ['cost', 'requests'] as const) {
  await putRows(rows.repository, usagePolicies, usagePolicyRow(`by-${type}`, {
    organisationId: rows.organisationId, workspaceId: rows.workspaceId, conditions: [{ key: 'model', value: '*' }], groupBy: [{ key: 'model' }], type, creditLimit: 1_000_000,
  }));
}
const environment = { ...stored, GATEWAY_EXPORTERS: 'store' };
const gateway = await startTestGateway(environment);
const settings = readSettings(environment, '.');
/** What is young is left to the next time, so the look is one of later. */
const verified = (): ReturnType<typeof verifySpending> => verifySpending(settings, () => Date.now() + 60_000);

async function command(): Promise<{ readonly code: number; readonly said: string }> {
  const said: string[] = [];
  const tell = (text: string): void => { said.push(text); };
  const code = await runCommandLine(['ledger', 'verify'], { environment, cwd: '.', out: tell, error: tell, loadApp: async () => ({ ...app, verifySpending: verified }) } as never);
  return { code, said: said.join('\n') };
}

async function inSpendStore<T>(use: (store: Awaited<ReturnType<Awaited<ReturnType<ThreadServices['openStorage']>>['open']>>) => Promise<T>): Promise<T> {
  const services = new ThreadServices(settings);
  try {
    return await use(await (await services.openStorage()).open(spendStore));
  } finally {
    await services.close();
  }
}

describe('gateway ledger verify', { concurrency: false }, () => {
  let calls = 0;

  const call = async (route: Readonly<Record<string, string>>, members: object = {}, signal?: AbortSignal): Promise<Response> => {
    calls += 1;
    return fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': secret, ...route }, ...(signal === undefined ? {} : { signal }),
      body: JSON.stringify({ model: 'gpt-4o-mini', max_tokens: 20, messages: [{ role: 'user', content: 'hi there' }], ...members }),
    });
  };
  const whole = async (...given: Parameters<typeof call>): Promise<number> => {
    const response = await call(...given);
    await response.arrayBuffer();
    return response.status;
  };
  const plain = { 'x-gateway-provider': '@main' };

  it('finds that all agree, beside the gateway', async () => {
    for (let index = 0; index < 5; index += 1) assert.equal(await whole(plain), 200);
    for (let index = 0; index < 2; index += 1) assert.equal(await whole({ 'x-gateway-config': 'pc-cached' }, { user: 'cached' }), 200);
    let refusals = 1;
    upstream.answer = (...given) => (refusals-- > 0 ? sendJson(given[1], 503, { error: { message: 'busy' } }) : answerChat(...given));
    assert.equal(await whole({ 'x-gateway-config': 'pc-retry' }), 200);
    upstream.answer = (_, response) => sendJson(response, 500, { error: { message: 'broken' } });
    assert.equal(await whole({ 'x-gateway-config': 'pc-both' }), 200);
    assert.equal(await whole(plain), 500);
    upstream.answer = answerStream(['one ', 'two ', 'three ']);
    assert.equal(await whole(plain, { stream: true }), 200);
    assert.equal(await whole(plain, { stream: true, stream_options: { include_usage: true } }), 200);
    // One that its caller leaves.
    let gone: () => void = () => {};
    const left = new Promise<void>((resolve) => { gone = resolve; });
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}\n\n');
      response.on('close', gone);
    };
    const leaving = new AbortController();
    const response = await call(plain, { stream: true }, leaving.signal);
    await response.body?.getReader().read();
    leaving.abort();
    await left;
    upstream.answer = answerChat;
    assert.equal(await whole(plain), 200);
    let verdict = await verified();
    for (let tries = 0; tries < triesMax && (verdict.calls < calls || verdict.compared + verdict.estimated < calls); tries += 1) {
      // The log is written by the second.
      await new Promise((resolve) => { setTimeout(resolve, pauseMs); });
      verdict = await verified();
    }
    assert.deepEqual([verdict.differences, verdict.more, verdict.open, verdict.calls, verdict.compared + verdict.estimated, verdict.notInLog], [[], 0, 0, calls, calls, 0]);
    assert.ok(verdict.compared >= calls - 3 && verdict.sums >= 5, JSON.stringify(verdict));
    assert.equal((await command()).code, 0);
  });

  it('finds the same after its end', async () => {
    await gateway.stop();
    const { code, said } = await command();
    assert.equal(code, 0, said);
    assert.match(said, new RegExp(`^ok     ${calls} calls, `));
  });

  it('finds a sum that somebody changed, and a call of which the log has no record', async () => {
    const packr = new Packr({ useRecords: false });
    await inSpendStore(async (store) => {
      for await (const { key, value } of store.range({ from: 'sum/key/', to: 'sum/key0', limit: 1 })) {
        const sum = packr.unpack(value);
        await store.write([{ op: 'put', key, value: packr.pack({ ...sum, amount: sum.amount - 5 }) }]);
      }
    });
    const changed = await command();
    assert.equal(changed.code, 1);
    assert.match(changed.said, /FAULT {2}sum: key\/00000000-0000-4000-8000-00000000c0de\/tokens \(period 0\): ledger \d+, sum \d+: the rows of/);
    await inSpendStore(async (store) => {
      for await (const { key, value } of store.range({ from: 'ledger/', to: 'ledger0', limit: 100, reverse: true })) {
        const block = packr.unpack(value);
        // Of what was cut off, and estimated, there need not be a record.
        const call = block.calls.find(([,,, isEstimated]: readonly [string, number, number, boolean]) => !isEstimated);
        if (call === undefined) continue;
        call[0] = 'nobody-knows-it';
        await store.write([{ op: 'put', key, value: packr.pack(block) }]);
        break;
      }
    });
    const missing = await command();
    assert.equal(missing.code, 1);
    assert.match(missing.said, /FAULT {2}record of call nobody-knows-it: .*the log has no record of the call/);
  });
});
