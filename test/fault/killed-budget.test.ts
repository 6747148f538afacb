// Calls under a budget, and a kill in the middle of their streams: what the ledger says afterwards is what an upstream that counts has delivered. One round for
// each durability here; `KILLED_BUDGET_ROUNDS=20 node --test dist/test/fault/killed-budget.test.js` runs more of them.

import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { usageCounterKey } from '../../core/snapshot/limit-specs.js';
import type { LedgerCall } from '../../core/limits/ledger.js';
import { verifyLedger } from '../../core/limits/verify-ledger.js';
import { usagePolicies } from '../../core/storage/tables/policies.js';
import { startChildGateway } from '../support/child-gateway.js';
import { hasOpenCalls, ledgerOf } from '../support/ledger.js';
import { putRows, usagePolicyRow } from '../support/rows.js';
import { storedData } from '../support/stored.js';

const rounds = Number(process.env.KILLED_BUDGET_ROUNDS ?? 1);
const streams = 100;
const events = 12;
const eventEveryMs = 10;
/** A busy machine takes its time. */
const settledMsMax = 60_000;
const keyId = '00000000-0000-4000-8000-00000000feed';
const secret = 'budget-key-of-the-kill-test-0001';

const encode = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (number: number, members: object): object => ({ id: `c-${number}`, object: 'chat.completion.chunk', created: 1, model: 'gpt-test', ...members });

/** Streams at its own pace, and knows which calls it got and which it told to the end. */
class CountingUpstream {
  readonly received: number[] = [];
  readonly delivered = new Set<number>();
  /** Tokens that a call is said to have used; another number for each. */
  static tokensOf(number: number): number { return 10_000 + number; }
  onReceived = (): void => {};
  readonly server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => { body += text; });
    request.on('end', () => {
      const number = Number(JSON.parse(body).user);
      this.received.push(number);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      this.#stream(number, response);
      this.onReceived();
    });
  });

  #stream(number: number, response: ServerResponse): void {
    let sent = 0;
    // Some are done before others have got far.
    const own = 1 + (number % events);
    const timer = setInterval(() => {
      sent += 1;
      if (sent <= own) {
        response.write(encode(chunk(number, { choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: null }] })));
        return;
      }
      clearInterval(timer);
      const total = CountingUpstream.tokensOf(number);
      response.end(`${encode(chunk(number, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }))}${encode(chunk(number, { choices: [], usage: { prompt_tokens: 10, completion_tokens: total - 10, total_tokens: total } }))}data: [DONE]\n\n`);
      this.delivered.add(number);
    }, eventEveryMs);
    response.on('close', () => clearInterval(timer));
  }
}

const upstream = new CountingUpstream();
await new Promise<void>((resolve) => { upstream.server.listen(0, '127.0.0.1', resolve); });
after(() => {
  upstream.server.closeAllConnections();
  upstream.server.close();
});
const upstreamUrl = `http://127.0.0.1:${(upstream.server.address() as AddressInfo).port}`;

interface Told {
  readonly number: number;
  /** The call's id; empty: the kill came before the head of the answer. */
  id: string;
  isWhole: boolean;
}

async function stream(url: string, told: Told): Promise<void> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': secret, 'x-gateway-provider': '@counting' },
      body: JSON.stringify({ model: 'gpt-test', stream: true, stream_options: { include_usage: true }, user: String(told.number), max_tokens: 500, messages: [{ role: 'user', content: 'hi' }] }),
    });
    told.id = response.headers.get('x-gateway-trace-id') ?? '';
    assert.equal(response.status, 200);
    told.isWhole = (await response.text()).includes('[DONE]');
  } catch (thrown) {
    // The kill; anything else is an answer that this test does not expect.
    if (!(thrown instanceof TypeError)) throw thrown;
  }
}

