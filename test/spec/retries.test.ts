// Trying again: how often, after which answers, how long later, and with what. Times are taken where the attempts arrive.

import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { deadAddress } from '../support/dead-address.js';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { answerChat, sendJson, startUpstream, type Answer, type TestUpstream } from '../support/upstream.js';
import { openWire } from '../support/wire.js';

const upstream = await startUpstream();
const other = await startUpstream();
const gateway = await startTestGateway();
const gone = await deadAddress();

/** Calls whose time is over before their provider has heard of them. */
const unheardMax = 20;

/** One for each test that runs beside others. */
const spares: TestUpstream[] = [];
for (let count = 0; count < 14; count += 1) spares.push(await startUpstream());
const spare = (index: number): TestUpstream => spares[index] as TestUpstream;

const servers: ReturnType<typeof createServer>[] = [];
const sockets = new Set<Socket>();
after(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
const target = (to: Pick<TestUpstream, 'url' | 'port'> | number, more: Record<string, unknown> = {}): Record<string, unknown> =>
  ({ provider: 'openai', api_key: 'sk', custom_host: `http://127.0.0.1:${typeof to === 'number' ? to : to.port}/v1`, ...more });

interface Result { readonly status: number; readonly count: string | null; readonly body: string; readonly headers: Headers; readonly tookMs: number }

async function call(config: unknown, body: string | Uint8Array = chat, headers: Record<string, string> = {}, path = '/v1/chat/completions'): Promise<Result> {
  const startedAt = performance.now();
  const response = await fetch(gateway.url + path, {
    method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(config), ...headers }, body,
  });
  const text = await response.text();
  return { status: response.status, count: response.headers.get('x-gateway-retry-attempt-count'), body: text, headers: response.headers, tookMs: performance.now() - startedAt };
}

/** Answers the first `failures` requests with `status` and these headers, the others well. */
function failing(failures: number, status: number, headers = (): Record<string, string> => ({})): { readonly answer: Answer; readonly arrivedAt: number[] } {
  const arrivedAt: number[] = [];
  return {
    arrivedAt,
    answer: (received, response, request) => {
      arrivedAt.push(performance.now());
      if (arrivedAt.length <= failures) sendJson(response, status, { error: { message: `failure ${arrivedAt.length}` } }, headers());
      else answerChat(received, response, request);
    },
  };
}

