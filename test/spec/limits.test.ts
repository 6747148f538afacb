import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { journalFolder } from '../../core/limits/journal-layout.js';
import { ratePolicies } from '../../core/storage/tables/policies.js';
import { workspaces } from '../../core/storage/tables/workspaces.js';
import type { ApiKeyRow } from '../../core/storage/tables/api-keys.js';
import { adminKey, startTestGateway } from '../support/gateway.js';
import { withinOneDay } from '../support/one-day.js';
import { putRows, ratePolicyRow } from '../support/rows.js';
import { storedData } from '../support/stored.js';
import { answerChat, chatChunks, chatCompletion, sendJson, startUpstream, type Answer } from '../support/upstream.js';

type Rates = ApiKeyRow['rateLimits'];

const stored = await storedData();
const { rows } = stored;
const upstream = await startUpstream();
const keys: string[] = [];
const idOf = (key: string): string => `00000000-0000-4000-8000-00000000${key.slice(-4)}`;
/** A key of its own for a test. */
async function makeKey(changes: Partial<ApiKeyRow>): Promise<string> {
  const key = `limited-key-of-test-${String(keys.length).padStart(4, '0')}`;
  keys.push(key);
  await rows.key(key, { id: idOf(key), scopes: ['completions.write', 'files.read', 'batches.read', 'batches.list', 'files.list', 'batches.create'], ...changes });
  return key;
}
const perDay = (value: number, type: 'requests' | 'tokens' = 'requests'): Rates => [{ type, unit: 'rpd', value }];

await rows.integration('main', { key: 'sk-1' }, { customHost: `${upstream.url}/v1` });
await rows.integration('shared', { key: 'sk-2' }, { customHost: `${upstream.url}/v1`, globalAccess: { enabled: true, usage_limits: null, rate_limits: perDay(2) } });
await rows.provider('free', 'main');
await rows.provider('two', 'main', { rateLimits: perDay(2) });
await rows.provider('three', 'main', { rateLimits: perDay(3) });
await rows.provider('off', 'main', { rateLimits: perDay(0) });
await rows.provider('by-access', 'shared');
await rows.provider('tokens', 'main', { rateLimits: perDay(1_000, 'tokens') });
const [workspace] = await Promise.all([rows.repository.get(workspaces, rows.workspaceId)]);
assert.ok(workspace !== undefined);
const policies = [
  ratePolicyRow('of-user', { organisationId: rows.organisationId, workspaceId: rows.workspaceId, conditions: [{ key: 'metadata.plan', value: 'small' }], groupBy: [{ key: 'metadata._user' }], unit: 'rpd', value: 2 }),
  ratePolicyRow('of-model', { organisationId: rows.organisationId, workspaceId: rows.workspaceId, conditions: [{ key: 'model', value: 'rare-model' }], groupBy: [{ key: 'api_key' }], unit: 'rpd', value: 1 }),
  ratePolicyRow('of-provider', { organisationId: rows.organisationId, workspaceId: rows.workspaceId, conditions: [{ key: 'virtual_key', value: 'three' }, { key: 'metadata.plan', value: 'three' }], groupBy: [{ key: 'api_key' }], unit: 'rpd', value: 1 }),
];
await putRows(rows.repository, ratePolicies, ...policies);
const limited = {
  requests: await makeKey({ rateLimits: perDay(3) }),
  off: await makeKey({ rateLimits: perDay(0) }),
  two: await makeKey({ rateLimits: [{ type: 'requests', unit: 'rpd', value: 5 }, { type: 'requests', unit: 'rpw', value: 2 }] }),
  backwards: await makeKey({ rateLimits: perDay(1) }),
  fallback: await makeKey({ rateLimits: perDay(10) }),
  retried: await makeKey({ rateLimits: perDay(10) }),
  tokens: await makeKey({ rateLimits: perDay(1_000, 'tokens') }),
  stream: await makeKey({ rateLimits: perDay(100_000, 'tokens') }),
  aborted: await makeKey({ rateLimits: perDay(100_000, 'tokens') }),
  failed: await makeKey({ rateLimits: perDay(100_000, 'tokens') }),
  cached: await makeKey({ rateLimits: [...perDay(10), ...perDay(100_000, 'tokens')] }),
  raised: await makeKey({ rateLimits: perDay(1) }),
  budget: await makeKey({ usageLimits: { type: 'tokens', credit_limit: 1_000 } }),
  messages: await makeKey({ rateLimits: [...perDay(3), ...perDay(1_000, 'tokens')] }),
  plain: await makeKey({}),
};
const gateway = await startTestGateway(stored.environment);
await withinOneDay();

