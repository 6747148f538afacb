// Whatever becomes of calls, when the gateway is quiet nothing is reserved any more, and all limits of a call have counted the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ledger } from '../../core/limits/ledger.js';
import { readSettings } from '../../core/settings/read.js';
import { spendStore } from '../../core/spend.js';
import { usagePolicies } from '../../core/storage/tables/policies.js';
import { ThreadServices } from '../../core/thread-services.js';
import { startTestGateway } from '../support/gateway.js';
import { putRows, usagePolicyRow } from '../support/rows.js';
import { storedData } from '../support/stored.js';
import { answerChat, chatChunks, chatCompletion, sendJson, startUpstream, type Answer } from '../support/upstream.js';

const stored = await storedData();
const { rows } = stored;
const upstream = await startUpstream();
const much = { type: 'tokens', credit_limit: 10_000_000 } as const;
const key = 'limited-key-of-quiet-test-0001';
await rows.integration('main', { key: 'sk-1' }, { customHost: `${upstream.url}/v1`, globalAccess: { enabled: true, usage_limits: much, rate_limits: [] } });
await rows.provider('all', 'main', { usageLimits: much });
await rows.key(key, { id: '00000000-0000-4000-8000-000000000001', scopes: ['completions.write'], usageLimits: much, rateLimits: [{ type: 'tokens', unit: 'rpd', value: 10_000_000 }] });
const of = { organisationId: rows.organisationId, workspaceId: rows.workspaceId, conditions: [{ key: 'api_key', value: '*' }], type: 'tokens', creditLimit: 10_000_000 } as const;
await putRows(rows.repository, usagePolicies, usagePolicyRow('one', { ...of, groupBy: [{ key: 'api_key' }] }), usagePolicyRow('two', { ...of, groupBy: [{ key: 'provider' }, { key: 'metadata._user' }] }));
const gateway = await startTestGateway(stored.environment);

const call = async (config: object, body: object = {}, signal?: AbortSignal, path = 'chat/completions'): Promise<Response> => fetch(`${gateway.url}/v1/${path}`, {
  method: 'POST', signal: signal ?? null,
  headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, 'x-gateway-config': JSON.stringify({ provider: '@all', ...config }), 'x-gateway-metadata': '{"_user":"ann"}' },
  body: JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5_000, ...body }),
});
const read = async (given: Promise<Response>): Promise<number> => {
  const response = await given;
  await response.text().catch(() => '');
  return response.status;
};
const failing: Answer = (_, answer) => sendJson(answer, 500, { error: { message: 'no' } });
/** The first answers fail. */
const failingFirst = (count: number): Answer => {
  let left = count;
  return (request, answer, raw) => {
    left -= 1;
    if (left >= 0) failing(request, answer, raw);
    else answerChat(request, answer, raw);
  };
};
const cut: Answer = (_, answer) => {
  answer.writeHead(200, { 'content-type': 'text/event-stream' });
  answer.write(`${chatChunks(['Hello'])[0]}\n\n`);
  setImmediate(() => answer.destroy());
};
const denying = { input_guardrails: [{ 'default.contains': { words: ['hi'], operator: 'none' }, deny: true }] };
const denyingAfter = { output_guardrails: [{ 'default.regexMatch': { rule: 'never to be found' }, deny: true }] };
const twice = { strategy: { mode: 'fallback' }, targets: [{ provider: '@all' }, { provider: '@all' }] };

test('calls that fail, are cut, denied, left, asked again or answered from a cache leave nothing reserved', async () => {
  const kinds: readonly (readonly [what: string, answer: Answer, work: () => Promise<unknown>])[] = [
    ['answered', answerChat, () => read(call({}))],
    ['streamed', answerChat, () => read(call({}, { stream: true }))],
    ['failed', failing, () => read(call({}))],
    ['asked again', failingFirst(2), () => read(call({ retry: { attempts: 3, on_status_codes: [500] } }))],
    ['fallen back', failingFirst(1), () => read(call(twice))],
    ['failed by both', failing, () => read(call(twice))],
    ['cut by the provider', cut, () => read(call({}, { stream: true }))],
    ['denied before', answerChat, () => read(call(denying))],
    ['denied after', answerChat, () => read(call(denyingAfter))],
    ['not valid', answerChat, () => read(call({}, { messages: 'no' }))],
    ['cached', answerChat, async () => [await read(call({ cache: { mode: 'simple' } })), await read(call({ cache: { mode: 'simple' } }))]],
    ['embedded', (_, answer) => sendJson(answer, 200, { object: 'list', data: [], model: 'e', usage: { prompt_tokens: 3, total_tokens: 3 } }), () => read(call({}, { input: 'hi', messages: undefined, max_tokens: undefined }, undefined, 'embeddings'))],
    ['an image', (_, answer) => sendJson(answer, 200, { created: 1, data: [{ b64_json: 'AA==' }] }), () => read(call({}, { prompt: 'hi', messages: undefined, max_tokens: undefined }, undefined, 'images/generations'))],
    ['left by the client', (_, answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      answer.write(`${chatChunks(['Hello'])[0]}\n\n`);
    }, async () => {
      const leaving = new AbortController();
      const response = await call({}, { stream: true }, leaving.signal);
      await response.body?.getReader().read();
      leaving.abort();
    }],
    ['answered in the end', answerChat, () => read(call({}))],
  ];
  const answers: string[] = [];
  for (const [what, answer, work] of kinds) {
    upstream.answer = answer;
    answers.push(`${what} ${String(await work())}`);
  }
  upstream.answer = answerChat;
  await gateway.stop(5_000);

  const settings = readSettings({ ...stored.environment, GATEWAY_PORT: '0', GATEWAY_THREADS: '1' }, gateway.dataDir);
  const services = new ThreadServices({ ...settings, dataDir: gateway.dataDir });
  const ledger = new Ledger(await (await services.openStorage()).open(spendStore), { now: Date.now, startOf: () => 0 });
  const found = new Map<string, number>();
  for await (const { key: counter, amount } of ledger.sums()) found.set(counter, (found.get(counter) ?? 0) + amount);
  let open = 0;
  for await (const _ of ledger.openCalls(null)) open += 1;
  let estimated = 0;
  const amounts: string[] = [];
  for await (const { isEstimated, charges } of ledger.calls()) {
    estimated += isEstimated ? 1 : 0;
    amounts.push(charges.map(({ amount }) => amount).join());
  }
  await services.close();
  const said = JSON.stringify({ answers, found: [...found], amounts, estimated });
  assert.equal(open, 0, said);
  assert.equal(found.size, 5, said);
  const [first = 0, ...others] = found.values();
  for (const other of others) assert.equal(other, first, said);
  assert.ok(first >= chatCompletion.usage.total_tokens * 5 && first < 5_000, `no reservation is left: ${said}`);
});
