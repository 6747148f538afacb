// Failures that come after a good head, and refusals that come after a failure: as long as the client has got nothing, another try is due, and
// what the provider said wins over what the gateway says of the next target.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { answerChat, answerStream, chatChunks, sendJson, startUpstream, type Answer, type TestUpstream } from '../support/upstream.js';

const first = await startUpstream();
const second = await startUpstream();
const gateway = await startTestGateway();

type Members = Readonly<Record<string, unknown>>;
const messages = [{ role: 'user', content: 'x' }];
const openai = (to: TestUpstream, more: Members = {}): Members => ({ provider: 'openai', api_key: 'sk', custom_host: `${to.url}/v1`, ...more });
/** Speaks a dialect of its own: every answer of it is translated. */
const google = (to: TestUpstream, more: Members = {}): Members => ({ provider: 'google', api_key: 'k', custom_host: to.url, ...more });
const fallback = (...targets: readonly Members[]): Members => ({ strategy: { mode: 'fallback' }, targets });

interface Result { readonly status: number; readonly count: string | null; readonly target: string | null; readonly type: string; readonly text: string; json(): any }

async function call(config: Members, body: Members = {}, path = '/v1/chat/completions'): Promise<Result> {
  first.received.length = 0;
  second.received.length = 0;
  const response = await fetch(gateway.url + path, {
    method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(config) },
    body: JSON.stringify({ model: 'm', messages, ...(path === '/v1/messages' ? { max_tokens: 9 } : {}), ...body }),
  });
  const text = await response.text();
  return {
    status: response.status, count: response.headers.get('x-gateway-retry-attempt-count'), target: response.headers.get('x-gateway-last-used-option-index'),
    type: response.headers.get('content-type') ?? '', text, json: () => JSON.parse(text),
  };
}