interface Call {
  readonly key: string;
  readonly provider?: string;
  readonly config?: object;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}
const call = ({ key, provider = 'free', config, body = {}, headers = {} }: Call): Promise<Response> => fetch(`${gateway.url}/v1/chat/completions`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, ...(config === undefined ? { 'x-gateway-provider': `@${provider}` } : { 'x-gateway-config': JSON.stringify(config) }), ...headers },
  body: JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }], ...body }),
});
async function status(given: Call): Promise<number> {
  const response = await call(given);
  await response.text();
  return response.status;
}
const statuses = async (given: Call, times: number): Promise<number[]> => {
  const found: number[] = [];
  for (let index = 0; index < times; index += 1) found.push(await status(given));
  return found;
};
async function left(given: Call, counted: 'requests' | 'tokens'): Promise<number> {
  const response = await call(given);
  await response.text();
  return Number(response.headers.get(`x-ratelimit-remaining-${counted}`));
}
async function during<T>(answer: Answer, work: () => Promise<T>): Promise<T> {
  upstream.answer = answer;
  try {
    return await work();
  } finally {
    upstream.answer = answerChat;
  }
}

describe('rate limits of requests', () => {
  test('of a key let as many through as they say, tell what is left, and answer 429 with when to come again', async () => {
    const response = await call({ key: limited.requests });
    assert.equal(response.status, 200);
    assert.deepEqual(['limit', 'remaining'].map((name) => response.headers.get(`x-ratelimit-${name}-requests`)), ['3', '2']);
    assert.match(response.headers.get('x-ratelimit-reset-requests') ?? '', /^(?:(?:(?:2[0-4]|1?\d)h)?[1-5]?\dm)?[1-5]?\ds$/);
    assert.deepEqual(await statuses({ key: limited.requests }, 3), [200, 200, 429]);
    const sent = upstream.received.length;
    const refused = await call({ key: limited.requests });
    const { error } = await refused.json() as { error: { type: string; code: string; message: string } };
    assert.equal(upstream.received.length, sent, 'what is refused is not sent');
    assert.deepEqual([refused.status, error.type, error.code], [429, 'rate_limit_exceeded', 'key_rate_limited']);
    assert.match(error.message, /3 requests a day, and 0 are left/);
    const after = Number(refused.headers.get('retry-after'));
    assert.ok(after >= 1 && after <= 86_400);
    assert.equal(refused.headers.get('x-ratelimit-remaining-requests'), '0');
  });

  test('of 0 refuse everything, and calls without limits hear of none', async () => {
    assert.equal(await status({ key: limited.off }), 429);
    const response = await call({ key: limited.plain });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('x-ratelimit-limit-requests'), null);
  });

  test('of a provider tell their own in the place of what its API says', async () => {
    const response = await during((_, answer) => sendJson(answer, 200, chatCompletion, { 'x-ratelimit-remaining-tokens': '7', 'x-ratelimit-limit-requests': '9' }), () => call({ key: limited.plain, provider: 'two' }));
    assert.equal(response.headers.get('x-ratelimit-limit-requests'), '2');
    assert.equal(response.headers.get('x-ratelimit-remaining-tokens'), null);
    assert.deepEqual(await statuses({ key: limited.plain, provider: 'two' }, 2), [200, 429]);
    const { error } = await (await call({ key: limited.plain, provider: 'two' })).json() as { error: { code: string } };
    assert.equal(error.code, 'provider_rate_limited');
  });

  test('on the messages endpoint are told as its clients read them as well, in the place of what its API says', async () => {
    const its = { 'anthropic-ratelimit-requests-remaining': '99', 'anthropic-ratelimit-input-tokens-limit': '7', 'anthropic-version': '1' };
    const response = await during((_, answer) => sendJson(answer, 200, chatCompletion, its), () => fetch(`${gateway.url}/v1/messages`, {
      method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': limited.messages, 'x-gateway-provider': '@free' },
      body: JSON.stringify({ model: 'gpt-test', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }),
    }));
    await response.text();
    assert.equal(response.status, 200);
    const told = Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('anthropic-')));
    const { 'anthropic-ratelimit-requests-reset': resets = '', 'anthropic-ratelimit-tokens-reset': tokensReset, 'anthropic-ratelimit-tokens-remaining': tokensLeft, ...others } = told;
    assert.deepEqual(others, { 'anthropic-ratelimit-requests-limit': '3', 'anthropic-ratelimit-requests-remaining': '2', 'anthropic-ratelimit-tokens-limit': '1000', 'anthropic-version': '1' });
    assert.match(resets, /^\d{4}-\d\d-\d\dT00:00:00Z$/);
    assert.ok(Date.parse(resets) > Date.now());
    assert.equal(tokensReset, resets);
    assert.deepEqual([response.headers.get('x-ratelimit-remaining-requests'), response.headers.get('x-ratelimit-remaining-tokens')], ['2', tokensLeft]);
  });

  test('the tightest of several holds, and is told', async () => {
    const response = await call({ key: limited.two });
    assert.equal(response.headers.get('x-ratelimit-limit-requests'), '2');
    assert.deepEqual(await statuses({ key: limited.two }, 2), [200, 429]);
    assert.match(await (await call({ key: limited.two })).text(), /2 requests a week/);
  });

  test('of an integration hold in each workspace', async () => {
    assert.deepEqual(await statuses({ key: limited.plain, provider: 'by-access' }, 3), [200, 200, 429]);
    assert.match(await (await call({ key: limited.plain, provider: 'by-access' })).text(), /integration_rate_limited/);
  });

  test('what was taken before one refuses is given back', async () => {
    assert.equal(await status({ key: limited.backwards, provider: 'off' }), 429);
    assert.equal(await status({ key: limited.backwards }), 200);
    assert.equal(await status({ key: limited.backwards }), 429);
  });

  test('a target that is refused by its provider is passed over, and counts for nothing; a key ends the call', async () => {
    const config = { strategy: { mode: 'fallback' }, targets: [{ provider: '@off' }, { provider: '@free' }] };
    const response = await call({ key: limited.fallback, config });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('x-gateway-last-used-option-index'), 'config.targets[1]');
    assert.equal(await left({ key: limited.fallback, config }, 'requests'), 8, 'one for each call, however many targets');
    assert.equal(await status({ key: limited.off, config }), 429);
    assert.equal(await status({ key: limited.plain, config: { strategy: { mode: 'fallback' }, targets: [{ provider: '@off' }, { provider: '@off' }] } }), 429);
  });

  test('a target that is asked again takes nothing anew', async () => {
    let asked = 0;
    const seen = await during((received, response, request) => {
      asked += 1;
      if (asked < 3) sendJson(response, 500, { error: { message: 'busy' } });
      else answerChat(received, response, request);
    }, () => left({ key: limited.retried, config: { provider: '@three', retry: { attempts: 3, on_status_codes: [500] } } }, 'requests'));
    assert.equal(asked, 3);
    assert.equal(seen, 2, 'of the three of the provider');
  });

  test('of a policy count apart for each value that it groups by', async () => {
    const small = (user: string): Call => ({ key: limited.plain, headers: { 'x-gateway-metadata': JSON.stringify({ plan: 'small', _user: user }) } });
    assert.deepEqual(await statuses(small('ann'), 3), [200, 200, 429]);
    assert.deepEqual(await statuses(small('bob'), 3), [200, 200, 429]);
    assert.match(await (await call(small('bob'))).text(), /of-user for metadata._user:bob.*policy_rate_limited/);
    assert.deepEqual(await statuses({ key: limited.plain, body: { model: 'rare-model' } }, 2), [200, 429]);
  });

  test('a policy about a provider lets the call go on to another one', async () => {
    const config = { strategy: { mode: 'fallback' }, targets: [{ provider: '@three' }, { provider: '@free' }] };
    const headers = { 'x-gateway-metadata': '{"plan":"three"}' };
    const used: (string | null)[] = [];
    for (let index = 0; index < 2; index += 1) used.push((await call({ key: limited.plain, config, headers })).headers.get('x-gateway-last-used-option-index'));
    assert.deepEqual(used, ['config.targets[0]', 'config.targets[1]']);
  });

  test('who looks at files and batches does so for nothing', async () => {
    for (const path of ['/v1/files', '/v1/batches']) {
      const response = await fetch(`${gateway.url}${path}`, { headers: { 'x-gateway-api-key': limited.off, 'x-gateway-provider': '@off' } });
      assert.equal(response.status, 200, `${path}: ${await response.text()}`);
    }
  });

  test('a limit that is raised is open at once', async () => {
    assert.deepEqual(await statuses({ key: limited.raised }, 2), [200, 429]);
    const raised = await fetch(`${gateway.url}/v1/api-keys/${idOf(limited.raised)}`, {
      method: 'PUT', headers: { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' }, body: JSON.stringify({ rate_limits: perDay(2) }),
    });
    assert.equal(raised.status, 200, await raised.text());
    assert.deepEqual(await statuses({ key: limited.raised }, 2), [200, 429]);
  });
});

