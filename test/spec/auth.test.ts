// Who may call, and what of their credentials and identity leaves the gateway: on real sockets, with a provider that shows all it was sent.

import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import OpenAI, { AzureOpenAI } from 'openai';
import { adminKey, apiKey, routed, startTestGateway } from '../support/gateway.js';
import { startUpstream, type Received } from '../support/upstream.js';

const upstream = await startUpstream();
const gateway = await startTestGateway();
const chatPath = '/v1/chat/completions';
const proxyPath = '/v1/proxy/anything?a=1';
const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] });

const { 'x-gateway-config': config = '' } = routed(upstream.url);
/** Routing without a key in the config: the client's Authorization is the provider's. */
const byProvider = { 'x-gateway-provider': 'openai', 'x-gateway-custom-host': `${upstream.url}/v1` };

const call = (headers: Record<string, string>, path = chatPath): Promise<Response> =>
  fetch(gateway.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: chat });

async function refused(headers: Record<string, string>, path = chatPath): Promise<{ status: number; error: Record<string, string>; text: string }> {
  const before = upstream.received.length;
  const response = await call(headers, path);
  const text = await response.text();
  assert.equal(upstream.received.length, before, 'a refused call must not reach the provider');
  return { status: response.status, error: JSON.parse(text).error, text };
}

async function sent(headers: Record<string, string>, path = chatPath): Promise<Received> {
  const response = await call(headers, path);
  assert.equal(response.status, 200, await response.text());
  const received = upstream.received.at(-1);
  assert.ok(received);
  return received;
}

/** All that the provider got, as one text. */
const everything = (received: Received): string => `${received.method} ${received.url}\n${received.rawHeaders.join('\n')}\n${received.body.toString('latin1')}`;

describe('a call without a valid key', () => {
  for (const path of [chatPath, proxyPath, '/v1/files']) {
    it(`is refused on ${path} when it carries none, and is told where to put it`, async () => {
      const { status, error } = await refused({ 'x-gateway-config': config }, path);
      assert.equal(status, 401);
      assert.equal(error.code, 'key_missing');
      assert.equal(error.type, 'authentication_error');
      assert.match(error.message ?? '', /send it as x-gateway-api-key/);
    });
  }

  it('is refused when the key is wrong, and the answer does not repeat it', async () => {
    for (const wrong of ['wrong-key-that-nobody-has', `${apiKey}x`, apiKey.slice(0, -1), apiKey.toUpperCase(), 'x'.repeat(5000)]) {
      const { status, error, text } = await refused({ 'x-gateway-api-key': wrong, 'x-gateway-config': config });
      assert.equal(status, 401);
      assert.equal(error.code, 'key_invalid');
      assert.match(error.message ?? '', /check x-gateway-api-key/);
      // As in control calls, for clients of ours.
      const { status: state, message } = JSON.parse(text) as { readonly status?: unknown; readonly message?: unknown };
      assert.deepEqual([state, message], ['failure', error.message]);
      assert.ok(!text.includes(wrong));
    }
  });

  it('is not let in by a good Authorization beside a wrong key', async () => {
    const { status, error } = await refused({ 'x-gateway-api-key': 'wrong-key-that-nobody-has', authorization: `Bearer ${apiKey}`, 'x-gateway-config': config });
    assert.equal(status, 401);
    assert.equal(error.code, 'key_invalid');
  });

  it('hears that the gateway key is missing when Authorization has a provider\'s', async () => {
    const { status, error } = await refused({ authorization: 'Bearer sk-of-a-provider', ...byProvider });
    assert.equal(status, 401);
    assert.equal(error.code, 'key_missing');
  });

  it('hears that the key is not valid when Authorization has an unknown one of the gateway\'s shape', async () => {
    const { status, error } = await refused({ authorization: `Bearer gw_${'A'.repeat(43)}`, 'x-gateway-config': config });
    assert.equal(status, 401);
    assert.equal(error.code, 'key_invalid');
  });

  it('is not let in by the key under another scheme or without one', async () => {
    for (const authorization of [apiKey, `Basic ${Buffer.from(`:${apiKey}`).toString('base64')}`, `Token ${apiKey}`]) {
      assert.equal((await refused({ authorization, 'x-gateway-config': config })).status, 401);
    }
  });

  it('gets the error in the shape of the dialect it speaks', async () => {
    const response = await call({ 'x-gateway-config': config }, '/v1/messages');
    assert.equal(response.status, 401);
    const body = JSON.parse(await response.text());
    assert.equal(body.type, 'error');
    assert.equal(body.error.type, 'authentication_error');
  });

  it('still reads health and readiness', async () => {
    for (const path of ['/health', '/v1/health', '/ready']) {
      const response = await fetch(gateway.url + path);
      assert.equal(response.status, 200, path);
      await response.text();
    }
  });
});