const raw = (status: number, type: string, body: string): Answer => (_, response) => { response.writeHead(status, type === '' ? {} : { 'content-type': type }); response.end(body); };
/** A good head and half a body. */
const broken = (type: string, body: string): Answer => (_, response) => {
  response.writeHead(200, { 'content-type': type, 'content-length': String(Buffer.byteLength(body) + 100) });
  response.write(body, () => { response.destroy(); });
};
const geminiAnswer = { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello there.' }] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 } };
const answerGemini: Answer = (_, response) => sendJson(response, 200, geminiAnswer);

describe('an answer with status 200 that cannot be read', () => {
  const unreadable: readonly (readonly [name: string, answer: Answer])[] = [
    ['that is not JSON', raw(200, 'application/json', '<html>oops</html>')],
    ['that is cut', raw(200, 'application/json', '{"candidates":[{"content":')],
    ['that has another shape', raw(200, 'application/json', '"text"')],
    ['that is empty', raw(200, 'application/json', '')],
    ['that breaks off', broken('application/json', '{"candidates":[')],
  ];
  for (const [name, answer] of unreadable) {
    it(`${name} is tried again`, async () => {
      second.answer = answer;
      let tries = 0;
      first.answer = (received, response, request) => {
        tries += 1;
        (tries === 1 ? answer : answerGemini)(received, response, request);
      };
      const result = await call(google(first, { retry: { attempts: 1 } }));
      assert.equal(result.status, 200, result.text);
      assert.equal(result.json().choices[0].message.content, 'Hello there.');
      assert.deepEqual([result.count, first.received.length], ['1', 2]);
    });

    it(`${name} moves a fallback on`, async () => {
      first.answer = answer;
      second.answer = answerChat;
      const result = await call(fallback(google(first), openai(second)));
      assert.equal(result.status, 200, result.text);
      assert.deepEqual([result.target, first.received.length, second.received.length], ['config.targets[1]', 1, 1]);
    });

    it(`${name} is the end when nobody is left, and is told as what it is`, async () => {
      first.answer = answer;
      const result = await call(google(first, { retry: { attempts: 1 } }));
      assert.equal(result.status, 502);
      assert.match(result.json().error.code, /^upstream_(?:invalid|broke)$/);
      assert.deepEqual([result.count, first.received.length], ['-1', 2]);
    });
  }

  it('counts as a failure of its target', async () => {
    first.answer = raw(200, 'application/json', 'no');
    second.answer = answerChat;
    const config = fallback(google(first, { cb_config: { failure_threshold: 2, cooldown_interval: 30_000 } }), openai(second));
    for (let index = 0; index < 2; index += 1) assert.equal((await call(config)).target, 'config.targets[1]');
    await call(config);
    assert.equal(first.received.length, 0, 'its breaker is open');
  });
});

describe('a stream whose first event is an error', () => {
  const overloaded = `data: ${JSON.stringify({ error: { message: 'try later', type: 'overloaded_error', code: 503 } })}\n\ndata: [DONE]\n\n`;
  const streams: readonly (readonly [name: string, target: (to: TestUpstream, more?: Members) => Members, events: string])[] = [
    ['of a provider that is relayed', openai, overloaded],
    ['after comments', openai, `: keep-alive\n\n: keep-alive\r\n\r\n${overloaded}`],
    ['that is named', openai, `event: error\ndata: {"error":{"message":"too many","type":"rate_limit_error"}}\n\n`],
    ['of a provider that is translated', google, `data: ${JSON.stringify({ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } })}\n\n`],
    ['that cannot be read', google, 'data: {"candidates": nonsense\n\n'],
    ['that is not an event at all', google, ''],
  ];
  for (const [name, target, events] of streams) {
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      it(`${name} moves a fallback on over ${path}`, async () => {
        first.answer = (_, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          // In pieces: an event seldom comes alone or whole.
          for (const piece of events.match(/[^]{1,9}/g) ?? []) response.write(piece);
          response.end();
        };
        second.answer = answerStream(['Hel', 'lo']);
        const result = await call(fallback(target(first), openai(second)), { stream: true }, path);
        assert.equal(result.status, 200, result.text);
        assert.deepEqual([result.target, second.received.length], ['config.targets[1]', 1], result.text);
        assert.match(result.text, /lo/);
        assert.ok(!result.text.includes('error'), result.text);
      });
    }

    it(`${name} is tried again`, async () => {
      let tries = 0;
      const bad = raw(200, 'text/event-stream', events);
      const good: Answer = target === openai ? answerStream(['Hel', 'lo']) : raw(200, 'text/event-stream', `data: ${JSON.stringify(geminiAnswer)}\n\n`);
      first.answer = (received, response, request) => {
        tries += 1;
        (tries === 1 ? bad : good)(received, response, request);
      };
      const result = await call(target(first, { retry: { attempts: 2 } }), { stream: true });
      assert.deepEqual([result.status, result.count, tries], [200, '1', 2], result.text);
      assert.ok(!result.text.includes('error'), result.text);
    });
  }

  it('is what the client gets, as it came, when nobody is left', async () => {
    first.answer = raw(200, 'text/event-stream', overloaded);
    second.answer = raw(200, 'text/event-stream', overloaded.replace('later', 'never'));
    const result = await call(fallback(openai(first), openai(second)), { stream: true });
    assert.deepEqual([result.status, result.text], [200, overloaded.replace('later', 'never')]);
  });

  it('is not looked for behind the first event: what has begun is not repeated', async () => {
    first.answer = raw(200, 'text/event-stream', `${chatChunks(['Hel'])[0]}\n\n${overloaded}`);
    const result = await call(fallback(openai(first), openai(second)), { stream: true });
    assert.deepEqual([result.target, second.received.length], ['config.targets[0]', 0]);
    assert.ok(result.text.endsWith(overloaded));
  });

  it('does not hold a stream up whose first event is good, and changes none of its bytes', async () => {
    const body = `: hello\r\n\r\n${chatChunks(['one', 'two']).join('\n\n')}\n\n`;
    first.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of body.match(/[^]{1,7}/g) ?? []) response.write(piece);
      response.end();
    };
    assert.equal((await call(fallback(openai(first), openai(second)), { stream: true })).text, body);
    // No end of an event within what is held.
    const long = `data: ${'x'.repeat(100_000)}`;
    first.answer = raw(200, 'text/event-stream', long);
    assert.ok((await call(fallback(openai(first), openai(second)), { stream: true })).text.startsWith(long));
  });

  it('is none that has an empty error beside its choices, or speaks of errors', async () => {
    const [begin = ''] = chatChunks([]);
    for (const member of ['"error":{}', '"error":""', '"error":null', '"error":false', '"note":"{\\"error\\":{\\"code\\":503}}"']) {
      const body = `${begin.replace('{', `{${member},`)}\n\n${chatChunks(['Hel']).join('\n\n')}\n\n`;
      first.answer = raw(200, 'text/event-stream', body);
      const result = await call(fallback(openai(first), openai(second)), { stream: true });
      assert.deepEqual([result.target, second.received.length, result.text], ['config.targets[0]', 0, body], member);
      const judged = await call(openai(first, { output_guardrails: [{ wordCount: { maxWords: 9 } }] }), { stream: true });
      assert.match(judged.text, /"hook_results"/, member);
      for (const [path, end] of [['/v1/messages', 'message_stop'], ['/v1/responses', 'response.completed']] as const) {
        const { text } = await call(openai(first, path === '/v1/responses' ? { provider: 'mistral-ai' } : {}), { stream: true, ...(path === '/v1/responses' ? { input: 'x', messages: undefined } : {}) }, path);
        assert.ok(text.includes(end) && text.includes('Hel'), `${member} ${text}`);
      }
    }
  });

  it('follows the statuses that the strategy names', async () => {
    first.answer = raw(200, 'text/event-stream', overloaded);
    const result = await call({ ...fallback(openai(first), openai(second)), strategy: { mode: 'fallback', on_status_codes: [429] } }, { stream: true });
    assert.deepEqual([result.text, second.received.length], [overloaded, 0]);
  });
});

/** Has no chat. */
const refusingTarget: Members = { provider: 'voyage', api_key: 'k', custom_host: second.url };