describe('limits of tokens', () => {
  const wait = async (check: () => Promise<boolean>): Promise<void> => {
    for (const byMs = performance.now() + 60_000; performance.now() < byMs;) if (await check()) return;
    assert.fail('never settled');
  };

  test('reserve what a call may use, and are settled to what it used', async () => {
    // 12 tokens each; without max_tokens as much is reserved as is left.
    assert.equal(await left({ key: limited.tokens }, 'tokens'), 0);
    const response = await call({ key: limited.tokens, body: { max_tokens: 100 } });
    await response.text();
    const input = Math.ceil(JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 }).length / 4);
    assert.equal(Number(response.headers.get('x-ratelimit-remaining-tokens')), 1_000 - 12 - input - 100);
    const refused = await call({ key: limited.tokens, body: { max_tokens: 990 } });
    assert.match(await refused.text(), /key_rate_limited/);
    assert.equal(refused.headers.get('x-ratelimit-remaining-tokens'), String(1_000 - 24));
  });

  test('of streams are settled by the usage that is told, though the client did not ask for it', async () => {
    await (await call({ key: limited.stream, body: { stream: true, max_tokens: 50 } })).text();
    const response = await during((_, answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      answer.end(`${chatChunks(['a', 'b']).join('\n\n')}\n\n`);
    }, () => call({ key: limited.stream, body: { stream: true, max_tokens: 50 } }));
    await response.text();
    const seen = await left({ key: limited.stream, body: { max_tokens: 1 } }, 'tokens');
    assert.ok(seen > 100_000 - 100 && seen < 100_000 - 12, String(seen));
  });

  test('of streams that the client leaves count what was delivered', async () => {
    const words = Array.from({ length: 400 }, (_, index) => `word${index}`);
    await during((_, answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      // All but the end.
      answer.write(`${chatChunks(words).slice(0, -3).join('\n\n')}\n\n`);
    }, async () => {
      const leaving = new AbortController();
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST', signal: leaving.signal, headers: { 'content-type': 'application/json', 'x-gateway-api-key': limited.aborted, 'x-gateway-provider': '@free' },
        body: JSON.stringify({ model: 'gpt-test', messages: [], stream: true, max_tokens: 50 }),
      });
      const reader = response.body!.getReader();
      let bytes = 0;
      while (bytes < 40_000) bytes += (await reader.read()).value?.length ?? 40_000;
      leaving.abort();
      await reader.closed.catch(() => undefined);
    });
    let seen = 0;
    await wait(async () => {
      seen = 100_000 - await left({ key: limited.aborted, body: { max_tokens: 1 } }, 'tokens');
      return seen > 200;
    });
    assert.ok(seen < 2_500, `${seen} of some 400 to 800`);
  });

  test('give back everything when the provider fails', async () => {
    await during((_, answer) => sendJson(answer, 500, { error: { message: 'no' } }), () => status({ key: limited.failed, body: { max_tokens: 5_000 } }));
    const seen = await left({ key: limited.failed, body: { max_tokens: 1 } }, 'tokens');
    assert.ok(seen > 99_900, String(seen));
  });

  test('cached answers are requests, and no tokens', async () => {
    const given: Call = { key: limited.cached, config: { provider: '@free', cache: { mode: 'simple' } }, body: { max_tokens: 10, seed: 42 } };
    await statuses(given, 3);
    const response = await call(given);
    await response.text();
    assert.equal(response.headers.get('x-gateway-cache-status'), 'HIT');
    assert.equal(response.headers.get('x-ratelimit-remaining-requests'), '6');
    assert.ok(Number(response.headers.get('x-ratelimit-remaining-tokens')) > 100_000 - 12 - 60);
  });

  test('of a target that was left count what its answer used', async () => {
    let asked = 0;
    const config = {
      strategy: { mode: 'fallback', on_status_codes: [446] },
      targets: [{ provider: '@tokens', output_guardrails: [{ 'default.contains': { words: ['there'], operator: 'none' }, deny: true }] }, { provider: '@free' }],
    };
    const response = await during((received, answer, request) => {
      asked += 1;
      if (asked === 1) answerChat(received, answer, request);
      else sendJson(answer, 200, { ...chatCompletion, choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] });
    }, () => call({ key: limited.plain, config, body: { max_tokens: 10 } }));
    assert.equal(response.status, 200, await response.text());
    assert.equal(asked, 2);
    const seen = await left({ key: limited.plain, provider: 'tokens', body: { max_tokens: 1 } }, 'tokens');
    assert.ok(seen <= 1_000 - 12 - 1 && seen > 900, String(seen));
  });
});