describe('a retry', () => {
  it('follows each failure until an answer stands or the attempts are used up', async () => {
    for (const [failures, attempts, status, tries, count] of [
      [0, 3, 200, 1, '0'], [1, 3, 200, 2, '1'], [3, 3, 200, 4, '3'], [4, 3, 503, 4, '-1'], [1, 0, 503, 1, '0'], [1, 1, 200, 2, '1'],
    ] as const) {
      const plan = failing(failures, 503);
      upstream.answer = plan.answer;
      const result = await call(target(upstream, { retry: { attempts } }));
      assert.equal(result.status, status, `${failures} failures, ${attempts} retries`);
      assert.equal(plan.arrivedAt.length, tries);
      assert.equal(result.count, count);
    }
  });

  it('does not happen when the config asks for none', async () => {
    const plan = failing(1, 503);
    upstream.answer = plan.answer;
    const result = await call(target(upstream));
    assert.equal(result.status, 503);
    assert.equal(result.count, '0');
    assert.equal(plan.arrivedAt.length, 1);
  });

  it('follows the usual passing statuses when none are listed', async () => {
    for (const status of [429, 500, 502, 503, 504]) {
      const plan = failing(1, status);
      upstream.answer = plan.answer;
      assert.equal((await call(target(upstream, { retry: { attempts: 1 } }))).status, 200, `after ${status}`);
    }
    for (const status of [400, 401, 403, 404, 408, 422, 501]) {
      const plan = failing(1, status);
      upstream.answer = plan.answer;
      const result = await call(target(upstream, { retry: { attempts: 1 } }));
      assert.equal(result.status, status);
      assert.equal(result.count, '0');
      assert.equal(plan.arrivedAt.length, 1);
    }
  });

  it('follows the listed statuses only, and none with an empty list', async () => {
    for (const [listed, status, tries] of [[[418], 418, 2], [[418], 503, 1], [[], 503, 1], [[200], 200, 2]] as const) {
      const plan = failing(1, status);
      upstream.answer = plan.answer;
      const result = await call(target(upstream, { retry: { attempts: 1, on_status_codes: listed } }));
      assert.equal(plan.arrivedAt.length, tries, `${status} with [${listed}]`);
      assert.equal(result.count, tries === 1 ? '0' : listed[0] === 200 ? '-1' : '1');
    }
  });

  it('gives back the last failure as the provider wrote it', async () => {
    let tries = 0;
    upstream.answer = (_, response) => {
      tries += 1;
      sendJson(response, 429, { error: { message: `failure ${tries}` } }, { 'x-try': String(tries) });
    };
    const result = await call(target(upstream, { retry: { attempts: 2 } }));
    assert.equal(result.status, 429);
    assert.equal(result.headers.get('x-try'), '3');
    assert.equal(result.body, '{"error":{"message":"failure 3"}}');
    assert.equal(result.count, '-1');
  });

  it('follows a connection that cannot be made or breaks', async () => {
    const refused = await call(target(gone, { retry: { attempts: 2 } }));
    assert.equal(refused.status, 502);
    assert.equal(refused.count, '-1');
    assert.equal(JSON.parse(refused.body).error.code, 'upstream_unreachable');
    let tries = 0;
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        tries += 1;
        if (tries < 3) socket.destroy();
        else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}');
      });
    });
    const result = await call(target(await listen(server), { retry: { attempts: 2 } }));
    assert.equal(result.status, 200);
    assert.equal(result.count, '2');
    assert.equal(tries, 3);
  });

  it('is counted for each target of a fallback from the start', async () => {
    const plan = failing(99, 500);
    const second = failing(1, 500);
    upstream.answer = plan.answer;
    other.answer = second.answer;
    const result = await call({ strategy: { mode: 'fallback' }, retry: { attempts: 2 }, targets: [target(upstream), target(other)] });
    assert.equal(result.status, 200);
    assert.equal(result.count, '1');
    assert.equal(plan.arrivedAt.length, 3);
    assert.equal(second.arrivedAt.length, 2);
  });

  it('of a target is the target\'s own number before its parent\'s', async () => {
    const plan = failing(99, 500);
    upstream.answer = plan.answer;
    other.answer = answerChat;
    await call({ strategy: { mode: 'fallback' }, retry: { attempts: 5 }, targets: [target(upstream, { retry: { attempts: 1 } }), target(other)] });
    assert.equal(plan.arrivedAt.length, 2);
  });

  it('sends the same request whole each time', async () => {
    const json = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Grüße 👋'.repeat(100_000) }] });
    const raw = new Uint8Array(700_000).map((_, index) => (index * 31) % 256);
    for (const [body, type, path] of [[json, 'application/json', '/v1/chat/completions'], [raw, 'application/octet-stream', '/v1/proxy/upload?b=2']] as const) {
      const plan = failing(3, 500);
      upstream.answer = plan.answer;
      upstream.received.length = 0;
      const result = await call(target(upstream, { retry: { attempts: 3 } }), body, { 'content-type': type, 'x-gateway-forward-headers': 'x-own', 'x-own': 'yes' }, path);
      assert.equal(result.status, 200);
      assert.equal(upstream.received.length, 4);
      for (const received of upstream.received) {
        assert.ok(received.body.equals(Buffer.from(body)));
        assert.equal(received.url, upstream.received[0]?.url);
        assert.deepEqual(received.rawHeaders, upstream.received[0]?.rawHeaders);
        assert.equal(received.headers['content-length'], String(Buffer.byteLength(body)));
        assert.equal(received.headers['x-own'], 'yes');
      }
    }
  });

  it('sends edited parameters once, however often it is tried', async () => {
    const plan = failing(2, 500);
    upstream.answer = plan.answer;
    upstream.received.length = 0;
    await call(target(upstream, { retry: { attempts: 2 }, override_params: { user: 'u' } }));
    assert.equal(upstream.received.length, 3);
    for (const received of upstream.received) assert.deepEqual(received.json(), { ...JSON.parse(chat), user: 'u' });
  });

  it('does not happen once the answer has begun', async () => {
    let tries = 0;
    upstream.answer = (_, response) => {
      tries += 1;
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"choices":', () => { response.destroy(); });
    };
    const config = { strategy: { mode: 'fallback' }, retry: { attempts: 3 }, targets: [target(upstream), target(other)] };
    other.received.length = 0;
    await assert.rejects(call(config));
    assert.equal(tries, 1);
    assert.equal(other.received.length, 0);
  });

  it('ends with the client: nothing more is sent for one who left', async () => {
    const plan = failing(99, 503, () => ({ 'retry-after-ms': '150' }));
    let noteFirst: () => void = () => {};
    const firstTry = new Promise<void>((resolve) => { noteFirst = resolve; });
    upstream.answer = (received, response, request) => {
      plan.answer(received, response, request);
      response.on('finish', noteFirst);
    };
    const wire = await openWire(gateway.port);
    const config = JSON.stringify(target(upstream, { retry: { attempts: 1, use_retry_after_headers: true } }));
    wire.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nx-gateway-api-key: ${apiKey}\r\nx-gateway-config: ${config}\r\ncontent-type: application/json\r\ncontent-length: ${chat.length}\r\n\r\n${chat}`);
    await firstTry;
    wire.destroy();
    // Another call that takes longer than the wait would have been.
    other.answer = (received, response, request) => { setTimeout(() => answerChat(received, response, request), 350); };
    assert.equal((await call(target(other))).status, 200);
    assert.equal(plan.arrivedAt.length, 1);
  });
});

describe('the wait before a retry', { concurrency: true }, () => {
  /** Far more than any wait that is asked for, and less than what a header says that is not to be honoured. */
  const longMs = 15_000;
  const gapOf = async (headers: () => Record<string, string>, usesThem = true, own?: TestUpstream): Promise<{ gapMs: number; result: Result; tries: number }> => {
    const to = own ?? upstream;
    const plan = failing(1, 429, headers);
    to.answer = plan.answer;
    const result = await call(target(to, { retry: { attempts: 1, use_retry_after_headers: usesThem } }));
    return { gapMs: (plan.arrivedAt[1] ?? Number.NaN) - (plan.arrivedAt[0] ?? Number.NaN), result, tries: plan.arrivedAt.length };
  };
  const asked: [string, TestUpstream, () => Record<string, string>, number][] = [
    ['milliseconds', spare(0), () => ({ 'retry-after-ms': '150' }), 145],
    ['milliseconds under the vendor\'s name', spare(1), () => ({ 'x-ms-retry-after-ms': '150' }), 145],
    ['milliseconds before seconds', spare(2), () => ({ 'retry-after-ms': '150', 'retry-after': '20' }), 145],
    ['seconds', spare(3), () => ({ 'retry-after': '1' }), 990],
    ['nothing', spare(4), () => ({ 'retry-after': '0' }), 0],
    // A date has whole seconds: two from now are between one and two away.
    ['a date', spare(5), () => ({ 'retry-after': new Date(Date.now() + 2000).toUTCString() }), 900],
    ['a date that has passed', spare(6), () => ({ 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT' }), 0],
  ];
  for (const [form, own, headers, leastMs] of asked) {
    it(`is what the provider asks for: ${form}`, async () => {
      const { gapMs, result } = await gapOf(headers, true, own);
      assert.equal(result.status, 200);
      assert.equal(result.count, '1');
      assert.ok(gapMs >= leastMs && gapMs < longMs, `${gapMs} ms`);
    });
  }

  it('is the gateway\'s own when the config does not honour the header, or the header makes no sense', async () => {
    for (const [headers, usesThem] of [[{ 'retry-after': '20' }, false], [{ 'retry-after': 'soon' }, true], [{ 'retry-after': '-5' }, true], [{}, true]] as const) {
      const { gapMs, result } = await gapOf(() => headers, usesThem);
      assert.equal(result.status, 200);
      assert.ok(gapMs < longMs, `${gapMs} ms`);
    }
  });

  it('is not begun when it would be longer than a minute: the answer goes back at once', async () => {
    const { result, tries } = await gapOf(() => ({ 'retry-after': '61' }), true, spare(7));
    assert.equal(result.status, 429);
    assert.equal(tries, 1);
    assert.equal(result.count, '-1', 'there are no more retries');
    assert.equal(result.headers.get('retry-after'), '61');
    assert.ok(result.tookMs < 60_000);
  });
});

describe('a request time-out', { concurrency: true }, () => {
  it('answers 408 when the first byte is late, and hangs up on the provider', async () => {
    const hung = spare(8);
    let hasCome = false;
    const closed = new Promise<void>((resolve) => { hung.answer = (_, response) => { hasCome = true; response.on('close', resolve); }; });
    let result = await call(target(hung, { request_timeout: 80 }));
    // On a busy machine the time may be over before the provider has heard of the call.
    while (!hasCome) result = await call(target(hung, { request_timeout: 80 }));
    assert.equal(result.status, 408);
    const { error } = JSON.parse(result.body);
    assert.equal(error.code, 'attempt_timeout');
    assert.equal(error.type, 'timeout_error');
    assert.match(error.message, /80 ms/);
    assert.ok(result.tookMs >= 75, `${result.tookMs} ms`);
    await closed;
  });

  it('of the header wins over the config\'s, shorter or longer', async () => {
    const hung = spare(9);
    hung.answer = () => {};
    const shorter = await call(target(hung, { request_timeout: 20_000 }), chat, { 'x-gateway-request-timeout': '60' });
    assert.equal(shorter.status, 408);
    assert.match(shorter.body, /60 ms/);
    hung.answer = (received, response, request) => { setTimeout(() => answerChat(received, response, request), 250); };
    const longer = await call(target(hung, { request_timeout: 50 }), chat, { 'x-gateway-request-timeout': '20000' });
    assert.equal(longer.status, 200);
  });

  it('moves a fallback on', async () => {
    const hung = spare(10);
    hung.answer = () => {};
    spare(11).answer = answerChat;
    const result = await call({ strategy: { mode: 'fallback' }, request_timeout: 60, targets: [target(hung), target(spare(11), { request_timeout: 20_000 })] });
    assert.equal(result.status, 200);
    assert.equal(result.headers.get('x-gateway-last-used-option-index'), 'config.targets[1]');
  });

  it('is retried only when 408 is listed, with the whole time for each try', async () => {
    const hung = spare(12);
    let tries = 0;
    hung.answer = (received, response, request) => {
      tries += 1;
      if (tries > 1) answerChat(received, response, request);
    };
    // More than one try may take too long on a busy machine, even one that is answered at once.
    const listed = await call(target(hung, { request_timeout: 400, retry: { attempts: 5, on_status_codes: [408] } }));
    assert.equal(listed.status, 200);
    assert.ok(Number(listed.count) >= 1);
    // By round: what is on its way to the provider when the time is over may still arrive in the next one.
    const asked: number[] = [];
    hung.answer = (received) => {
      const round = Number(received.json().user);
      asked[round] = (asked[round] ?? 0) + 1;
    };
    // On a busy machine the time may be over before the provider has heard of the call.
    for (let round = 0; round < unheardMax && !asked.includes(1); round += 1) {
      const unlisted = await call(target(hung, { request_timeout: 400, retry: { attempts: 1 } }), JSON.stringify({ ...JSON.parse(chat), user: String(round) }));
      assert.equal(unlisted.status, 408);
      assert.ok((asked[round] ?? 0) <= 1, `${asked[round]} tries`);
    }
    assert.ok(asked.includes(1), 'the provider was never asked');
  });

  it('is over with the first byte: a slow stream is not cut', async () => {
    const slow = spare(13);
    slow.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"n":1}\n\n');
      setTimeout(() => { response.end('data: {"n":2}\n\ndata: [DONE]\n\n'); }, 1700);
    };
    const result = await call(target(slow, { request_timeout: 1500 }));
    assert.equal(result.status, 200);
    assert.equal(result.body, 'data: {"n":1}\n\ndata: {"n":2}\n\ndata: [DONE]\n\n');
  });

  it('that is not a number is refused', async () => {
    for (const value of ['0', '-1', '1.5', 'soon', '1e3']) {
      const result = await call(target(other), chat, { 'x-gateway-request-timeout': value });
      assert.equal(result.status, 400, value);
      assert.equal(JSON.parse(result.body).error.param, 'x-gateway-request-timeout');
    }
  });
});

describe('a kept connection that the provider closes as the next request comes', () => {
  /** Answers `goodAnswers` requests on each connection and cuts it at the next one, unanswered. Counts requests and connections. */
  function closing(goodAnswers: number): { readonly server: ReturnType<typeof createServer>; readonly seen: { requests: string[]; connections: number } } {
    const seen = { requests: [] as string[], connections: 0 };
    const server = createServer((socket) => {
      seen.connections += 1;
      let answered = 0;
      let text = '';
      socket.on('error', () => {});
      socket.on('data', (data) => {
        text += data.toString('latin1');
        if (!text.endsWith(chat)) return;
        seen.requests.push(text);
        text = '';
        if (answered >= goodAnswers) {
          socket.destroy();
          return;
        }
        answered += 1;
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}');
      });
    });
    return { server, seen };
  }

  it('is not a failure: the request goes out once more on a new one, and that is counted', async () => {
    const { server, seen } = closing(1);
    const config = target(await listen(server));
    assert.equal((await call(config)).status, 200);
    const result = await call(config);
    assert.equal(result.status, 200);
    assert.equal(result.count, '1', 'the provider may have seen it twice');
    assert.equal(seen.connections, 2);
    assert.equal(seen.requests.length, 3);
    assert.equal(seen.requests[2], seen.requests[1]);
  });

  it('is a failure when the provider took its time before it closed: it may have done what was asked', async () => {
    const seen: string[] = [];
    const server = createServer((socket) => {
      let answered = 0;
      socket.on('error', () => {});
      socket.on('data', (data) => {
        const text = data.toString('latin1');
        if (!text.endsWith(chat)) return;
        seen.push(text);
        answered += 1;
        if (answered === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}');
        else setTimeout(() => socket.destroy(), 400);
      });
    });
    const config = target(await listen(server));
    assert.equal((await call(config)).status, 200);
    const result = await call(config);
    assert.equal(result.status, 502);
    assert.equal(JSON.parse(result.body).error.code, 'upstream_reset');
    assert.equal(result.count, '0');
    assert.equal(seen.length, 2);
  });

  it('is a failure when the new one breaks as well', async () => {
    const { server, seen } = closing(1);
    const port = await listen(server);
    assert.equal((await call(target(port))).status, 200);
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      seen.connections += 1;
      socket.on('error', () => {});
      socket.once('data', () => { socket.destroy(); });
    });
    const result = await call(target(port));
    assert.equal(result.status, 502);
    assert.equal(JSON.parse(result.body).error.code, 'upstream_reset');
    assert.equal(seen.connections, 2);
  });

  it('is a failure at once when the connection was new', async () => {
    const { server, seen } = closing(0);
    const result = await call(target(await listen(server)));
    assert.equal(result.status, 502);
    assert.equal(seen.requests.length, 1);
  });
});

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