describe('a failure before a target that cannot take the call', () => {
  const failure = { error: { message: 'down for now', type: 'server_error', param: null, code: 'down' } };
  /** Refused before anything is sent: the endpoint does not exist there, or a parameter has no place there. */
  const refusing: readonly (readonly [name: string, target: Members, body: Members])[] = [
    ['a parameter', { provider: 'google', api_key: 'k', custom_host: second.url }, { n: 2, logit_bias: { 50256: -100 } }],
    ['the endpoint', refusingTarget, {}],
  ];
  for (const [name, target, body] of refusing) {
    it(`is what the client gets, as the provider said it, when the next one lacks ${name}`, async () => {
      first.answer = (_, response) => sendJson(response, 503, failure, { 'retry-after': '7', 'x-request-id': 'r1' });
      const result = await call(fallback(openai(first, { retry: { attempts: 1 } }), target), body);
      assert.deepEqual([result.status, result.json()], [503, failure]);
      assert.deepEqual([result.target, result.count, first.received.length, second.received.length], ['config.targets[0]', '-1', 2, 0]);
    });
  }

  it('is what the client gets in its own dialect, also when the body of the failure comes late', async () => {
    let finish = (): void => {};
    first.answer = (_, response) => {
      response.writeHead(503, { 'content-type': 'application/json' });
      response.write('{"error":{"message":"down ');
      finish = () => { response.end('for now"}}'); };
      setTimeout(() => finish(), 30);
    };
    const result = await call(fallback(openai(first), refusingTarget), {}, '/v1/messages');
    assert.deepEqual([result.status, result.json()], [503, { type: 'error', error: { type: 'overloaded_error', message: 'down for now' } }]);
  });

  it('is what the client gets when the connection was the failure', async () => {
    first.answer = (_, response) => { response.destroy(); };
    const result = await call(fallback(openai(first), refusingTarget));
    assert.deepEqual([result.status, result.json().error.code, result.target], [502, 'upstream_reset', 'config.targets[0]']);
  });

  it('is what the client gets whole, also when it is long', async () => {
    first.answer = raw(503, 'application/json', JSON.stringify({ error: { message: 'x'.repeat(200_000) } }));
    const result = await call(fallback(openai(first), refusingTarget));
    assert.deepEqual([result.status, result.json().error.message.length], [503, 200_000]);
  });

  it('is forgotten when a later target has an answer, and the last failure is told when several fail', async () => {
    first.answer = (_, response) => sendJson(response, 503, failure);
    second.answer = answerChat;
    assert.equal((await call(fallback(openai(first), refusingTarget, openai(second)))).status, 200);
    second.answer = (_, response) => sendJson(response, 429, { error: { message: 'slow', type: 't', param: null, code: null } });
    assert.equal((await call(fallback(openai(first), refusingTarget, openai(second), refusingTarget))).status, 429);
  });

  it('that there was none leaves the refusal', async () => {
    const result = await call(fallback(refusingTarget, refusingTarget));
    assert.deepEqual([result.status, result.json().error.code], [400, 'endpoint_unsupported']);
  });
});

describe('an error page', () => {
  const page = '<html><head><title>503</title><style>body { color: red }</style></head><body><h1>Service Unavailable</h1><hr>proxy</body></html>';
  for (const [path, told] of [
    ['/v1/chat/completions', { error: { message: '503 Service Unavailable proxy', type: 'api_error', param: null, code: null } }],
    ['/v1/messages', { type: 'error', error: { type: 'overloaded_error', message: '503 Service Unavailable proxy' } }],
  ] as const) {
    it(`gets the error shape of ${path}`, async () => {
      first.answer = raw(503, 'text/html; charset=utf-8', page);
      const result = await call(openai(first), {}, path);
      assert.deepEqual([result.status, result.json()], [503, told]);
      assert.match(result.type, /^application\/json/);
    });
  }

  it('that is plain text or says nothing gets it too', async () => {
    for (const [type, body, message] of [['text/plain', 'upstream connect error', 'upstream connect error'], ['', '', 'the provider answered 502']] as const) {
      first.answer = raw(502, type, body);
      const result = await call(openai(first));
      assert.deepEqual([result.status, result.json().error.message], [502, message]);
    }
  });

  it('stays as it is on the proxy', async () => {
    first.answer = raw(503, 'text/html', page);
    const result = await call(openai(first), {}, '/v1/proxy/chat/completions');
    assert.deepEqual([result.status, result.text], [503, page]);
  });
});

describe('headers that a connection names', () => {
  const named = async (headers: Record<string, string>, path: string): Promise<Headers> => (await fetch(gateway.url + path, {
    method: 'POST', body: JSON.stringify({ model: 'm', messages }),
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(openai(first)), ...headers },
  })).headers;

  for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions']) {
    it(`of the provider end at the gateway on ${path}`, async () => {
      first.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', connection: 'X-Hop, keep-alive', 'x-hop': 'secret', 'x-end': 'kept' });
        response.end('{}');
      };
      const headers = await named({}, path);
      assert.deepEqual([headers.get('x-hop'), headers.get('x-end')], [null, 'kept']);
    });
  }
});