describe('the scope of a key', () => {
  it('keeps an organisation admin key from inference, and the answer says what to use', async () => {
    for (const path of [chatPath, proxyPath]) {
      for (const headers of [{ 'x-gateway-api-key': adminKey }, { authorization: `Bearer ${adminKey}` }]) {
        const { status, error, text } = await refused({ ...headers, 'x-gateway-config': config }, path);
        assert.equal(status, 403);
        assert.equal(error.code, 'key_without_workspace');
        assert.equal(error.type, 'permission_error');
        assert.match(error.message ?? '', /use a key of a workspace/);
        assert.ok(!text.includes(adminKey));
      }
    }
  });
});

describe('the gateway key', () => {
  const cases: [string, Record<string, string>][] = [
    ['in its own header', { 'x-gateway-api-key': apiKey, 'x-gateway-config': config }],
    ['as Authorization', { authorization: `Bearer ${apiKey}`, 'x-gateway-config': config }],
    ['as Authorization with another spelling of the scheme', { authorization: `bEARER   ${apiKey}`, 'x-gateway-config': config }],
    ['in both headers', { 'x-gateway-api-key': apiKey, authorization: `Bearer ${apiKey}`, 'x-gateway-config': config }],
    ['in both headers, once without a scheme', { 'x-gateway-api-key': apiKey, authorization: apiKey, 'x-gateway-config': config }],
    ['named for forwarding', { 'x-gateway-api-key': apiKey, authorization: `Bearer ${apiKey}`, 'x-gateway-config': config, 'x-gateway-forward-headers': 'authorization' }],
  ];
  for (const [place, headers] of cases) {
    for (const path of [chatPath, proxyPath]) {
      it(`${place} opens ${path} and never reaches the provider`, async () => {
        const received = await sent(headers, path);
        assert.equal(received.headers.authorization, 'Bearer sk-upstream');
        assert.ok(!everything(received).includes(apiKey));
      });
    }
  }

  it('in both headers does not become the provider\'s key when the config has none', async () => {
    for (const path of [chatPath, proxyPath]) {
      const received = await sent({ 'x-gateway-api-key': apiKey, authorization: `Bearer ${apiKey}`, ...byProvider }, path);
      assert.equal(received.headers.authorization, undefined);
      assert.ok(!everything(received).includes(apiKey));
    }
  });

  it('of an organisation does not become the provider\'s key either', async () => {
    const received = await sent({ 'x-gateway-api-key': apiKey, authorization: `Bearer ${adminKey}`, ...byProvider }, proxyPath);
    assert.equal(received.headers.authorization, undefined);
    assert.ok(!everything(received).includes(adminKey));
  });

  const forwarding = { 'x-gateway-forward-headers': 'x-api-key, api-key, x-goog-api-key, x-token, x-note, xi-api-key' };
  const places: [string, Record<string, string>, string?][] = [
    ['in x-api-key', { 'x-api-key': apiKey }],
    ['in api-key', { 'api-key': apiKey }],
    ['in x-goog-api-key', { 'x-goog-api-key': apiKey }],
    ['of an organisation in x-api-key', { 'x-api-key': adminKey }],
    ['in a header of the client\'s own', { 'xi-api-key': apiKey }],
    ['among other words of a header', { 'x-note': `retry with ${apiKey}, please` }],
    ['as a member of a header', { 'x-token': `kind=user;key="${adminKey}"` }],
    ['as Authorization: Token', { authorization: `Token ${apiKey}` }],
    ['of an organisation as Authorization: Token', { authorization: `Token ${adminKey}` }],
    ['as Authorization with a tab', { authorization: `Bearer\t${adminKey}` }],
    ['as a password', { authorization: `Basic ${Buffer.from(`user:${apiKey}`).toString('base64')}` }],
    ['as a user name', { authorization: `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}` }],
    ['in the query', {}, `?a=1&key=${apiKey}&b=2`],
    ['in the query, encoded', {}, `?a=1&authorization=Bearer%20${apiKey.replaceAll('-', '%2D')}&b=2`],
  ];
  for (const [place, headers, query = '?a=1&b=2'] of places) {
    for (const path of [chatPath, proxyPath.replace(/\?.*$/, '')]) {
      it(`${place} beside x-gateway-api-key on ${path} never reaches the provider, with and without a key of the config's`, async () => {
        for (const routing of [{ 'x-gateway-config': config }, byProvider]) {
          const received = await sent({ 'x-gateway-api-key': apiKey, ...forwarding, ...headers, ...routing }, path + query);
          assert.equal(received.headers.authorization, 'x-gateway-config' in routing ? 'Bearer sk-upstream' : undefined);
          const all = everything(received) + decodeURIComponent(received.url);
          for (const key of [apiKey, adminKey]) assert.ok(!all.includes(key), all);
          assert.match(received.url, /\?a=1&b=2$/);
        }
      });
    }
  }

  for (const name of ['x-api-key', 'api-key', 'x-goog-api-key']) {
    it(`in ${name} lets its holder in, beside a provider's key in Authorization or none, and never reaches the provider`, async () => {
      for (const path of [chatPath, proxyPath]) {
        const own = await sent({ [name]: apiKey, 'x-gateway-config': config }, path);
        assert.equal(own.headers.authorization, 'Bearer sk-upstream');
        const beside = await sent({ [name]: apiKey, authorization: 'Bearer sk-of-the-client', ...byProvider }, path);
        assert.equal(beside.headers.authorization, 'Bearer sk-of-the-client');
        for (const received of [own, beside]) assert.ok(!everything(received).includes(apiKey));
      }
      assert.equal((await refused({ [name]: `gw_${'A'.repeat(43)}`, 'x-gateway-config': config })).error.code, 'key_invalid');
      assert.equal((await refused({ [name]: 'sk-of-a-provider', 'x-gateway-config': config })).error.code, 'key_missing');
      assert.equal((await refused({ [name]: adminKey, 'x-gateway-config': config })).error.code, 'key_without_workspace');
    });
  }

  it('as a credential in a header of the gateway is taken for none', async () => {
    const received = await sent({ 'x-gateway-api-key': apiKey, authorization: 'Bearer sk-of-the-client', ...byProvider, 'x-gateway-vendor-project': adminKey, 'x-gateway-vendor-organization': 'org-1' });
    assert.equal(received.headers['openai-organization'], 'org-1');
    assert.ok(!everything(received).includes(adminKey));
  });

  it('in a path is refused, on the proxy and in an address', async () => {
    const inPath = await refused({ 'x-gateway-api-key': apiKey, 'x-gateway-config': config }, `/v1/proxy/bot/${apiKey}/send`);
    assert.equal(inPath.status, 400);
    assert.equal(inPath.error.code, 'path_invalid');
    const inHost = await refused({ 'x-gateway-api-key': apiKey, 'x-gateway-provider': 'openai', 'x-gateway-custom-host': `${upstream.url}/${adminKey}/v1` });
    assert.equal(inHost.status, 400);
    for (const { text } of [inPath, inHost]) for (const key of [apiKey, adminKey]) assert.ok(!text.includes(key));
  });

  it('is refused as a key of a provider in a config, and the answer says where', async () => {
    const { status, error, text } = await refused({ ...routed(upstream.url, { api_key: adminKey }) });
    assert.equal(status, 400);
    assert.equal(error.code, 'config_invalid');
    assert.match(error.message ?? '', /^config\.api_key: is a key of this gateway/);
    assert.ok(!text.includes(adminKey));
  });

  it('is stored as a hash only', () => {
    const bytes = Buffer.concat(readdirSync(gateway.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile()).map((entry) => readFileSync(join(entry.parentPath, entry.name))));
    for (const key of [apiKey, adminKey]) {
      assert.ok(bytes.includes(createHash('sha256').update(key).digest('hex')), 'the hash is what is looked up');
      for (const form of [key, key.slice(0, 12), Buffer.from(key).toString('base64').slice(0, -4), Buffer.from(key).toString('hex'), Buffer.from(key, 'utf16le')]) {
        assert.ok(!bytes.includes(form), 'the key itself must not be on disk');
      }
    }
  });
});

