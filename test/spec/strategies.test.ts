// Strategies as a client sees them: which provider answers, in what order they are tried, and what the answer says about it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deadAddress } from '../support/dead-address.js';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { answerChat, sendJson, startUpstream, type Answer, type TestUpstream } from '../support/upstream.js';

const first = await startUpstream();
const second = await startUpstream();
const third = await startUpstream();
const all = [first, second, third];
const gateway = await startTestGateway();

/** Cuts each connection without an answer. None ever stands long enough to be reused, so each call shows here once. */
const breaking = await startUpstream((_, response) => { response.destroy(); });
const gone = await deadAddress();

const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
const target = (upstream: Pick<TestUpstream, 'url'>, more: Record<string, unknown> = {}): Record<string, unknown> =>
  ({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1`, ...more });
const group = (mode: string, targets: unknown[], strategy: Record<string, unknown> = {}): Record<string, unknown> => ({ strategy: { mode, ...strategy }, targets });

const answerWith = (status: number, body: unknown = { error: { message: `status ${status}` } }): Answer => (_, response) => sendJson(response, status, body);

function setAnswers(...answers: Answer[]): void {
  for (const [index, upstream] of all.entries()) {
    upstream.answer = answers[index] ?? answerChat;
    upstream.received.length = 0;
  }
}

interface Result { readonly status: number; readonly option: string | null; readonly body: string; readonly headers: Headers }

async function call(config: unknown, body = chat, headers: Record<string, string> = {}, path = '/v1/chat/completions'): Promise<Result> {
  const response = await fetch(gateway.url + path, {
    method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(config), ...headers }, body,
  });
  return { status: response.status, option: response.headers.get('x-gateway-last-used-option-index'), body: await response.text(), headers: response.headers };
}

const counts = (): number[] => all.map((upstream) => upstream.received.length);

describe('single', () => {
  it('uses the first target and no other, whatever it answers', async () => {
    setAnswers(answerWith(500));
    const result = await call(group('single', [target(first), target(second)]));
    assert.equal(result.status, 500);
    assert.equal(result.option, 'config.targets[0]');
    assert.deepEqual(counts(), [1, 0, 0]);
  });

  it('is what a config without a strategy means', async () => {
    setAnswers();
    const result = await call(target(second));
    assert.equal(result.status, 200);
    assert.equal(result.option, 'config');
    assert.deepEqual(counts(), [0, 1, 0]);
  });
});

describe('fallback', () => {
  it('stays with the first target while it is well', async () => {
    setAnswers();
    const result = await call(group('fallback', [target(first), target(second)]));
    assert.equal(result.option, 'config.targets[0]');
    assert.deepEqual(counts(), [1, 0, 0]);
  });

  it('tries the targets in their order until one answers with 2xx', async () => {
    for (const status of [400, 401, 404, 429, 500, 503, 302]) {
      setAnswers(answerWith(status), answerWith(status));
      const result = await call(group('fallback', [target(first), target(second), target(third)]));
      assert.equal(result.status, 200, `after ${status}`);
      assert.equal(result.option, 'config.targets[2]');
      assert.deepEqual(counts(), [1, 1, 1]);
    }
  });

  it('gives back the last answer as it is when all fail', async () => {
    setAnswers(answerWith(500), answerWith(503), (_, response) => {
      response.writeHead(422, { 'content-type': 'application/problem+json', 'x-reason': 'last' });
      response.end('{ "detail" : "1.0" }');
    });
    const result = await call(group('fallback', [target(first), target(second), target(third)]));
    assert.equal(result.status, 422);
    assert.equal(result.body, '{ "detail" : "1.0" }');
    assert.equal(result.headers.get('content-type'), 'application/problem+json');
    assert.equal(result.headers.get('x-reason'), 'last');
    assert.equal(result.option, 'config.targets[2]');
    assert.deepEqual(counts(), [1, 1, 1]);
  });

  it('moves on at the listed statuses only', async () => {
    const config = group('fallback', [target(first), target(second)], { on_status_codes: [429, 503] });
    for (const [status, expected] of [[429, 200], [503, 200], [500, 500], [404, 404]] as const) {
      setAnswers(answerWith(status));
      const result = await call(config);
      assert.equal(result.status, expected);
      assert.deepEqual(counts(), [1, expected === 200 ? 1 : 0, 0], `status ${status}`);
    }
  });

  it('may list a good status too', async () => {
    setAnswers(answerWith(200, { from: 'first' }), answerWith(200, { from: 'second' }));
    const result = await call(group('fallback', [target(first), target(second)], { on_status_codes: [200] }));
    assert.equal(result.body, '{"from":"second"}');
  });

  it('never moves on with an empty list, not even from a dead address', async () => {
    setAnswers(answerWith(500));
    const answered = await call(group('fallback', [target(first), target(second)], { on_status_codes: [] }));
    assert.equal(answered.status, 500);
    const dead = await call(group('fallback', [target(gone), target(second)], { on_status_codes: [] }));
    assert.equal(dead.status, 502);
    assert.equal(JSON.parse(dead.body).error.code, 'upstream_unreachable');
    assert.deepEqual(counts(), [1, 0, 0]);
  });

  it('moves on from a dead address and from a connection that breaks, whatever the list says', async () => {
    for (const strategy of [{}, { on_status_codes: [429] }]) {
      setAnswers();
      breaking.received.length = 0;
      const result = await call(group('fallback', [target(gone), target(breaking), target(second)], strategy));
      assert.equal(result.status, 200);
      assert.equal(result.option, 'config.targets[2]');
      assert.equal(breaking.received.length, 1);
      assert.deepEqual(counts(), [0, 1, 0]);
    }
  });

  it('moves on from a target whose provider does not have the endpoint, and from one without a key', async () => {
    setAnswers();
    const lacking = await call(group('fallback', [target(first, { provider: 'recraft-ai' }), target(second)]));
    assert.equal(lacking.status, 200, lacking.body);
    assert.equal(lacking.option, 'config.targets[1]');
    assert.equal(lacking.headers.get('x-gateway-provider'), 'openai');
    const keyless = await call(group('fallback', [{ passthrough: true, provider: 'groq' }, target(third)]));
    assert.equal(keyless.status, 200, keyless.body);
    assert.equal(keyless.option, 'config.targets[1]');
    assert.deepEqual(counts(), [0, 1, 1]);
  });

  it('says why when no target has the endpoint', async () => {
    setAnswers();
    const result = await call(group('fallback', [target(first, { provider: 'recraft-ai' }), target(second, { provider: 'jina' })]));
    assert.equal(result.status, 400);
    const { error } = JSON.parse(result.body);
    assert.equal(error.code, 'endpoint_unsupported');
    assert.match(error.message, /jina/);
    assert.deepEqual(counts(), [0, 0, 0]);
  });

  it('sends each target its own key', async () => {
    setAnswers(answerWith(500), answerWith(500));
    await call(group('fallback', [target(first, { api_key: 'sk-1' }), target(second, { api_key: 'sk-2' }), target(third, { api_key: 'sk-3' })]));
    assert.deepEqual(all.map((upstream) => upstream.received[0]?.headers.authorization), ['Bearer sk-1', 'Bearer sk-2', 'Bearer sk-3']);
  });

  it('works for a body that is not JSON on the proxy, sent whole to each target', async () => {
    setAnswers(answerWith(500), answerWith(200, { ok: true }));
    const result = await call(group('fallback', [target(first), target(second)]), 'a\u0001b\n', { 'content-type': 'application/octet-stream' }, '/v1/proxy/upload');
    assert.equal(result.status, 200);
    for (const upstream of [first, second]) assert.equal(upstream.received[0]?.body.toString(), 'a\u0001b\n');
  });
});

describe('loadbalance', () => {
  it('spreads calls by weight and never uses a weight of 0', async () => {
    setAnswers();
    const config = group('loadbalance', [target(first, { weight: 1 }), target(second, { weight: 0 }), target(third, { weight: 3 })]);
    const calls = 240;
    const options = new Set<string | null>();
    for (let done = 0; done < calls; done += 20) {
      for (const result of await Promise.all(Array.from({ length: 20 }, () => call(config)))) options.add(result.option);
    }
    const [one = 0, two = 0, three = 0] = counts();
    assert.equal(two, 0);
    assert.equal(one + three, calls);
    // 60 expected, a standard deviation of 6.7: this is six of them to either side.
    assert.ok(one > 20 && one < 100, `${one} of ${calls} calls went to the target with a quarter of the weight`);
    assert.deepEqual([...options].sort(), ['config.targets[0]', 'config.targets[2]']);
  });

  it('counts a target without a weight as 1', async () => {
    setAnswers();
    const config = group('loadbalance', [target(first), target(second)]);
    for (let done = 0; done < 60; done += 20) await Promise.all(Array.from({ length: 20 }, () => call(config)));
    // Either would be left out once in 2^59 runs.
    assert.ok(counts().slice(0, 2).every((count) => count > 0), String(counts()));
  });

  it('answers with what the drawn target says: no other is tried', async () => {
    setAnswers(answerWith(503), answerWith(503));
    const result = await call(group('loadbalance', [target(first), target(second)]));
    assert.equal(result.status, 503);
    assert.equal(counts().reduce((sum, count) => sum + count), 1);
  });

  it('keeps a user on one target by metadata, and users apart', async () => {
    setAnswers();
    // A year: a user changes targets at an instant of their own once in that time.
    const config = group('loadbalance', [target(first), target(second)], { sticky: { enabled: true, hash_fields: ['metadata.user'], ttl: 31_536_000 } });
    const used = new Map<string, Set<string | null>>();
    for (let user = 0; user < 30; user += 1) {
      const metadata = JSON.stringify({ user: `user ${user}`, other: Math.random() });
      const results = await Promise.all(Array.from({ length: 4 }, () => call(config, chat, { 'x-gateway-metadata': metadata })));
      used.set(metadata, new Set(results.map((result) => result.option)));
    }
    for (const [metadata, options] of used) assert.equal(options.size, 1, metadata);
    // All 30 on one target happens once in 2^29 runs.
    assert.equal(new Set([...used.values()].flatMap((options) => [...options])).size, 2);
  });

  it('keeps a user on one target by a member of the body', async () => {
    setAnswers();
    const config = group('loadbalance', [target(first), target(second)], { sticky: { enabled: true, hash_fields: ['params.user'], ttl: 31_536_000 } });
    const body = JSON.stringify({ ...JSON.parse(chat), user: 'u-1' });
    const results = await Promise.all(Array.from({ length: 12 }, () => call(config, body)));
    assert.equal(new Set(results.map((result) => result.option)).size, 1);
  });
});

describe('conditional', () => {
  const named = [target(first, { name: 'one' }), target(second, { name: 'two' }), target(third, { name: 'three' })];
  const config = group('conditional', named, {
    conditions: [
      { query: { 'metadata.plan': { $eq: 'paid' } }, then: 'two' },
      { query: { $and: [{ 'params.temperature': { $gte: 1 } }, { 'params.model': { $regex: '^big-' } }] }, then: 'three' },
      { query: { 'url.pathname': { $regex: '/embeddings$' } }, then: 'three' },
    ],
    default: 'one',
  });
  const route = async (body: Record<string, unknown>, headers: Record<string, string> = {}, path?: string): Promise<string | null> => {
    const result = await call(config, JSON.stringify({ ...JSON.parse(chat), ...body }), headers, path);
    assert.equal(result.status, 200, result.body);
    return result.option;
  };

  it('chooses by metadata', async () => {
    setAnswers();
    assert.equal(await route({}, { 'x-gateway-metadata': '{"plan":"paid"}' }), 'config.targets[1]');
    assert.equal(await route({}, { 'x-gateway-metadata': '{"plan":"free"}' }), 'config.targets[0]');
  });

  it('chooses by parameters of the body', async () => {
    setAnswers();
    assert.equal(await route({ model: 'big-1', temperature: 1 }), 'config.targets[2]');
    assert.equal(await route({ model: 'big-1', temperature: 0.9 }), 'config.targets[0]');
    assert.equal(await route({ model: 'small', temperature: 1 }), 'config.targets[0]');
  });

  it('chooses by the path', async () => {
    setAnswers();
    assert.equal(await route({ input: 'x' }, {}, '/v1/embeddings'), 'config.targets[2]');
    assert.deepEqual(counts(), [0, 0, 1]);
  });

  it('takes the first condition that holds, and the default when none does', async () => {
    setAnswers();
    assert.equal(await route({ model: 'big-1', temperature: 1 }, { 'x-gateway-metadata': '{"plan":"paid"}' }), 'config.targets[1]');
    assert.equal(await route({}), 'config.targets[0]');
  });

  it('answers with what the chosen target says', async () => {
    setAnswers(answerWith(500));
    const result = await call(config);
    assert.equal(result.status, 500);
    assert.deepEqual(counts(), [1, 0, 0]);
  });

  it('refuses metadata that is not a JSON object, and names the header', async () => {
    for (const metadata of ['plan=paid', '["paid"]', '7', 'null']) {
      setAnswers();
      const result = await call(config, chat, { 'x-gateway-metadata': metadata });
      assert.equal(result.status, 400);
      assert.equal(JSON.parse(result.body).error.param, 'x-gateway-metadata');
      assert.deepEqual(counts(), [0, 0, 0]);
    }
  });
});

describe('strategies inside one another', () => {
  it('tell by the index which leaf answered', async () => {
    setAnswers(answerWith(500), answerChat);
    const result = await call(group('fallback', [group('fallback', [target(first), target(second)]), target(third)]));
    assert.equal(result.option, 'config.targets[0].targets[1]');
    assert.deepEqual(counts(), [1, 1, 0]);
  });

  it('go on with the outer one when the inner one has tried all', async () => {
    setAnswers(answerWith(500), answerWith(502));
    const result = await call(group('fallback', [group('fallback', [target(first), target(second)]), group('loadbalance', [target(first, { weight: 0 }), target(third)])]));
    assert.equal(result.status, 200);
    assert.equal(result.option, 'config.targets[1].targets[1]');
    assert.deepEqual(counts(), [1, 1, 1]);
  });

  it('end with the last answer when nobody is left', async () => {
    setAnswers(answerWith(500), answerWith(429), answerWith(404));
    const result = await call(group('fallback', [group('single', [group('fallback', [target(first), target(second)])]), target(third)]));
    assert.equal(result.status, 404);
    assert.equal(result.option, 'config.targets[1]');
    assert.deepEqual(counts(), [1, 1, 1]);
  });

  it('each follow their own list of statuses', async () => {
    setAnswers(answerWith(429), answerWith(400));
    // The inner one moves on after 429 only, so the 400 ends it; the outer one takes any failure.
    const result = await call(group('fallback', [group('fallback', [target(first), target(second), target(second)], { on_status_codes: [429] }), target(third)]));
    assert.equal(result.status, 200);
    assert.equal(result.option, 'config.targets[1]');
    assert.deepEqual(counts(), [1, 1, 1]);
  });
});
