// Calls of every kind under budgets, and a kill at the beginning, in the middle and at the end of them: streams, plain answers, retries, fallbacks, answers that break off, clients that leave.
// Callers make one call after another over a connection of their own. When the next one is on its way, the thread of that connection has had a later turn, so the one before has to be in the
// ledger with what the upstream says it used: no estimate stands in for it. `KILLED_BUDGET_ROUNDS=20` makes 60 kills of two.

import assert from 'node:assert/strict';
import { Agent, createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import type { LedgerCall } from '../../core/limits/ledger.js';
import { verifyLedger } from '../../core/limits/verify-ledger.js';
import { policyCounterKey, usageCounterKey } from '../../core/snapshot/limit-specs.js';
import { usagePolicies } from '../../core/storage/tables/policies.js';
import { startChildGateway } from '../support/child-gateway.js';
import { adminKey } from '../support/gateway.js';
import { hasOpenCalls, ledgerOf } from '../support/ledger.js';
import { putRows, usagePolicyRow } from '../support/rows.js';
import { storedData } from '../support/stored.js';

const callers = 24;
const events = 6;
const eventEveryMs = 8;
const stated = 500;
/** Calls at the upstream when a kill comes: the first, some, and many. Asked for more rounds, all of them in each. */
const [atFirst, atSome, atMany] = [1, callers, callers * 6];
const rounds = Number(process.env.KILLED_BUDGET_ROUNDS ?? 0);
const killsOf = (durability: 'relaxed' | 'strict'): readonly number[] =>
  (rounds > 0 ? Array.from({ length: rounds }, () => [atMany, atFirst, atSome]).flat() : durability === 'strict' ? [atMany] : [atSome, atMany]);
const startsMax = 10;
const keyId = '00000000-0000-4000-8000-00000000feed';
const byUserId = '00000000-0000-4000-8000-0000000000aa';
const byTeamId = '00000000-0000-4000-8000-0000000000bb';
const secret = 'budget-key-of-the-kill-test-0002';

const kinds = ['stream', 'plain', 'retried', 'fallback', 'broken', 'left'] as const;
type Kind = (typeof kinds)[number];
const kindOf = (number: number): Kind => kinds[number % kinds.length] as Kind;
/** Tokens that a call is said to have used; another number for each, and far from what is reserved. */
const tokensOf = (number: number): number => 10_000 + number;
const teamOf = (number: number): string => `team-${number % 3}`;

interface Seen {
  /** Requests by path. */
  good: number;
  bad: number;
  /** The upstream told its usage. */
  isTold: boolean;
}

/** What the upstream has got and told, by the number of a call. */
const seen = new Map<number, Seen>();
let onSeen = (): void => {};

const chunk = (number: number, members: object): string => `data: ${JSON.stringify({ id: `c-${number}`, object: 'chat.completion.chunk', created: 1, model: 'gpt-test', ...members })}\n\n`;
const usageOf = (number: number): object => ({ prompt_tokens: 10, completion_tokens: tokensOf(number) - 10, total_tokens: tokensOf(number) });

function answer(number: number, isBad: boolean, response: ServerResponse): void {
  const of = seen.get(number) ?? { good: 0, bad: 0, isTold: false };
  seen.set(number, of);
  if (isBad) of.bad += 1;
  else of.good += 1;
  onSeen();
  const kind = kindOf(number);
  if (isBad || (kind === 'retried' && of.good === 1)) {
    response.writeHead(isBad ? 500 : 503, { 'content-type': 'application/json' }).end('{"error":{"message":"not now","type":"server_error"}}');
    return;
  }
  const own = 1 + (number % events);
  if (kind === 'plain') {
    const timer = setTimeout(() => {
      of.isTold = true;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: `c-${number}`, object: 'chat.completion', created: 1, model: 'gpt-test', choices: [{ index: 0, message: { role: 'assistant', content: 'words' }, finish_reason: 'stop' }], usage: usageOf(number) }));
    }, own * eventEveryMs);
    response.once('close', () => clearTimeout(timer));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    response.write(chunk(number, { choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: null }] }));
    if (sent < own) return;
    clearInterval(timer);
    if (kind === 'broken') return void response.destroy();
    of.isTold = true;
    response.end(`${chunk(number, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${chunk(number, { choices: [], usage: usageOf(number) })}data: [DONE]\n\n`);
  }, eventEveryMs);
  response.once('close', () => clearInterval(timer));
}

