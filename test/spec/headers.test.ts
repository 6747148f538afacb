// The gateway's own headers of an answer: which, how often, and whether they are true. Read from the raw list, where repeats show.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import { deadAddress } from '../support/dead-address.js';
import { apiKey, routed, startTestGateway } from '../support/gateway.js';
import { quickest } from '../support/quickest.js';
import { answerChat, answerStream, sendJson, startUpstream, type Answer } from '../support/upstream.js';

const upstream = await startUpstream();
const gateway = await startTestGateway();
const gone = await deadAddress();

const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const spanShape = /^[0-9a-f]{16}$/;

interface Got {
  readonly status: number;
  readonly body: string;
  /** Every value of a header, in order. */
  all(name: string): string[];
  /** The value of a header that is there exactly once. */
  one(name: string): string;
  readonly names: readonly string[];
  readonly tookMs: number;
}

interface Sent { readonly path?: string; readonly method?: string; readonly body?: string }

function call(headers: Record<string, string>, { path = '/v1/chat/completions', method = 'POST', body = chat }: Sent = {}): Promise<Got> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: '127.0.0.1', port: gateway.port, method, path,
      headers: { 'content-type': 'application/json', ...(method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) }), ...headers },
    }, (response) => {
      const tookMs = performance.now() - startedAt;
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => { text += chunk; });
      response.on('error', reject);
      response.on('end', () => {
        const { rawHeaders } = response;
        const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
        const all = (name: string): string[] => names.flatMap((known, index) => (known === name ? [rawHeaders[index * 2 + 1] ?? ''] : []));
        resolve({
          status: response.statusCode ?? 0, body: text, names, all, tookMs,
          one: (name) => {
            const values = all(name);
            assert.equal(values.length, 1, `${name} is there ${values.length} times`);
            return values[0] ?? '';
          },
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(method === 'GET' ? undefined : body);
  });
}

const always = ['x-gateway-trace-id', 'x-gateway-span-id', 'x-gateway-cache-status', 'x-gateway-retry-attempt-count', 'server-timing', 'content-type'];
const ofTarget = ['x-gateway-provider', 'x-gateway-last-used-option-index'];

/** Each name once, and of the gateway's own exactly these. */
function assertOnce(got: Got, hasTarget: boolean): void {
  for (const name of new Set(got.names)) assert.equal(got.all(name).length, 1, `${name} is there ${got.all(name).length} times`);
  for (const name of always) got.one(name);
  const expected = [...always.filter((name) => name.startsWith('x-gateway-')), ...(hasTarget ? ofTarget : [])];
  assert.deepEqual(got.names.filter((name) => name.startsWith('x-gateway-')).sort(), expected.sort());
}

const failWith = (status: number): Answer => (_, response) => sendJson(response, status, { error: { message: 'no' } });

describe('the gateway\'s headers', () => {
  it('are each there once on a plain answer', async () => {
    upstream.answer = answerChat;
    const got = await call(routed(upstream.url));
    assert.equal(got.status, 200);
    assertOnce(got, true);
    assert.equal(got.one('x-gateway-provider'), 'openai');
    assert.equal(got.one('x-gateway-last-used-option-index'), 'config');
    assert.equal(got.one('x-gateway-cache-status'), 'DISABLED');
    assert.equal(got.one('x-gateway-retry-attempt-count'), '0');
    assert.equal(got.one('content-length'), String(Buffer.byteLength(got.body)));
  });

  it('are each there once on a stream', async () => {
    upstream.answer = answerStream(['a', 'b']);
    const got = await call(routed(upstream.url), { body: JSON.stringify({ ...JSON.parse(chat), stream: true }) });
    assert.equal(got.status, 200);
    assertOnce(got, true);
    assert.equal(got.one('content-type'), 'text/event-stream');
    assert.ok(got.body.endsWith('data: [DONE]\n\n'));
  });

  it('are each there once on an error of the provider', async () => {
    for (const status of [400, 429, 500]) {
      upstream.answer = failWith(status);
      const got = await call(routed(upstream.url));
      assert.equal(got.status, status);
      assertOnce(got, true);
    }
  });

  it('are each there once on the proxy', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, {});
    const got = await call(routed(upstream.url), { path: '/v1/proxy/things', method: 'GET' });
    assert.equal(got.status, 200);
    assertOnce(got, true);
  });

  it('are each there once on an error of the gateway that has no target', async () => {
    const calls: [Record<string, string>, number][] = [
      [{}, 401], [{ 'x-gateway-api-key': 'wrong-key-that-nobody-has' }, 401], [{ 'x-gateway-api-key': apiKey }, 400],
      [{ 'x-gateway-api-key': apiKey, 'x-gateway-config': '{' }, 400], [{ 'x-gateway-api-key': apiKey, 'x-gateway-provider': 'no-such' }, 400],
    ];
    for (const [headers, status] of calls) {
      const got = await call(headers);
      assert.equal(got.status, status);
      assertOnce(got, false);
      assert.equal(got.one('content-type'), 'application/json');
    }
    const faulty = await call(routed(upstream.url), { body: '{"model":' });
    assert.equal(faulty.status, 400);
    assertOnce(faulty, false);
  });

  it('are each there once on an error of the gateway about a target, with the target named', async () => {
    const dead = await call(routed(gone.url, { retry: { attempts: 1 } }));
    assert.equal(dead.status, 502);
    assertOnce(dead, true);
    assert.equal(dead.one('x-gateway-retry-attempt-count'), '-1');
    upstream.answer = () => {};
    const late = await call({ ...routed(upstream.url), 'x-gateway-request-timeout': '40' });
    assert.equal(late.status, 408);
    assertOnce(late, true);
    const lacking = await call(routed(upstream.url, { provider: 'recraft-ai' }));
    assert.equal(lacking.status, 400);
    assertOnce(lacking, true);
    assert.equal(lacking.one('x-gateway-provider'), 'recraft-ai');
  });

  it('are the gateway\'s, whatever the provider claims', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, {}, {
      'x-gateway-trace-id': 'forged', 'x-gateway-cache-status': 'HIT', 'x-gateway-retry-attempt-count': '7', 'x-gateway-last-used-option-index': 'forged', 'x-gateway-provider': 'forged',
    });
    const got = await call({ ...routed(upstream.url), 'x-gateway-trace-id': 'true-trace' });
    assertOnce(got, true);
    assert.equal(got.one('x-gateway-trace-id'), 'true-trace');
    assert.equal(got.one('x-gateway-cache-status'), 'DISABLED');
    assert.equal(got.one('x-gateway-provider'), 'openai');
  });
});

