import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParameterError, requestPieces, type Json } from '@gateway/plugin-sdk';
import { bodyWithText, conformGuardrail, fakeCheckInput, fakeHost, type FakeAnswer } from '@gateway/plugin-sdk/testing';
import plugin from './plugin.js';

const webhookURL = 'https://judge.example/secret-path?key=secret';
const answering = (answer: Json, status = 200) => ({ fetch: (): FakeAnswer => ({ status, body: JSON.stringify(answer) }) });
const params = { webhookURL };
const body = bodyWithText('chatCompletions', 'hi');
const answer = bodyWithText('chatCompletions', 'hello', 'output');

conformGuardrail(plugin, {
  passes: [
    { params, text: 'hi', host: answering({ verdict: true }) },
    { params, text: 'hi', stage: 'output', host: answering({ verdict: true, data: { score: 1 } }) },
    { params, text: 'hi', host: answering({ verdict: true, transformedData: { response: { json: { other: 'side' } } } }) },
  ],
  fails: [
    { params, text: 'hi', host: answering({ verdict: false }) },
    { params, text: 'hi', stage: 'output', host: answering({ verdict: false }, 201) },
  ],
  errors: [
    { params, text: 'hi', host: answering({ verdict: true }, 500), message: /judge\.example answered with status 500/ },
    { params, text: 'hi', host: answering({ verdict: true }, 302), message: /status 302/ },
    { params, text: 'hi', host: answering({ verdict: 'yes' }), message: /status 200 but without a verdict/ },
    { params, text: 'hi', host: answering([true]), message: /without a verdict/ },
    { params, text: 'hi', host: { fetch: () => ({ body: '<html>' }) }, message: /status 200 but not with JSON/ },
    { params, text: 'hi', host: { fetch: () => ({ body: 'x'.repeat(16 * 1024 * 1024 + 1) }) }, message: /larger than 16777216 bytes/ },
    { params, text: 'hi', host: { fetch: () => { throw new Error('the call took longer than 3000 ms'); } }, message: /longer than 3000 ms/ },
    { params, text: 'hi', host: answering({ verdict: true, transformedData: { request: { json: 'text' } } }), message: /not a JSON object/ },
  ],
  changes: [
    { params, body, host: answering({ verdict: true, transformedData: { request: { json: { model: 'other', messages: [] } }, response: { json: { no: 1 } } } }), changed: { model: 'other', messages: [] } },
    { params, body, answer, stage: 'output', host: answering({ verdict: false, transformedData: { request: { json: { no: 1 } }, response: { json: { choices: [] } } } }), changed: { choices: [] } },
    { params, body, host: answering({ verdict: true, transformedData: { request: { json: null } } }), changed: body },
  ],
  refuses: [
    { webhookURL: 'judge.example' }, { webhookURL: 'ftp://judge.example' }, { webhookURL: 'https://user:password@judge.example' },
    { webhookURL, headers: 'no json' }, { webhookURL, headers: '[1]' }, { webhookURL, headers: { 'a b': 'x' } }, { webhookURL, headers: { a: 'x\r\ny: z' } },
    { webhookURL, headers: { Host: 'x' } }, { webhookURL, headers: { a: { b: 1 } } },
  ],
});

test('the service is told the call, and nothing of its headers', async () => {
  const host = fakeHost(answering({ verdict: true }));
  const check = await plugin.create({ webhookURL, timeout: 1234, headers: { 'X-Own': 'own', authorization: 'Bearer own' } }, host);
  const headers = { authorization: 'Bearer provider-key', 'x-gateway-api-key': 'gateway-key', 'x-tenant': 'tenant', cookie: 'session' };
  await check.evaluate(fakeCheckInput({ body: { ...body as object, stream: true }, headers, metadata: { team: 'a' }, provider: 'openai' }));
  const [request] = host.requests;
  assert.ok(request !== undefined && typeof request.body === 'string');
  assert.deepEqual([request.url, request.method, request.timeoutMs], [webhookURL, 'POST', 1234]);
  assert.deepEqual(request.headers, { accept: 'application/json', 'content-type': 'application/json', 'x-own': 'own', authorization: 'Bearer own' });
  assert.deepEqual(JSON.parse(request.body), {
    request: { json: { ...body as object, stream: true }, text: 'hi', isStreamingRequest: true, isTransformed: false },
    response: { json: {}, text: '', statusCode: null, isTransformed: false },
    provider: 'openai', requestType: 'chatComplete', metadata: { team: 'a' }, eventType: 'beforeRequestHook',
  });
  assert.doesNotMatch(request.body, /provider-key|gateway-key|tenant|session/);
});