for (const durability of ['relaxed', 'strict'] as const) {
  describe(`budgets and kill -9, ${durability}`, () => {
    test(`the ledger is what the upstream delivered, after ${rounds} ${rounds === 1 ? 'kill' : 'kills'} in the middle of ${streams} streams`, async (t) => {
      const stored = await storedData();
      const { rows } = stored;
      await rows.key(secret, { id: keyId, usageLimits: { type: 'tokens', credit_limit: 1_000_000_000 } });
      await rows.integration('main', { key: 'sk-1' }, { customHost: `${upstreamUrl}/v1` });
      await rows.provider('counting', 'main');
      const policy = usagePolicyRow('all-calls', { organisationId: rows.organisationId, workspaceId: rows.workspaceId, conditions: [{ key: 'model', value: '*' }], groupBy: [{ key: 'api_key' }], type: 'requests', creditLimit: 1_000_000 });
      await putRows(rows.repository, usagePolicies, policy);
      const environment = { ...stored.environment, GATEWAY_BUDGET_DURABILITY: durability, GATEWAY_TRUSTED_HOSTS: '127.0.0.1' };
      const dataDir = stored.environment.GATEWAY_DATA_DIR ?? assert.fail();
      const begun: Told[] = [];
      const receivedBefore = upstream.received.length;
      for (let round = 0; round < rounds; round += 1) {
        const gateway = await startChildGateway(environment);
        const from = upstream.received.length;
        // Relaxed: when all have begun. Strict: at any time, also while calls begin.
        const killAt = durability === 'relaxed' ? streams : 1 + Math.floor(((round * 37) % streams) + streams / 3) % streams;
        const isTime = new Promise<void>((resolve) => { upstream.onReceived = () => { if (upstream.received.length - from >= killAt) resolve(); }; });
        const calls = Array.from({ length: streams }, (_, index): Told => ({ number: receivedBefore + round * streams + index, id: '', isWhole: false }));
        begun.push(...calls);
        const ended = Promise.all(calls.map((told) => stream(gateway.url, told)));
        await isTime;
        // Into the middle of the streams: some have ended by then.
        await new Promise((resolve) => { setTimeout(resolve, ((round + 5) * 13) % (events * eventEveryMs)); });
        gateway.kill('SIGKILL');
        await Promise.all([ended, gateway.ended]);
      }
      // What was left is put in by a start, and settled; twice, so that nothing is done twice.
      for (let start = 0; start < 2; start += 1) {
        const gateway = await startChildGateway(environment);
        // An end does not wait for the ledger.
        for (const byMs = performance.now() + settledMsMax; performance.now() < byMs && await hasOpenCalls(dataDir);) await new Promise((resolve) => { setTimeout(resolve, 50); });
        gateway.kill('SIGTERM');
        await gateway.ended;
      }
      const received = upstream.received.slice(receivedBefore);
      await ledgerOf(dataDir, async (ledger) => {
        const calls = new Map<string, LedgerCall>();
        for await (const call of ledger.calls()) {
          assert.ok(!calls.has(call.id), `${call.id} twice`);
          calls.set(call.id, call);
        }
        for await (const { id } of ledger.openCalls(null)) assert.fail(`${id} is still open`);
        assert.deepEqual(await ledger.positions(), []);
        if (durability === 'relaxed') assert.equal(calls.size, received.length);
        else assert.ok(calls.size >= received.length, `${calls.size} calls in the ledger, ${received.length} at the upstream`);
        const key = usageCounterKey('key', keyId, 'tokens');
        let estimated = 0;
        let whole = 0;
        for (const { number, id, isWhole } of begun) {
          if (id === '') continue;
          const call = calls.get(id) ?? assert.fail(`call ${number} is not in the ledger`);
          const tokens = call.charges.find((charge) => charge.key === key);
          assert.ok(tokens !== undefined);
          assert.equal(call.charges.find(({ counted }) => counted === 'requests')?.amount, 1);
          assert.ok(received.includes(number));
          if (call.isEstimated) {
            estimated += 1;
            // What was reserved: the messages by their length, and the tokens that the call may have for its answer.
            assert.ok(tokens.amount >= 500 && tokens.amount < 1_000, `reserved ${tokens.amount}`);
          } else {
            whole += 1;
            assert.ok(upstream.delivered.has(number), `call ${number} was settled as whole, and was not delivered`);
            assert.equal(tokens.amount, CountingUpstream.tokensOf(number));
          }
          if (!isWhole) assert.ok(call.isEstimated || upstream.delivered.has(number));
        }
        const { differences } = await verifyLedger(ledger, { now: Date.now, records: undefined });
        assert.deepEqual(differences, []);
        let requests = 0;
        for await (const sum of ledger.sums()) if (sum.key.startsWith('policy/all-calls/')) requests += sum.amount;
        assert.equal(requests, calls.size);
        t.diagnostic(`${durability}: ${received.length} calls at the upstream, ${calls.size} in the ledger: ${whole} whole, ${estimated} cut off`);
      });
    });
  });
}