describe('the ids of a call', () => {
  it('are made when the client gives none, new ones for each call', async () => {
    upstream.answer = answerChat;
    const seen = new Set<string>();
    for (let index = 0; index < 20; index += 1) {
      const got = await call(routed(upstream.url));
      assert.match(got.one('x-gateway-trace-id'), uuidShape);
      assert.match(got.one('x-gateway-span-id'), spanShape);
      seen.add(got.one('x-gateway-trace-id')).add(got.one('x-gateway-span-id'));
    }
    assert.equal(seen.size, 40);
  });

  it('are the client\'s when it gives them, on answers and on errors', async () => {
    upstream.answer = answerChat;
    const ids = { 'x-gateway-trace-id': 'my trace/7', 'x-gateway-span-id': 'my-span', 'x-gateway-parent-span-id': 'my-parent' };
    for (const headers of [routed(upstream.url), {}, { 'x-gateway-api-key': apiKey }]) {
      const got = await call({ ...headers, ...ids });
      assert.equal(got.one('x-gateway-trace-id'), 'my trace/7');
      assert.equal(got.one('x-gateway-span-id'), 'my-span');
      assert.deepEqual(got.all('x-gateway-parent-span-id'), []);
    }
  });

  it('take the trace from traceparent, and a span of their own', async () => {
    upstream.answer = answerChat;
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const got = await call({ ...routed(upstream.url), traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
    assert.equal(got.one('x-gateway-trace-id'), traceId);
    assert.match(got.one('x-gateway-span-id'), spanShape);
    assert.notEqual(got.one('x-gateway-span-id'), '00f067aa0ba902b7');
    const own = await call({ ...routed(upstream.url), traceparent: `00-${traceId}-00f067aa0ba902b7-01`, 'x-gateway-trace-id': 'named' });
    assert.equal(own.one('x-gateway-trace-id'), 'named');
  });

  it('ignore a traceparent that is none', async () => {
    upstream.answer = answerChat;
    for (const traceparent of [
      '00-00000000000000000000000000000000-00f067aa0ba902b7-01', '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01', 'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01', '00-4bf92f35-00f067aa0ba902b7-01', 'nonsense', '',
    ]) {
      const got = await call({ ...routed(upstream.url), traceparent });
      assert.equal(got.status, 200);
      assert.match(got.one('x-gateway-trace-id'), uuidShape, traceparent);
    }
  });
});

describe('server-timing', () => {
  const read = (got: Got): { gatewayMs: number; upstreamMs: number; rest: string } => {
    const match = /^gateway;dur=(\d+(?:\.\d{1,3})?), upstream;dur=(\d+(?:\.\d{1,3})?)(.*)$/.exec(got.one('server-timing'));
    assert.ok(match, got.one('server-timing'));
    return { gatewayMs: Number(match[1]), upstreamMs: Number(match[2]), rest: match[3] ?? '' };
  };

  it('tells the wait for the provider from the gateway\'s own time', async () => {
    upstream.answer = (received, response, incoming) => { setTimeout(() => answerChat(received, response, incoming), 120); };
    const ownMs = await quickest(100, async () => {
      const got = await call(routed(upstream.url));
      const { gatewayMs, upstreamMs, rest } = read(got);
      assert.ok(upstreamMs >= 115, `${upstreamMs} ms for an answer that takes 120`);
      assert.ok(gatewayMs + upstreamMs <= got.tookMs + 1, `${gatewayMs} + ${upstreamMs} ms within ${got.tookMs} ms`);
      assert.equal(rest, '');
      return gatewayMs;
    });
    assert.ok(ownMs < 100, `${ownMs} ms of its own`);
  });

  it('adds up the waits of all attempts', async () => {
    let tries = 0;
    upstream.answer = (received, response, incoming) => {
      tries += 1;
      setTimeout(tries < 3 ? () => failWith(500)(received, response, incoming) : () => answerChat(received, response, incoming), 50);
    };
    const got = await call(routed(upstream.url, { retry: { attempts: 2 } }));
    assert.equal(got.one('x-gateway-retry-attempt-count'), '2');
    const { upstreamMs } = read(got);
    assert.ok(upstreamMs >= 140 && upstreamMs <= got.tookMs, `${upstreamMs} of ${got.tookMs} ms`);
  });

  it('keeps the provider\'s own entries behind the gateway\'s', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, {}, { 'server-timing': 'model;dur=5;desc="x"' });
    const got = await call(routed(upstream.url));
    assert.equal(read(got).rest, ', model;dur=5;desc="x"');
    assertOnce(got, true);
  });

  it('has no wait for a provider that was never asked', async () => {
    assert.equal(read(await call({})).upstreamMs, 0);
  });
});

describe('answers of the edge itself', () => {
  it('carry no headers of a call', async () => {
    for (const [path, method, status] of [['/health', 'GET', 200], ['/ready', 'GET', 200], ['/nowhere', 'GET', 404], ['/v1/things', 'PATCH', 405]] as const) {
      const got = await call({}, { path, method });
      assert.equal(got.status, status);
      assert.deepEqual(got.names.filter((name) => name.startsWith('x-gateway-')), []);
      assert.equal(got.one('content-type'), 'application/json');
    }
  });
});
