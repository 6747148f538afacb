// `gateway prices` and `gateway reprice`, on the data directory of a gateway that runs.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommandLine } from '../../../core/cli/command-line.js';
import { readSettings } from '../../../core/settings/read.js';
import { verifySpending } from '../../../core/spend.js';
import { apiKey, startTestGateway } from '../../support/gateway.js';
import { storedData } from '../../support/stored.js';
import { chatCompletion, sendJson, startUpstream } from '../../support/upstream.js';

const upstream = await startUpstream((received, response) => {
  const { model }: { readonly model: string } = JSON.parse(received.body.toString());
  sendJson(response, 200, { ...chatCompletion, model, usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 } });
});
const { rows, environment } = await storedData();
const changes = { customHost: `${upstream.url}/v1` };
await rows.integration('main', { key: 'sk' }, changes);
await rows.provider('main', 'main', { usageLimits: { type: 'cost', credit_limit: 1_000 } });
const gateway = await startTestGateway(environment);

async function run(...argv: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly error: string }> {
  let [out, error] = ['', ''];
  const code = await runCommandLine(argv, {
    environment: { ...environment, GATEWAY_LOG_LEVEL: 'error' }, cwd: gateway.dataDir, version: '0', out: (text) => { out += `${text}\n`; }, error: (text) => { error += `${text}\n`; },
    loadApp: () => import('../../../core/app.js'), onSignal: () => undefined, exit: () => undefined, endWithin: () => undefined,
  });
  return { code, out, error };
}
async function json<T>(...argv: readonly string[]): Promise<T> {
  const { code, out, error } = await run(...argv, '--json');
  assert.equal(code, 0, error);
  return JSON.parse(out);
}
interface Report { readonly records: number; readonly changed: number; readonly isWritten: boolean; readonly models: readonly { readonly model: string; readonly changed: number; readonly costBefore: number; readonly costAfter: number; readonly unpricedBefore: number; readonly unpricedAfter: number }[] }

for (const model of ['gpt-4o', 'gpt-4o', 'our\u001b[31m-own', 'gpt-4o-mini']) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey }, body: JSON.stringify({ model: `@main/${model}`, messages: [{ role: 'user', content: 'Hi' }] }) });
  assert.equal(response.status, 200, await response.text());
}
const from = '2020-01-01';
const waitMsMax = 60_000;
let byMs = performance.now() + waitMsMax;
for (let report = await json<Report>('reprice', '--from', from); report.records < 4; report = await json<Report>('reprice', '--from', from)) {
  assert.ok(performance.now() < byMs, `${report.records} records`);
  await sleep(50);
}

describe('gateway prices', () => {
  it('lists models without a price, and lets no name steer a terminal', async () => {
    const { models } = await json<{ readonly models: readonly { readonly provider: string; readonly model: string; readonly unpriced: number; readonly totalTokens: number }[] }>('prices');
    assert.deepEqual(models.map(({ provider, model, unpriced, totalTokens }) => [provider, model, unpriced, totalTokens]), [['openai', 'our\u001b[31m-own', 1, 1_100]]);
    const { out } = await run('prices', '--days', '1');
    assert.match(out, /openai +our\?\[31m-own +1 +1 +1100/);
    assert.match(out, /1 without a price in the last day: their calls cost 0/);
  });

  it('shows the prices of a model, tiers and units among them', async () => {
    const { out } = await run('prices', 'google/gemini-2.5-pro');
    assert.match(out, /request_token +1\.25 +million\n/);
    assert.match(out, /request_token +2\.5 +million +with more than 200000 input tokens/);
    assert.match((await run('prices', 'openai/gpt-4o-2024-08-06')).out, /^gpt-4o .*\n[^]*web_search +0\.01 +one/);
    assert.equal((await json<{ readonly id: string }>('prices', 'mistral-ai/mistral-large-latest')).id, 'mistral-large');
    const none = await run('prices', 'openai/nobody-knows-it');
    assert.deepEqual([none.code, none.out], [1, '']);
    assert.match(none.error, /has no price for the model nobody-knows-it of openai; .*pricing_config/);
  });

  it('refuses what it cannot mean', async () => {
    for (const [argv, reason] of [[['gpt-4o'], /is not the name of a model/], [['openai/'], /is not the name/], [['--days', '0'], /--days must be/], [['--days', 'x'], /--days must be/]] as const) {
      const { code, error } = await run('prices', ...argv);
      assert.deepEqual([code, reason.test(error)], [1, true], error);
    }
  });
});

describe('gateway reprice', () => {
  it('finds nothing to change while prices stay', async () => {
    assert.match((await run('reprice', '--from', from)).out, /^ok {5}4 records; every price is as it would be now\n$/);
  });

  it('shows what changed prices change, writes nothing unasked, and then does', async () => {
    const priced = (slug: string, price: number): object => ({ slug, name: null, enabled: true, is_custom: true, is_finetune: false, base_model_slug: null, custom_host: null, header_names: [], pricing_config: { pay_as_you_go: { request_token: { price }, response_token: { price: 0 } } } });
    await rows.integration('main', { key: 'sk' }, { ...changes, models: [priced('gpt-4o', 1), priced('our\u001b[31m-own', 2)] as never });
    for (const argv of [[], ['--dry-run']]) {
      const { out } = await run('reprice', '--from', from, ...argv);
      assert.match(out, /openai +gpt-4o +2 of 2 +0\.7000 +2000\.0000 +\+1999\.3000\n/);
      assert.match(out, /openai +our\?\[31m-own +1 of 1 +0\.0000 +2000\.0000 +\+2000\.0000 +1 -> 0/);
      assert.match(out, /3 of 4 records change: 0\.7210 before, 4000\.0210 after \(US cents\)\n\nnothing was written; add --write/);
    }
    assert.equal((await json<Report>('reprice', '--from', from, '--workspace', 'no-such')
      .catch((thrown: unknown) => String(thrown))).toString().includes('there is no workspace no-such'), true);
    assert.equal((await json<Report>('reprice', '--from', '2020-01-01', '--to', '2020-01-02')).records, 0);
    assert.match((await run('reprice', '--from', from, '--workspace', rows.workspaceId, '--write')).out, /3 of 4 records change[^]*\n3 records were changed\. What budgets have counted stays/);
    // What is younger than some seconds is not looked at.
    const verified = () => verifySpending(readSettings(environment, '.'), () => Date.now() + 60_000);
    let verdict = await verified();
    byMs = performance.now() + waitMsMax;
    for (; verdict.compared < 4 && performance.now() < byMs; verdict = await verified()) await sleep(50);
    assert.deepEqual([verdict.differences, verdict.compared, verdict.repriced], [[], 4, 3], 'budgets stay as they have counted, and the ledger knows why');
    const after = await json<Report>('reprice', '--from', from);
    assert.deepEqual([after.changed, after.isWritten, after.models.reduce((sum, model) => sum + model.costBefore, 0).toFixed(4)], [0, false, '4000.0210']);
    assert.deepEqual((await json<{ readonly models: readonly unknown[] }>('prices')).models, []);
  });

  it('refuses what it cannot mean', async () => {
    for (const [argv, reason] of [[[], /give --from/], [['--from', 'yesterday'], /--from must be a day/], [['--from', '2026-02-30'], /--from must be/], [['--from', '2026-01-02', '--to', '2026-01-01'], /--to must be later/], [['--from', from, '--write', '--dry-run'], /contradict/]] as const) {
      const { code, error } = await run('reprice', ...argv);
      assert.deepEqual([code, reason.test(error)], [1, true], error);
    }
  });
});
