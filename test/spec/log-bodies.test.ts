// Bodies in the log: none unless the workspace, the organisation or the call asks for them; and of those that are kept, what is masked, cut and left out.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { LogBodies, LogRecord } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { BodyRows } from '../../plugins/exporters/store/bodies.js';
import storage from '../../plugins/storage/lmdb/plugin.js';
import { adminKey, apiKey, routed, startTestGateway } from '../support/gateway.js';
import { everyByte } from '../support/every-byte.js';
import { loggedInto, recordsIn } from '../support/logged.js';
import { answerChat, answerStream, chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const directory = mkdtempSync(join(tmpdir(), 'gateway-bodies-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const upstream = await startUpstream();
const gateway = await startTestGateway({ GATEWAY_DATA_DIR: directory, ...loggedInto(directory, ['store']) });

/** None of these may be in anything that is stored. */
const secrets = {
  apiKey, adminKey, provider: 'sk-provider-secret-0123456789', client: 'client-token-secret-0123456789', cookie: 'cookie-secret-0123456789', team: 'team-secret-0123456789', named: 'named-secret-0123456789',
  query: 'query-secret-0123456789', custom: 'custom-secret-0123456789', redacted: 'someone@redacted-secret.example', unasked: 'unasked-secret-0123456789',
};

async function change(path: string, body: object): Promise<void> {
  const response = await fetch(`${gateway.url}/v1${path}`, { method: 'PUT', headers: { 'content-type': 'application/json', 'x-gateway-api-key': adminKey }, body: JSON.stringify(body) });
  assert.equal(response.status, 200, await response.text());
}

const traces: string[] = [];
async function call(trace: string, headers: Record<string, string> = {}, body: object = {}, config: object = {}, path = '/v1/chat/completions'): Promise<string> {
  traces.push(trace);
  const response = await fetch(gateway.url + path, {
    method: 'POST', headers: { 'content-type': 'application/json', ...routed(upstream.url, { api_key: secrets.provider, ...config }), 'x-gateway-trace-id': trace, ...headers },
    body: JSON.stringify({ model: 'asked', messages: [{ role: 'user', content: `said in ${trace}` }], ...body }),
  });
  return response.text();
}

upstream.answer = answerChat;
await call('unasked', {}, { messages: [{ role: 'user', content: secrets.unasked }] });
await call('asked', {
  'x-gateway-debug': 'true', 'x-gateway-sensitive-headers': 'x-team', authorization: `Bearer ${secrets.client}`, cookie: secrets.cookie, 'x-team': secrets.team, 'x-shown': 'shown', 'x-api-key': secrets.client,
}, {}, { forward_headers: ['x-shown'] });
const provider = { 'x-gateway-api-key': apiKey, 'x-gateway-provider': 'openai', 'x-gateway-custom-host': `${upstream.url}/v1`, authorization: `Bearer ${secrets.client}` };
await fetch(`${gateway.url}/v1/proxy/things?key=${secrets.query}&limit=2`, { headers: { ...provider, 'x-gateway-trace-id': 'proxy', 'x-gateway-debug': 'true' } }).then((response) => response.text());
traces.push('proxy');
// A provider that says the key that it was sent.
upstream.answer = (_, response) => sendJson(response, 401, { error: { message: `Incorrect API key provided: ${secrets.provider}.`, type: 'invalid_request_error' } });
const told = await call('echo', { 'x-gateway-debug': 'true' });
upstream.answer = answerChat;
await fetch(`${gateway.url}/v1/integrations`, {
  method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey },
  body: JSON.stringify({ name: 'Stored', slug: 'stored', ai_provider_id: 'openai', key: secrets.provider, configurations: { custom_host: `${upstream.url}/v1`, custom_headers: { 'x-custom': secrets.custom } } }),
}).then((response) => response.text());
await fetch(`${gateway.url}/v1/chat/completions`, {
  method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-trace-id': 'slug', 'x-gateway-debug': 'true' },
  body: JSON.stringify({ model: '@stored/asked', messages: [{ role: 'user', content: 'said' }] }),
}).then((response) => response.text());
traces.push('slug');
upstream.answer = (received, response) => sendJson(response, 400, { error: { message: `got ${JSON.stringify(received.headers)}` } });
const toldHeaders = await call('echo-headers', { 'x-gateway-debug': 'true', 'x-gateway-config': JSON.stringify({ provider: '@stored' }) });
upstream.answer = answerStream(['one ', 'two ', 'three']);
const streamed = await call('stream', { 'x-gateway-debug': 'true' }, { stream: true });

await change('/admin/organisation', { settings: { log_bodies: { enabled: true, bytes_max: 1000, masked_headers: ['X-Named'] } } });
upstream.answer = (_, response) => sendJson(response, 200, { ...chatCompletion, system_fingerprint: 'ü'.repeat(3000) });
await call('enabled', { 'x-named': secrets.named }, { user: 'ü'.repeat(2000) });
await call('suppressed', { 'x-gateway-debug': 'false' }, { messages: [{ role: 'user', content: secrets.unasked }] });
upstream.answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'audio/mpeg' });
  response.end(Buffer.alloc(3000, 7));
};
await call('binary', {}, { input: 'x', voice: 'alloy' }, {}, '/v1/audio/speech');
upstream.answer = (received, response) => sendJson(response, 200, { ...chatCompletion, choices: [{ index: 0, message: { role: 'assistant', content: `you said ${String((received.json().messages as { content: string }[])[0]?.content)}` }, finish_reason: 'stop' }] });
const redact = { 'default.regexReplace': { rule: '\\S+@\\S+', redactText: '[hidden]' } };
await call('redacted', {}, { messages: [{ role: 'user', content: `mail ${secrets.redacted} to me` }] }, { input_guardrails: [redact] });
await call('redacted-answer', {}, {}, { output_guardrails: [{ 'default.regexReplace': { rule: 'said in', redactText: '[gone]' } }] });
await change('/admin/organisation', { settings: { log_bodies: { enabled: true, by_call: false, keep_original: true } } });
await change(`/admin/workspaces/${String((await (await fetch(`${gateway.url}/v1/admin/workspaces`, { headers: { 'x-gateway-api-key': adminKey } })).json() as { data: { id: string }[] }).data[0]?.id)}`, { log_bodies: { enabled: false } });
await call('workspace', { 'x-gateway-debug': 'true' });
await gateway.stop(3000);

