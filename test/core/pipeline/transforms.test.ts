// A provider with functions of its own, through a whole gateway: what it makes of requests, answers and streams, and what becomes of a
// call when it cannot.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { beforeEach, describe, it } from 'node:test';
import { apiKey, startTestGateway } from '../../support/gateway.js';
import { sendJson, startUpstream } from '../../support/upstream.js';
import { openWire } from '../../support/wire.js';
import { temporaryFolder, writePackage } from '../registry/plugin-package.js';

const folder = writePackage(temporaryFolder(), {
  gateway: { namespace: 'acme', contract: { provider: 1 }, plugins: { provider: ['dialect', 'signed', 'unsigned'] } },
  files: {
    'provider/dialect.js': `import { defineProvider } from '@gateway/plugin-sdk';
export default defineProvider({
  title: 'Dialect', describe: 'Speaks its own way.', baseUrl: '', auth: { type: 'header', name: 'x-dialect-key' },
  params: { type: 'object', properties: { api_key: { type: 'string' } } },
  endpoints: {
    chatCompletions: {
      path: '/say/{model}',
      request(body) {
        if (body.user === 'break') throw new Error('secret words of the body');
        return { lines: body.messages.map((message) => message.content), live: body.stream === true };
      },
      response(body, call) {
        if (body.said === undefined) throw new TypeError('no words');
        return { object: 'chat.completion', choices: [{ message: { role: 'assistant', content: body.said } }], asked_at: call.exchange.request.path };
      },
      stream(call) {
        if (call.exchange.metadata.refuse === true) throw new Error('secret words of the body');
        let count = 0;
        return {
          push(event, out) {
            if (event.event === 'broken') throw new Error('cannot read this');
            if (event.event === 'refused') { out.fail(new Error('will not read this')); return; }
            if (event.event === 'stop') { out.end(); return; }
            count += 1;
            for (const word of JSON.parse(event.data).words) out.write({ event: undefined, data: JSON.stringify({ object: 'chat.completion.chunk', n: count, word }) });
          },
          end(out) { if (count === 0) out.write({ event: undefined, data: '{"empty":true}' }); },
        };
      },
    },
  },
});`,
    'provider/signed.js': `import { defineProvider } from '@gateway/plugin-sdk';
import { createHmac } from 'node:crypto';
let turn = 0;
export default defineProvider({
  title: 'Signed', describe: 'Signs what it sends.', baseUrl: '', auth: { type: 'signed', covers: 'body' },
  params: { type: 'object', properties: { cloud1_access_key_id: { type: 'string' }, cloud1_secret_access_key: { type: 'string' } } },
  endpoints: { chatCompletions: '/chat' },
  async sign(outgoing, { credentials }, host) {
    turn += 1;
    await Promise.resolve();
    outgoing.url.searchParams.set('turn', String(turn));
    outgoing.headers.push('x-date', String(turn), 'x-signed-host', outgoing.url.host);
    const text = [outgoing.method, outgoing.url.pathname + outgoing.url.search, String(turn), new TextDecoder().decode(outgoing.body)].join('\\n');
    outgoing.headers.push('authorization', 'HMAC ' + credentials.cloud1_access_key_id + ':' + createHmac('sha256', credentials.cloud1_secret_access_key).update(text).digest('hex'));
    host.count('signed');
  },
});`,
    'provider/unsigned.js': `import { defineProvider } from '@gateway/plugin-sdk';
export default defineProvider({ title: 'Unsigned', describe: 'Cannot sign.', baseUrl: '', auth: { type: 'signed' }, params: { type: 'object', properties: {} }, endpoints: { chatCompletions: '/chat' },
  sign() { throw new Error('the clock is wrong'); } });`,
  },
});

const upstream = await startUpstream();
const gateway = await startTestGateway({ GATEWAY_PLUGINS: folder, GATEWAY_COLLECTED_BYTES_MAX: '4096' });
beforeEach(() => { upstream.received.length = 0; });

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json(): { readonly choices: { message: { content: string } }[]; readonly asked_at: string; readonly error: { message: string; code: string; type: string; param: string | null } };
}

async function chat(target: object, body: object = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ custom_host: upstream.url, ...target }), ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
}

const dialect = { provider: 'acme.dialect', api_key: 'dk' };
const streamed = { model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] };
/** Data lines of an event stream. */
const dataOf = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));