describe('an official client that has the gateway key where its API\'s key goes', () => {
  const maxRetries = 0;
  const reaches = (): Received => {
    const received = upstream.received.at(-1);
    assert.ok(received);
    assert.ok(!everything(received).includes(apiKey));
    return received;
  };

  it('of OpenAI is let in', async () => {
    const client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries, defaultHeaders: { 'x-gateway-config': config } });
    const answer = await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
    assert.equal(answer.choices[0]?.message.content, 'Hello there.');
    assert.equal(reaches().headers.authorization, 'Bearer sk-upstream');
  });

  it('of OpenAI for Azure is let in', async () => {
    const client = new AzureOpenAI({ apiKey, baseURL: `${gateway.url}/v1`, apiVersion: 'v1', maxRetries, defaultHeaders: { 'x-gateway-config': config } });
    await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
    assert.equal(reaches().headers.authorization, 'Bearer sk-upstream');
  });

  it('of Anthropic is let in', async () => {
    const client = new Anthropic({ apiKey, baseURL: gateway.url, maxRetries, defaultHeaders: { 'x-gateway-config': config } });
    const answer = await client.messages.create({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] });
    assert.deepEqual(answer.content.map((block) => (block.type === 'text' ? block.text : block.type)), ['Hello there.']);
    assert.equal(reaches().headers.authorization, 'Bearer sk-upstream');
  });

  it('of Google is let in', async () => {
    const target = JSON.stringify({ provider: 'google', api_key: 'AIza-upstream', custom_host: upstream.url });
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${gateway.url}/v1/proxy`, apiVersion: '', headers: { 'x-gateway-config': target } } });
    await client.models.generateContent({ model: 'm', contents: 'x' });
    assert.match(reaches().url, /\/models\/m:generateContent$/);
    assert.equal(reaches().headers['x-goog-api-key'], 'AIza-upstream');
  });
});

describe('the provider\'s credential', () => {
  it('is the config\'s, whatever the client sent as Authorization', async () => {
    for (const path of [chatPath, proxyPath]) {
      const received = await sent({ ...routed(upstream.url), authorization: 'Bearer sk-of-the-client' }, path);
      assert.equal(received.headers.authorization, 'Bearer sk-upstream');
      assert.ok(!everything(received).includes('sk-of-the-client'));
    }
  });

  it('on the proxy is the config\'s alone: no other key of the client goes beside it', async () => {
    const received = await sent({ ...routed(upstream.url), 'x-api-key': 'sk-of-the-client-1', 'api-key': 'sk-of-the-client-2', 'x-goog-api-key': 'sk-of-the-client-3' }, proxyPath);
    assert.equal(received.headers.authorization, 'Bearer sk-upstream');
    assert.ok(!everything(received).includes('sk-of-the-client'));
  });

  it('is the client\'s Authorization when the call names a provider only', async () => {
    for (const path of [chatPath, proxyPath]) {
      const received = await sent({ 'x-gateway-api-key': apiKey, authorization: 'Bearer sk-of-the-client', ...byProvider }, path);
      assert.equal(received.headers.authorization, 'Bearer sk-of-the-client');
    }
  });

  it('is asked for when a provider with an address of its own gets none', async () => {
    const { status, error } = await refused({ 'x-gateway-api-key': apiKey, 'x-gateway-provider': 'openai' });
    assert.equal(status, 401);
    assert.equal(error.code, 'provider_key_missing');
    assert.match(error.message ?? '', /Authorization: Bearer/);
  });
});

describe('what identifies the client', () => {
  const gatewayHeaders = {
    'x-gateway-trace-id': 'secret-trace', 'x-gateway-span-id': 'secret-span', 'x-gateway-parent-span-id': 'secret-parent', 'x-gateway-span-name': 'secret-name',
    'x-gateway-metadata': '{"user":"secret-user"}', 'x-gateway-cache-namespace': 'secret-space', 'x-gateway-cache-force-refresh': 'true',
    'x-gateway-request-timeout': '30000', 'x-gateway-strict-reference-compliance': 'true', 'x-gateway-virtual-key': '', 'x-gateway-made-up': 'secret-made-up',
  };
  const identity = {
    'x-forwarded-for': '203.0.113.9', 'x-forwarded-host': 'shop.example', 'x-forwarded-proto': 'https', 'x-forwarded-prefix': '/shop', forwarded: 'for=203.0.113.9',
    via: '1.1 proxy.example', 'x-real-ip': '203.0.113.9', 'x-client-ip': '203.0.113.9', 'true-client-ip': '203.0.113.9', 'cf-connecting-ip': '203.0.113.9',
    'x-original-url': '/secret', 'x-rewrite-url': '/secret', cookie: 'session=secret-session',
  };

  it('never leaves with a gateway header, known or not', async () => {
    for (const path of [chatPath, proxyPath]) {
      const received = await sent({ ...routed(upstream.url), ...gatewayHeaders }, path);
      assert.deepEqual(Object.keys(received.headers).filter((name) => name.startsWith('x-gateway')), []);
      assert.ok(!everything(received).includes('secret-'));
    }
  });

  it('never leaves with a gateway header that the config or the call wants forwarded', async () => {
    const listed = await sent({ ...routed(upstream.url, { forward_headers: ['x-gateway-trace-id', 'x-gateway-config', 'x-wanted'] }), ...gatewayHeaders, 'x-wanted': 'yes' });
    assert.equal(listed.headers['x-wanted'], 'yes');
    assert.deepEqual(Object.keys(listed.headers).filter((name) => name.startsWith('x-gateway')), []);
    const { status, error } = await refused({ ...routed(upstream.url), 'x-gateway-forward-headers': 'x-wanted, X-Gateway-Config' });
    assert.equal(status, 400);
    assert.equal(error.param, 'x-gateway-forward-headers');
  });

  it('is taken off a proxied call, and the other headers go on', async () => {
    const received = await sent({ ...routed(upstream.url), ...identity, 'x-own': 'kept', 'accept-language': 'de' }, proxyPath);
    for (const name of Object.keys(identity)) assert.equal(received.headers[name], undefined, name);
    assert.ok(!everything(received).includes('203.0.113.9'));
    assert.equal(received.headers['x-own'], 'kept');
    assert.equal(received.headers['accept-language'], 'de');
    assert.equal(received.headers.host, `127.0.0.1:${upstream.port}`);
  });

  it('is taken off a unified call, where only named headers go on', async () => {
    const received = await sent({
      ...routed(upstream.url), ...identity, 'x-own': 'kept', 'x-other': 'not named', 'user-agent': 'client/1',
      'x-gateway-forward-headers': ' X-Own ,cookie, x-forwarded-for',
    });
    for (const name of Object.keys(identity)) assert.equal(received.headers[name], undefined, name);
    assert.equal(received.headers['x-own'], 'kept');
    assert.equal(received.headers['x-other'], undefined);
    assert.match(received.headers['user-agent'] ?? '', /^gateway\//);
  });
});
