// Calls from web pages: what browsers ask before, and what answers must say so that a script may read them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { routed, startTestGateway, type TestGateway } from '../support/gateway.js';
import { answerStream, sendJson, startUpstream } from '../support/upstream.js';

const page = 'https://app.example.com';
const upstream = await startUpstream((_, response) => sendJson(response, 200, { ok: true }, { 'access-control-allow-origin': 'https://provider.example', vary: 'accept' }));
const gateway = await startTestGateway({ GATEWAY_CORS_ORIGINS: `${page}, http://localhost:3000` });
const open = await startTestGateway({ GATEWAY_CORS_ORIGINS: '*' });
const off = await startTestGateway();

const preflight = (of: TestGateway, origin: string, path = '/v1/chat/completions'): Promise<Response> => fetch(`${of.url}${path}`, {
  method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization, content-type, x-gateway-config' },
});
const call = (of: TestGateway, origin: string | undefined, headers: Readonly<Record<string, string>> = routed(upstream.url), body: object = {}): Promise<Response> => fetch(`${of.url}/v1/chat/completions`, {
  method: 'POST', headers: { 'content-type': 'application/json', ...(origin === undefined ? {} : { origin }), ...headers }, body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }], ...body }),
});
const said = (answer: Response, name: string): string | null => answer.headers.get(`access-control-${name}`);

describe('a web page that may call', () => {
  it('is told so before, without a key, on any path and connection', async () => {
    for (const path of ['/v1/chat/completions', '/v1/proxy/anything', '/v1/models']) {
      const answer = await preflight(gateway, page, path);
      assert.equal(answer.status, 204);
      assert.equal(said(answer, 'allow-origin'), page);
      assert.match(said(answer, 'allow-methods') ?? '', /POST/);
      assert.equal(said(answer, 'allow-headers'), 'authorization, content-type, x-gateway-config');
      assert.match(said(answer, 'max-age') ?? '', /^\d+$/);
      assert.match(answer.headers.get('vary') ?? '', /origin/);
      assert.equal(await answer.text(), '');
    }
    assert.equal(said(await preflight(gateway, 'http://localhost:3000'), 'allow-origin'), 'http://localhost:3000');
  });

  it('may read answers, errors and streams, with their headers, and a provider has no say in it', async () => {
    const answers = [await call(gateway, page), await call(gateway, page, { 'x-gateway-api-key': 'wrong' }), await fetch(`${gateway.url}/nowhere`, { headers: { origin: page } })];
    upstream.answer = answerStream(['hello']);
    answers.push(await call(gateway, page, routed(upstream.url), { stream: true }));
    assert.deepEqual(answers.map(({ status }) => status), [200, 401, 404, 200]);
    for (const answer of answers) {
      assert.equal(said(answer, 'allow-origin'), page);
      assert.equal(said(answer, 'expose-headers'), '*');
      assert.equal(said(answer, 'allow-credentials'), null);
      assert.match(answer.headers.get('vary') ?? '', /origin/);
      await answer.arrayBuffer();
    }
  });

  it('may be any page, when the setting says so', async () => {
    assert.equal(said(await preflight(open, 'https://other.example'), 'allow-origin'), '*');
    assert.equal(said(await call(open, 'https://other.example'), 'allow-origin'), '*');
  });
});

describe('a web page that may not', () => {
  it('is told nothing that a browser would take for leave', async () => {
    for (const origin of ['https://evil.example', 'https://app.example.com.evil.example', 'http://app.example.com', 'null']) {
      for (const answer of [await preflight(gateway, origin), await call(gateway, origin)]) {
        assert.equal(said(answer, 'allow-origin'), null);
        assert.equal(said(answer, 'allow-headers'), null);
        assert.match(answer.headers.get('vary') ?? '', /origin/, 'caches must not give this answer to another page');
        await answer.arrayBuffer();
      }
    }
  });

  it('is none that sends no origin: the answer is as ever, but for vary', async () => {
    const answer = await call(gateway, undefined);
    assert.equal(answer.status, 200);
    assert.equal(said(answer, 'allow-origin'), null);
  });
});

it('without the setting nothing is said of it, OPTIONS is refused, and a provider\'s headers pass', async () => {
  upstream.answer = (_, response) => sendJson(response, 200, { ok: true }, { 'access-control-allow-origin': 'https://provider.example' });
  assert.equal((await preflight(off, page)).status, 405);
  const answer = await call(off, page);
  assert.equal(said(answer, 'allow-origin'), 'https://provider.example');
  assert.equal(said(await fetch(`${off.url}/health`, { headers: { origin: page } }), 'allow-origin'), null);
});