describe('a provider with its own dialect', () => {
  it('gets its own request and gives the client\'s answer', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, { said: 'Grüße 👋' }, { 'x-request-id': 'r-1' });
    const answer = await chat(dialect, { model: 'org/m', messages: [{ role: 'user', content: 'hi' }, { role: 'user', content: 'ä' }] });
    assert.equal(answer.status, 200);
    assert.equal(answer.json().choices[0]?.message.content, 'Grüße 👋');
    assert.equal(answer.json().asked_at, '/v1/chat/completions');
    const sent = upstream.received[0];
    assert.deepEqual([sent?.url, sent?.json(), sent?.headers['x-dialect-key']], ['/say/org%2Fm', { lines: ['hi', 'ä'], live: false }, 'dk']);
    assert.equal(answer.headers.get('x-request-id'), 'r-1');
    assert.equal(answer.headers.get('content-length'), String(Buffer.byteLength(answer.text)));
  });

  it('has its answer put together however it was cut', async () => {
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const bytes = Buffer.from('{"said":"zwölf €"}');
      const next = (at: number): void => {
        if (at === bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 1), () => setImmediate(next, at + 1));
      };
      next(0);
    };
    assert.equal((await chat(dialect)).json().choices[0]?.message.content, 'zwölf €');
  });

  it('that compresses what it must not is a plain error', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, { said: 'x' }, { 'content-encoding': 'br' });
    const answer = await chat(dialect);
    assert.deepEqual([answer.status, answer.json().error.code], [502, 'upstream_invalid']);
  });

  it('has its errors relayed as they are', async () => {
    upstream.answer = (_, response) => sendJson(response, 429, { fault: 'slow down' }, { 'retry-after': '3' });
    const answer = await chat(dialect);
    assert.deepEqual([answer.status, answer.text, answer.headers.get('retry-after')], [429, '{"fault":"slow down"}', '3']);
  });

  it('that answers in another shape is a 502 with its code, and no body comes through', async () => {
    for (const [body, reason] of [['{"other":"secret words"}', /the body has another shape than documented/], ['secret words', /the body is not JSON/], ['', /the body is not JSON/]] as const) {
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(body);
      };
      const answer = await chat(dialect);
      assert.equal(answer.status, 502);
      assert.equal(answer.json().error.code, 'upstream_invalid');
      assert.equal(answer.json().error.type, 'upstream_error');
      assert.match(answer.json().error.message, reason);
      assert.doesNotMatch(answer.text, /secret words/);
      assert.equal(answer.headers.get('x-gateway-provider'), 'acme.dialect');
    }
  });

  it('that answers with more than may be held is a 502, and its connection is closed', async () => {
    let isClosed = false;
    const closed = new Promise<void>((resolve) => {
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.on('close', () => { isClosed = true; resolve(); });
        response.write(`{"said":"${'x'.repeat(5000)}`);
      };
    });
    const answer = await chat(dialect);
    assert.equal(answer.status, 502);
    assert.equal(answer.json().error.code, 'upstream_too_large');
    assert.match(answer.json().error.message, /the answer of acme\.dialect is larger than 4096 bytes/);
    await closed;
    assert.ok(isClosed);
  });

  it('that breaks off is a 502, since nothing has gone to the client', async () => {
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"said":', () => response.destroy());
    };
    const answer = await chat(dialect);
    assert.equal(answer.status, 502);
    assert.equal(answer.json().error.code, 'upstream_broke');
  });

  it('whose request function fails is the plugin\'s fault, without a word of the body', async () => {
    const answer = await chat(dialect, { model: 'm', user: 'break', messages: [{ role: 'user', content: 'hi' }] });
    assert.deepEqual([answer.status, answer.json().error.code], [500, 'plugin_failed']);
    assert.equal(answer.json().error.message, 'plugin provider/acme.dialect failed: its request function could not take this body');
    assert.doesNotMatch(answer.text, /secret words/);
    assert.equal(upstream.received.length, 0);
    upstream.answer = (_, response) => sendJson(response, 200, { said: 'again' });
    assert.equal((await chat(dialect)).status, 200);
  });
});

