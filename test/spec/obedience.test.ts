// What the control plane changes is obeyed by every thread of a real process, by all calls that begin a moment later; open streams finish.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startChildGateway } from '../support/child-gateway.js';
import { adminKey } from '../support/gateway.js';
import { chatChunks, chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const held: (() => void)[] = [];
const upstream = await startUpstream((received, response) => {
  if (received.json().stream !== true) {
    sendJson(response, 200, chatCompletion);
    return;
  }
  const chunks = chatChunks(['one', 'two']);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`${chunks.slice(0, 2).join('\n\n')}\n\n`);
  held.push(() => response.end(`${chunks.slice(2).join('\n\n')}\n\n`));
});
const gateway = await startChildGateway({ GATEWAY_THREADS: '2' });
const workspace = 'first-workspace';

async function control(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${gateway.url}/v1${path}`, { method, headers: { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await response.text();
  assert.equal(response.status, 200, `${method} ${path}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

const store = async (slug: string): Promise<void> => {
  await control('POST', '/integrations', { name: slug, slug, ai_provider_id: 'openai', key: `sk-${slug}`, workspace_id: workspace, configurations: { custom_host: `${upstream.url}/${slug}/v1` }, create_default_provider: false });
  await control('POST', '/providers', { name: slug, slug, integration_id: slug, workspace_id: workspace });
};
await store('first');
await store('second');
const config = await control('POST', '/configs', { name: 'c', workspace_id: workspace, config: { provider: '@first' } });
const slug = String(config.slug);
const makeKey = async (): Promise<{ readonly id: string; readonly key: string }> => {
  const { id, key } = await control('POST', '/api-keys/workspace/service', { name: 'k', workspace_id: workspace, scopes: ['completions.write'], defaults: { config_id: slug } });
  return { id: String(id), key: String(key) };
};

/** Over a connection of its own, which the kernel gives to one of the threads. */
async function call(key: string, headers: Readonly<Record<string, string>> = {}, isStream = false): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST', headers: { 'x-gateway-api-key': key, 'content-type': 'application/json', ...(isStream ? {} : { connection: 'close' }), ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }], ...(isStream ? { stream: true } : {}) }),
  });
}

/** Milliseconds from the reply to the control call until the last call began that did not obey. Asks long enough that no thread is left out. */
async function obeyedAfter(change: () => Promise<unknown>, obeys: (response: Response) => boolean, begin: () => Promise<Response>): Promise<number> {
  await change();
  const repliedAt = performance.now();
  let lastAt = repliedAt;
  for (let inARow = 0, asked = 0; inARow < 16; asked += 1) {
    assert.ok(asked < 2000, 'the change is not obeyed');
    const began = performance.now();
    const response = await begin();
    await response.arrayBuffer();
    inARow = obeys(response) ? inARow + 1 : 0;
    if (inARow === 0) lastAt = began;
  }
  return lastAt - repliedAt;
}

async function textOf(response: Response): Promise<string> {
  assert.equal(response.status, 200);
  const text = await response.text();
  return [...text.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('');
}

/** Streams on several connections that wait in their middle. */
async function openStreams(key: string, headers: Readonly<Record<string, string>> = {}): Promise<readonly Response[]> {
  return Promise.all(Array.from({ length: 6 }, () => call(key, headers, true)));
}

async function finish(streams: readonly Response[]): Promise<void> {
  for (const end of held.splice(0)) end();
  for (const stream of streams) assert.equal(await textOf(stream), 'onetwo');
}

describe('a change over the control plane', () => {
  it('of a config is obeyed by all threads, and the calls on the one before finish on it', async () => {
    const { key } = await makeKey();
    const streams = await openStreams(key);
    const before = upstream.received.length;
    const ms = await obeyedAfter(
      () => control('PUT', `/configs/${slug}?workspace_id=${workspace}`, { config: { provider: '@second' } }),
      () => upstream.received.at(-1)?.url.startsWith('/second/') === true,
      () => call(key),
    );
    assert.ok(ms < 1000, `after ${ms} ms`);
    assert.ok(upstream.received.length >= before + 16);
    await finish(streams);
  });

  it('that archives a provider is obeyed by all threads, and open streams finish', async () => {
    const { key } = await makeKey();
    const headers = { 'x-gateway-provider': '@first', 'x-gateway-config': '{"passthrough":true}' };
    const streams = await openStreams(key, headers);
    const ms = await obeyedAfter(() => control('DELETE', `/providers/first?workspace_id=${workspace}`), ({ status }) => status === 403 || status === 404, () => call(key, headers));
    assert.ok(ms < 1000, `after ${ms} ms`);
    await finish(streams);
  });

  it('that revokes a key is obeyed by all threads, and open streams finish', async () => {
    const { id, key } = await makeKey();
    const streams = await openStreams(key);
    const ms = await obeyedAfter(() => control('DELETE', `/api-keys/${id}`), ({ status }) => status === 401, () => call(key));
    assert.ok(ms < 1000, `after ${ms} ms`);
    await finish(streams);
  });

  it('of a workspace\'s defaults is obeyed by all threads', async () => {
    const { key } = await makeKey();
    await control('PUT', `/configs/${slug}?workspace_id=${workspace}`, {
      config: { strategy: { mode: 'conditional', conditions: [{ query: { 'metadata.tier': { $eq: 'gold' } }, then: 'none' }], default: 'usual' }, targets: [{ name: 'usual', provider: '@second' }, { name: 'none', provider: '@second', override_params: { model: 'gold' } }] },
    });
    const ms = await obeyedAfter(() => control('PUT', `/workspaces/${workspace}`, { defaults: { metadata: { tier: 'gold' } } }), () => upstream.received.at(-1)?.json().model === 'gold', () => call(key));
    assert.ok(ms < 1000, `after ${ms} ms`);
  });
});