test('at the output both sides are told', async () => {
  const host = fakeHost(answering({ verdict: true }));
  const check = await plugin.create({ webhookURL, timeout: 3000 }, host);
  await check.evaluate(fakeCheckInput({ stage: 'output', body, answer, provider: 'openai' }));
  const told = JSON.parse(String(host.requests[0]?.body)) as { request: unknown; response: unknown; eventType: string };
  assert.deepEqual(told.request, { json: body, text: 'hi', isStreamingRequest: false, isTransformed: false });
  assert.deepEqual(told.response, { json: answer, text: 'hello', statusCode: 200, isTransformed: false });
  assert.equal(told.eventType, 'afterRequestHook');
});

test('headers of the request go along when they are named', async () => {
  const host = fakeHost(answering({ verdict: true }));
  const check = await plugin.create({ webhookURL, timeout: 3000, forwardHeaders: ['X-Tenant', 'x-absent', 'x-gateway-trace-id', 'x-strange', 'x-own'], headers: '{"x-own":"ours"}' }, host);
  await check.evaluate(fakeCheckInput({ body, headers: { 'x-tenant': 't', 'x-gateway-trace-id': 'trace', 'x-strange': 'a\u0100', 'x-own': 'theirs', 'x-other': 'o' } }));
  assert.deepEqual(host.requests[0]?.headers, {
    accept: 'application/json', 'content-type': 'application/json', 'x-tenant': 't', 'x-gateway-trace-id': 'trace', 'x-own': 'ours',
  });
});

test('headers that carry secrets are never passed on', () => {
  for (const name of [
    'Authorization', 'proxy-authorization', 'Cookie', 'Set-Cookie', 'x-api-key', 'api-key', 'x-goog-api-key', 'x-amz-security-token', 'x-my-secret', 'x-user-token',
    'Connection', 'Host', 'Transfer-Encoding', 'content-length', 'metadata-flavor', 'Metadata', 'x-aws-ec2-metadata-token', 'x-gateway-api-key', 'x-gateway-config',
    'x-gateway-metadata', 'x-gateway-anything', 'bad name', '',
  ]) {
    assert.throws(() => plugin.create({ webhookURL, timeout: 3000, forwardHeaders: ['x-fine', name] }, fakeHost()),
      (thrown: unknown) => thrown instanceof ParameterError && thrown.path === 'forwardHeaders[1]', name);
  }
});

test('what the service says is shown, its address only as far as the host', async () => {
  const check = await plugin.create({ webhookURL, timeout: 3000 }, fakeHost(answering({ verdict: false, data: { score: 0.9 } })));
  const verdict = await check.evaluate(fakeCheckInput({ body }));
  assert.deepEqual(verdict, {
    pass: false, why: 'the webhook rejects it',
    data: { explanation: 'the webhook rejects it', webhookUrl: 'https://judge.example', requestContext: { timeout: 3000 }, responseData: { score: 0.9 } },
  });
});

test('a call that nobody waits for any more is given up', async () => {
  const host = fakeHost(answering({ verdict: true }));
  const { signal } = new AbortController();
  await (await plugin.create({ webhookURL, timeout: 3000 }, host)).evaluate(fakeCheckInput({ body, signal }));
  assert.equal(host.requests[0]?.signal, signal);
});

test('the service is told that an earlier check changed the request', async () => {
  const host = fakeHost(answering({ verdict: true }));
  const changed = bodyWithText('chatCompletions', 'changed');
  await (await plugin.create({ webhookURL, timeout: 3000 }, host)).evaluate({ ...fakeCheckInput({ body }), json: () => changed, pieces: () => requestPieces('chatCompletions', changed) });
  const { request } = JSON.parse(String(host.requests[0]?.body)) as { request: unknown };
  assert.deepEqual(request, { json: changed, text: 'changed', isStreamingRequest: false, isTransformed: true });
});