describe('budgets', () => {
  test('of tokens answer 412 when they are used up, and open when they are raised', async () => {
    const use = (tokens: number): Answer => (_, response) => sendJson(response, 200, { ...chatCompletion, usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens } });
    assert.deepEqual(await during(use(990), () => statuses({ key: limited.budget, body: { max_tokens: 1 } }, 1)), [200]);
    const refused = await call({ key: limited.budget, body: { max_tokens: 1 } });
    const { error } = await refused.json() as { error: { type: string; code: string; message: string } };
    assert.deepEqual([refused.status, error.type, error.code], [412, 'usage_limit_exceeded', 'key_budget_used']);
    assert.match(error.message, /may use 1000 tokens, and 10 are left/);
    assert.equal(refused.headers.get('retry-after'), null);
    const written = readdirSync(join(gateway.dataDir, journalFolder));
    assert.ok(written.length > 0, 'what budgets spend is written down');
    const raised = await fetch(`${gateway.url}/v1/api-keys/${idOf(limited.budget)}`, {
      method: 'PUT', headers: { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' }, body: JSON.stringify({ usage_limits: { type: 'tokens', credit_limit: 2_000 } }),
    });
    assert.equal(raised.status, 200, await raised.text());
    assert.equal(await status({ key: limited.budget, body: { max_tokens: 1 } }), 200);
  });
});