const upstream = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => { body += text; });
  request.on('end', () => answer(Number(JSON.parse(body).user), request.url?.startsWith('/bad') === true, response));
});
await new Promise<void>((resolve) => { upstream.listen(0, '127.0.0.1', resolve); });
after(() => {
  upstream.closeAllConnections();
  upstream.close();
});
const upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;

const configOf: Readonly<Record<Kind, object>> = {
  stream: { provider: '@good' }, plain: { provider: '@good' }, broken: { provider: '@good' }, left: { provider: '@good' },
  retried: { provider: '@good', retry: { attempts: 2, on_status_codes: [503] } },
  fallback: { strategy: { mode: 'fallback' }, targets: [{ provider: '@bad' }, { provider: '@good' }] },
};

/** The local port of the connection; rejects when the connection breaks, as it does at the kill. */
async function call(port: number, number: number, agent: Agent): Promise<number> {
  const kind = kindOf(number);
  const body = JSON.stringify({ model: 'gpt-test', user: String(number), max_tokens: stated, messages: [{ role: 'user', content: 'hi' }], ...(kind === 'plain' ? {} : { stream: true }) });
  return new Promise((resolve, reject) => {
    const sent = send({
      host: '127.0.0.1', port, path: '/v1/chat/completions', method: 'POST', agent,
      headers: {
        'content-type': 'application/json', 'content-length': String(body.length), 'x-gateway-api-key': secret, 'x-gateway-config': JSON.stringify(configOf[kind]),
        'x-gateway-metadata': JSON.stringify({ _user: `user-${number}`, team: teamOf(number) }),
      },
    }, (response: IncomingMessage) => {
      const { localPort = 0 } = response.socket;
      if (response.statusCode !== 200) return reject(new Error(`call ${number} was answered with ${response.statusCode}`));
      response.once('error', reject);
      response.once('end', () => resolve(localPort));
      if (kind === 'left') response.once('data', () => { sent.destroy(); });
      else response.resume();
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Calls whose end was followed by a turn of their thread. */
const certain = new Set<number>();

/** Calls one after another until the gateway is gone. */
async function run(port: number, next: () => number, isKilled: () => boolean): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let last = { number: -1, localPort: -1 };
  try {
    while (!isKilled()) {
      const number = next();
      try {
        const localPort = await call(port, number, agent);
        if (localPort === last.localPort) certain.add(last.number);
        last = { number, localPort };
      } catch (thrown) {
        if (isKilled()) return;
        // A client that left, and the error event of a stream that broke off, end their connections.
        if (kindOf(number) !== 'left' && kindOf(number) !== 'broken') throw thrown;
      }
    }
  } finally {
    agent.destroy();
  }
}

for (const durability of ['relaxed', 'strict'] as const) {
  describe(`budgets and kill -9 at any time, ${durability}`, () => {
    const kills = killsOf(durability);
    test(`what every call used is in the ledger once, after ${kills.length} kills`, async (t) => {
      seen.clear();
      certain.clear();
      const { rows, environment: data } = await storedData({ GATEWAY_BUDGET_DURABILITY: durability, GATEWAY_TRUSTED_HOSTS: '127.0.0.1', GATEWAY_RETRY_DELAY_MS: '1', GATEWAY_THREADS: '2' });
      const limits = { type: 'tokens' as const, credit_limit: 1_000_000_000 };
      await rows.key(secret, { id: keyId, usageLimits: limits });
      await rows.integration('main', { key: 'sk-1' }, { customHost: `${upstreamUrl}/v1` });
      await rows.integration('failing', { key: 'sk-1' }, { customHost: `${upstreamUrl}/bad/v1` });
      await rows.provider('good', 'main', { usageLimits: limits });
      await rows.provider('bad', 'failing', { usageLimits: limits });
      const policyOf = (id: string, group: string, changes = {}) => usagePolicyRow(id, {
        organisationId: rows.organisationId, workspaceId: rows.workspaceId, conditions: [{ key: group, value: '*' }], groupBy: [{ key: group }], type: 'tokens', creditLimit: 1_000_000_000, ...changes,
      });
      const byTeam = policyOf(byTeamId, 'metadata.team', { periodicReset: 'weekly', createdAtMs: Date.now() });
      await putRows(rows.repository, usagePolicies, policyOf(byUserId, 'metadata._user'), byTeam);
      const dataDir = data.GATEWAY_DATA_DIR ?? assert.fail();
      let number = 0;
      /** The first number of the calls after the week was ended. */
      let firstOfWeek = 0;
      for (const [round, killAt] of kills.entries()) {
        const gateway = await startChildGateway(data);
        const before = seen.size;
        const isTime = new Promise<void>((resolve) => { onSeen = () => { if (seen.size - before >= killAt) resolve(); }; });
        let isKilled = false;
        const ended = Promise.all(Array.from({ length: callers }, () => run(gateway.port, () => number++, () => isKilled)));
        await Promise.race([isTime, ended]);
        isKilled = true;
        gateway.kill('SIGKILL');
        await Promise.all([ended, gateway.ended]);
        if (round === 0 && kills.length > 1) {
          // The week of the policy ends while nobody is there, with calls of it open.
          await putRows(rows.repository, usagePolicies, { ...byTeam, firstResetAtMs: Date.now() });
          firstOfWeek = number;
        }
      }
      // What was left is put in by a start, and settled; by another one nothing is done twice. An end does not wait for the ledger.
      for (let start = 1; start < Math.min(2, kills.length) || (start < startsMax && await hasOpenCalls(dataDir)); start += 1) {
        const gateway = await startChildGateway(data);
        gateway.kill('SIGTERM');
        await gateway.ended;
      }
      const gateway = await startChildGateway(data);
      const response = await fetch(`${gateway.url}/v1/policies/usage-limits/${byTeamId}/entities?workspace_id=${rows.workspaceId}`, { headers: { 'x-gateway-api-key': adminKey } });
      const { data: shown } = await response.json() as { data: readonly { readonly value_key: string; readonly current_usage: number }[] };
      gateway.kill('SIGTERM');
      await gateway.ended;
      const ofWeek = await ledgerOf(dataDir, async (ledger) => {
        for await (const { id } of ledger.openCalls(null)) assert.fail(`${id} is still open`);
        const calls = new Map<number, LedgerCall>();
        const added = new Map<string, number>();
        for await (const each of ledger.calls()) {
          const ofUser = each.charges.find(({ key }) => key.startsWith(`policy/${byUserId}/`)) ?? assert.fail(`${each.id} has no user`);
          const of = Number(ofUser.key.slice(policyCounterKey(byUserId, 'metadata._user:user-', null).length));
          assert.ok(!calls.has(of), `call ${of} twice`);
          calls.set(of, each);
          for (const { key, period, amount } of each.charges) added.set(`${key} ${period}`, (added.get(`${key} ${period}`) ?? 0) + amount);
        }
        const sumsOf = new Map<string, number>();
        for await (const { key, period, amount } of ledger.sums()) if (amount !== 0) sumsOf.set(`${key} ${period}`, amount);
        assert.deepEqual(sumsOf, new Map([...added].filter(([, amount]) => amount !== 0)));
        assert.deepEqual((await verifyLedger(ledger, { now: Date.now, records: undefined })).differences, []);
        // Strict: written down before the upstream has it. Relaxed: as soon as the turn is over, so those of the last turn may be missing.
        if (durability === 'strict') assert.deepEqual([...seen.keys()].filter((each) => !calls.has(each)), []);
        else assert.ok(calls.size >= seen.size - kills.length * callers, `${calls.size} calls in the ledger, ${seen.size} at the upstream`);
        const counts = { exact: 0, estimated: 0 };
        const teamsBefore = new Set([...calls.keys()].filter((of) => of < firstOfWeek).map(teamOf));
        for (const [of, { charges, isEstimated }] of calls) {
          const amountOf = (key: string): number | undefined => charges.find((charge) => charge.key === key)?.amount;
          const kind = kindOf(of);
          const tokens = amountOf(usageCounterKey('key', keyId, 'tokens'));
          const where = `call ${of} (${kind})`;
          assert.ok(tokens !== undefined, where);
          assert.equal(charges.find(({ key }) => key.startsWith(`policy/${byUserId}/`))?.amount, tokens, where);
          const ofTeam = charges.find(({ key }) => key === policyCounterKey(byTeamId, `metadata.team:${teamOf(of)}`, null)) ?? assert.fail(`${where} has no team`);
          assert.equal(ofTeam.amount, tokens, where);
          assert.equal(ofTeam.period, of >= firstOfWeek && teamsBefore.has(teamOf(of)) ? 1 : 0, where);
          // Its answer was never told, so it is at what went by, or at what was reserved: never nothing, never more.
          if (isEstimated) {
            counts.estimated += 1;
            assert.ok(tokens > 0 && tokens < stated * 2, `${where}: ${tokens}`);
            if (certain.has(of) && kind === 'broken') assert.ok(tokens < stated, `${where}: ${tokens}, and little was delivered`);
          } else {
            counts.exact += 1;
            assert.ok(seen.get(of)?.isTold, `${where} is settled, and the upstream has not told its usage`);
            assert.equal(tokens, tokensOf(of), where);
            // What failed used nothing, and what answered was counted once.
            assert.equal(amountOf(usageCounterKey('provider', 'id-of-good', 'tokens')), tokensOf(of), where);
            assert.equal(amountOf(usageCounterKey('provider', 'id-of-bad', 'tokens')), kind === 'fallback' ? 0 : undefined, where);
          }
          if (certain.has(of) && kind !== 'broken' && kind !== 'left') assert.ok(!isEstimated, `${where} was whole before the kill, and is settled at an estimate`);
        }
        for (const of of certain) assert.ok(calls.has(of), `call ${of} (${kindOf(of)}) was answered before the kill, and is not in the ledger`);
        for (const kind of ['stream', 'plain', 'retried', 'fallback'] as const) assert.ok([...certain].some((each) => kindOf(each) === kind), `no ${kind} was whole before a kill`);
        if (kills.length > 1) assert.ok(teamsBefore.size > 0 && [...calls.keys()].some((of) => of >= firstOfWeek && teamsBefore.has(teamOf(of))), 'no team called in both weeks');
        t.diagnostic(`${durability}: ${seen.size} calls at the upstream, ${calls.size} in the ledger: ${counts.exact} as the upstream told them, ${counts.estimated} estimated; ${certain.size} whole before the kill`);
        const used: Record<string, number> = {};
        for (const [of, { charges }] of calls) {
          const key = `metadata.team:${teamOf(of)}`;
          if (of >= firstOfWeek) used[key] = (used[key] ?? 0) + (charges.find((charge) => charge.key.startsWith(`policy/${byTeamId}/`))?.amount ?? 0);
        }
        return used;
      });
      // What operators are shown, and what the next call is measured against, is the week that runs.
      assert.deepEqual(Object.fromEntries(shown.map(({ value_key: key, current_usage: used }) => [key, used])), ofWeek);
    });
  });
}