const records = recordsIn(directory);
const opened = await storage.create({ path: directory }, fakeHost());
const kept = new Map<string, LogBodies | null>();
const stored: string[] = [];
try {
  const rows = new BodyRows(fakeHost(), await opened.open('exporter-store-bodies'), { bytesMax: 1e9, ageMsMax: 1e15 });
  for (const trace of traces) {
    const record = records.find(({ traceId }) => traceId === trace) as LogRecord;
    kept.set(trace, await rows.read(record));
  }
  for (const name of ['exporter-store-bodies', 'exporter-store-logs']) stored.push(await everyByte({ store: await opened.open(name) } as Parameters<typeof everyByte>[0]));
} finally {
  await opened.close?.();
}
const of = (trace: string): LogBodies => {
  const bodies = kept.get(trace);
  assert.ok(bodies, `${trace} has no bodies`);
  return bodies;
};

describe('bodies in the log', () => {
  it('are not there unless asked for, and not where they are not wanted', () => {
    for (const trace of ['unasked', 'suppressed', 'workspace']) assert.equal(kept.get(trace), null, trace);
    // Other exporters never get them.
    assert.deepEqual(records.map(({ bodies }) => bodies), records.map(() => null));
  });

  it('are whole and as they went by, with what is secret masked', () => {
    const { requestHeaders, request, upstreamUrl, upstreamHeaders, upstreamRequest, upstreamResponse, responseHeaders, response } = of('asked');
    const client = JSON.parse(requestHeaders) as Record<string, string>;
    assert.deepEqual([client['x-shown'], client['x-team'], client.cookie, client.authorization, client['x-api-key'], client['x-gateway-debug']], ['shown', '[masked]', '[masked]', '[masked]', '[masked]', 'true']);
    assert.match(request, /said in asked/);
    assert.equal(upstreamUrl, `${upstream.url}/v1/chat/completions`);
    const up = JSON.parse(upstreamHeaders) as Record<string, string>;
    assert.deepEqual([up.authorization, up['content-type'], up['x-shown']], ['[masked]', 'application/json', 'shown']);
    assert.equal(upstreamRequest, request);
    assert.deepEqual(JSON.parse(upstreamResponse), chatCompletion);
    assert.equal(response, upstreamResponse);
    assert.equal((JSON.parse(responseHeaders) as Record<string, string>)['content-type'], 'application/json');
  });

  it('are the same where the model names the stored provider', () => {
    const { request, upstreamRequest, upstreamResponse, response } = of('slug');
    assert.equal((JSON.parse(request) as { model: string }).model, '@stored/asked');
    assert.equal((JSON.parse(upstreamRequest) as { model: string }).model, 'asked');
    assert.deepEqual(JSON.parse(upstreamResponse), chatCompletion);
    assert.equal(response, upstreamResponse);
  });

  it('have no values of queries, and no key that a provider says again', () => {
    assert.equal(of('proxy').upstreamUrl, `${upstream.url}/v1/things?key=[masked]&limit=2`);
    assert.ok(told.includes(secrets.provider));
    assert.match(of('echo').upstreamResponse, /provided: \[masked\]\./);
    assert.match(of('echo').response, /provided: \[masked\]\./);
    assert.ok(toldHeaders.includes(secrets.custom));
    assert.match(of('echo-headers').upstreamResponse, /x-custom\\":\\"\[masked\]/);
  });

  it('of streams are the events that went by', () => {
    assert.equal(of('stream').response, streamed);
    assert.equal(of('stream').upstreamResponse, streamed);
  });

  it('are cut at their limit, in whole characters, with a mark', () => {
    for (const text of [of('enabled').request, of('enabled').upstreamResponse]) {
      assert.ok(text.endsWith('ü…'), text.slice(-10));
      const bytes = Buffer.byteLength(text);
      assert.ok(bytes <= 1003 && bytes >= 1002, `${bytes}`);
    }
    assert.equal((JSON.parse(of('enabled').requestHeaders) as Record<string, string>)['x-named'], '[masked]');
  });

  it('are left out where they are no text', () => {
    assert.equal(of('binary').response, '[not kept: 3000 bytes of audio/mpeg]');
  });

  it('do not bring back what guardrails took out', () => {
    assert.match(of('redacted').request, /mail \[hidden\] to me/);
    assert.equal(of('redacted').upstreamRequest, of('redacted').request);
    assert.equal(of('redacted').response, '[not kept: hooks changed the request]');
    assert.equal(of('redacted-answer').upstreamResponse, '[not kept: hooks changed the answer, or withheld it]');
    assert.match(of('redacted-answer').response, /you said \[gone\] redacted-answer/);
  });

  it('leave no secret in any stored byte', () => {
    const everything = [...stored, ...[...kept.values()].map((bodies) => JSON.stringify(bodies))].join('\n');
    assert.ok(everything.includes('said in asked'));
    for (const [name, secret] of Object.entries(secrets)) assert.equal(everything.includes(secret), false, name);
  });
});