describe('a stream of another dialect', () => {
  const answerEvents = (events: string): void => {
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': String(Buffer.byteLength(events)) });
      response.end(events);
    };
  };

  it('is turned into the client\'s events, one by one', async () => {
    answerEvents('event: say\ndata: {"words":["a","ä"]}\n\n: comment\n\nevent: say\r\ndata: {"words":[]}\r\n\r\nevent: say\ndata: {"words":["b"]}\n\nevent: stop\ndata: {}\n\nevent: say\ndata: {"words":["late"]}\n\n');
    const answer = await chat(dialect, streamed);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.deepEqual(dataOf(answer.text), [
      '{"object":"chat.completion.chunk","n":1,"word":"a"}', '{"object":"chat.completion.chunk","n":1,"word":"ä"}', '{"object":"chat.completion.chunk","n":3,"word":"b"}', '[DONE]',
    ]);
    assert.deepEqual(upstream.received[0]?.json(), { lines: ['hi'], live: true });
  });

  it('gets a word at its end, too', async () => {
    answerEvents(': nothing\n\n');
    assert.deepEqual(dataOf((await chat(dialect, streamed)).text), ['{"empty":true}', '[DONE]']);
  });

  it('reaches the client while the provider is still speaking', async () => {
    let goOn = (): void => {};
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: say\ndata: {"words":["first"]}\n\nevent: say\ndata: {"wor');
      goOn = () => { response.end('ds":["second"]}\n\nevent: stop\ndata: {}\n\n'); };
    };
    const wire = await openWire(gateway.port);
    const body = JSON.stringify(streamed);
    wire.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-type: application/json\r\nx-gateway-api-key: ${apiKey}\r\nx-gateway-config: ${JSON.stringify({ custom_host: upstream.url, ...dialect })}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    await wire.until((all) => all.includes('"word":"first"'));
    assert.ok(!wire.text().includes('second'));
    goOn();
    await wire.until((all) => all.includes('[DONE]'));
    wire.destroy();
  });

  it('ends with an error event when it cannot be read, after what could', async () => {
    for (const kind of ['broken', 'refused']) {
      answerEvents(`event: say\ndata: {"words":["a"]}\n\nevent: ${kind}\ndata: {}\n\nevent: say\ndata: {"words":["never"]}\n\n`);
      const answer = await chat(dialect, streamed);
      assert.equal(answer.status, 200);
      const events = dataOf(answer.text).map((data) => JSON.parse(data));
      assert.deepEqual(events.map((event) => event.word ?? event.error.code), ['a', 'upstream_invalid'], kind);
      assert.doesNotMatch(answer.text, /read this/);
    }
  });

  it('ends with an error event when the provider breaks off', async () => {
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: say\ndata: {"words":["a"]}\n\nevent: say\ndata: {"words":', () => response.destroy());
    };
    const events = dataOf((await chat(dialect, streamed)).text).map((data) => JSON.parse(data));
    assert.deepEqual(events.map((event) => event.word ?? event.error.code), ['a', 'upstream_broke']);
  });

  it('that the provider\'s function will not even begin is a plain error, and the provider is hung up on', async () => {
    const closed = new Promise<void>((resolve) => {
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.on('close', () => resolve());
        response.write('event: say\ndata: {"words":["a"]}\n\n');
      };
    });
    const answer = await chat(dialect, streamed, { 'x-gateway-metadata': '{"refuse":true}' });
    assert.equal(answer.status, 500);
    assert.equal(answer.json().error.message, 'plugin provider/acme.dialect failed: its stream function failed');
    await closed;
    answerEvents('event: say\ndata: {"words":["a"]}\n\nevent: stop\ndata: {}\n\n');
    assert.equal((await chat(dialect, streamed)).status, 200);
  });

  it('that fails before it begins is an ordinary error', async () => {
    upstream.answer = (_, response) => sendJson(response, 500, { fault: 'x' });
    const answer = await chat(dialect, streamed);
    assert.deepEqual([answer.status, answer.text], [500, '{"fault":"x"}']);
  });
});

describe('a provider that signs', () => {
  const signed = { provider: 'acme.signed', cloud1_access_key_id: 'id-1', cloud1_secret_access_key: 'very secret', api_key: 'unused' };

  it('signs each attempt anew, over what is really sent', async () => {
    const statuses = [503, 503, 200];
    upstream.answer = (_, response) => sendJson(response, statuses.shift() ?? 200, { ok: true });
    const answer = await chat({ ...signed, retry: { attempts: 3 } });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('x-gateway-retry-attempt-count'), '2');
    assert.equal(upstream.received.length, 3);
    const signatures = upstream.received.map(({ method, url, headers, body }) => {
      assert.equal(headers['x-signed-host'], headers.host);
      const text = [method, url, headers['x-date'], body.toString()].join('\n');
      assert.equal(headers.authorization, `HMAC id-1:${createHmac('sha256', 'very secret').update(text).digest('hex')}`);
      return headers.authorization;
    });
    assert.equal(new Set(signatures).size, 3);
    assert.deepEqual(upstream.received.map(({ rawHeaders }) => rawHeaders.filter((each) => each.toLowerCase() === 'authorization').length), [1, 1, 1]);
    assert.ok(!JSON.stringify(upstream.received.map(({ rawHeaders }) => rawHeaders)).includes('very secret'));
  });

  it('and cannot is at fault itself, and a fallback goes on', async () => {
    const alone = await chat({ provider: 'acme.unsigned', api_key: 'unused' });
    assert.equal(alone.status, 500);
    assert.equal(alone.json().error.code, 'plugin_failed');
    assert.match(alone.json().error.message, /^plugin provider\/acme\.unsigned failed: the clock is wrong$/);
    assert.equal(upstream.received.length, 0);
    upstream.answer = (_, response) => sendJson(response, 200, { ok: true });
    const both = await chat({ strategy: { mode: 'fallback' }, targets: [{ provider: 'acme.unsigned', api_key: 'x' }, signed] });
    assert.equal(both.status, 200);
    assert.equal(both.headers.get('x-gateway-last-used-option-index'), 'config.targets[1]');
  });
});
