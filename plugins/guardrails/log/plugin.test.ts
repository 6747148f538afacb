import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyWithText, conformGuardrail, fakeCheckInput, fakeHost } from '@gateway/plugin-sdk/testing';
import plugin from './plugin.js';

const params = { logURL: 'https://log.example/in' };

conformGuardrail(plugin, {
  passes: [
    { params, text: 'hi', stage: 'output', host: { fetch: () => ({ body: 'not JSON' }) } },
    { params, text: 'hi', stage: 'output', host: { fetch: () => ({ status: 204 }) } },
    { params, text: 'hi', host: { fetch: () => ({ status: 202 }) } },
  ],
  fails: [],
  errors: [
    { params, text: 'hi', stage: 'output', host: { fetch: () => ({ status: 503 }) }, message: /log\.example answered with status 503/ },
    { params, text: 'hi', stage: 'output', host: { fetch: () => { throw new Error('refused'); } }, message: /refused/ },
  ],
  refuses: [{ logURL: 'log' }, { logURL: 'file:///etc/passwd' }, { ...params, headers: '{' }, { ...params, headers: { 'Content-Length': '1' } }],
});

test('what is posted holds both bodies and no header of the request', async () => {
  const host = fakeHost({ fetch: () => ({}) });
  const check = await plugin.create({ ...params, timeout: 700, headers: '{"X-Key":"own"}' }, host);
  const body = bodyWithText('messages', 'question');
  const answer = bodyWithText('messages', 'answer', 'output');
  await check.evaluate(fakeCheckInput({ endpoint: 'messages', stage: 'output', body, answer, headers: { authorization: 'Bearer provider-key', 'x-api-key': 'provider-key' }, metadata: { a: 1 }, provider: 'anthropic' }));
  const [request] = host.requests;
  assert.ok(request !== undefined && typeof request.body === 'string');
  assert.deepEqual([request.method, request.timeoutMs, request.headers?.['x-key']], ['POST', 700, 'own']);
  assert.doesNotMatch(JSON.stringify(request), /provider-key/);
  assert.deepEqual(JSON.parse(request.body), {
    request: { json: body, text: 'question', isStreamingRequest: false, isTransformed: false },
    response: { json: answer, text: 'answer', statusCode: 200, isTransformed: false },
    provider: 'anthropic', requestType: 'messages', metadata: { a: 1 }, eventType: 'afterRequestHook',
  });
});
