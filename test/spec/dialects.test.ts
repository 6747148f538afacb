// Three client dialects over a provider that speaks chat only: what the gateway itself does around the translation.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { checkMessagesEvents, checkResponsesEvents, SseReader } from '@gateway/plugin-sdk/testing';
import { apiKey, routed, startTestGateway } from '../support/gateway.js';
import { answerChat, answerStream, chatChunks, chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const gateway = await startTestGateway();
const upstream = await startUpstream();
beforeEach(() => {
  upstream.received.length = 0;
  upstream.answer = answerChat;
});

const groq = (config: Readonly<Record<string, unknown>> = {}): Record<string, string> => routed(upstream.url, { provider: 'ovhcloud', ...config });
const post = (path: string, body: unknown, headers: Record<string, string> = groq()): Promise<Response> =>
  fetch(gateway.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });

async function eventsOf(response: Response): Promise<{ event?: string; data: any }[]> {
  const events: { event?: string; data: any }[] = [];
  const reader = new SseReader();
  const emit = ({ event, data }: { event: string | undefined; data: string }): void => { events.push({ ...(event === undefined ? {} : { event }), data: JSON.parse(data) }); };
  reader.push(Buffer.from(await response.arrayBuffer()), emit);
  reader.end(emit);
  return events;
}

const hello = { model: 'm', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] };

describe('messages over a chat provider', () => {
  it('goes up as chat and comes back as a message', async () => {
    const response = await post('/v1/messages', { ...hello, system: 'Be brief.', top_k: 5 });
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    const body = await response.json() as any;
    assert.deepEqual([body.type, body.role, body.stop_reason, body.content], ['message', 'assistant', 'end_turn', [{ type: 'text', text: 'Hello there.' }]]);
    assert.deepEqual([body.usage.input_tokens, body.usage.output_tokens], [9, 3]);
    const [sent] = upstream.received;
    assert.equal(sent?.url, '/v1/chat/completions');
    assert.deepEqual(sent?.json().messages, [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hello' }]);
    assert.equal(response.headers.get('x-gateway-unsupported-params'), 'top_k');
  });

  it('lists what was left out so that no name can forge a header', async () => {
    const response = await post('/v1/messages', { ...hello, 'a\r\nx-forged: 1': 1, 'b,c': 2, [`long${'g'.repeat(500)}`]: 3, ...Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`n${index}`, 1])) });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('x-forged'), null);
    const names = response.headers.get('x-gateway-unsupported-params')?.split(',') ?? [];
    assert.deepEqual(names.slice(0, 2), ['a??x-forged: 1', 'b?c']);
    assert.equal(names[2]?.length, 64);
    assert.equal(names.length, 32);
  });

  it('streams the documented events', async () => {
    upstream.answer = answerStream(['Hel', 'lo']);
    const response = await post('/v1/messages', { ...hello, stream: true });
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
    const events = await eventsOf(response);
    assert.deepEqual(checkMessagesEvents(events), []);
    assert.equal(events.filter(({ event }) => event === 'content_block_delta').map(({ data }) => data.delta.text).join(''), 'Hello');
    assert.deepEqual((upstream.received[0]?.json() as any).stream_options, { include_usage: true });
  });

  it('that breaks off ends with an error event, not with message_stop', async () => {
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${chatChunks(['Hel', 'lo']).slice(0, 2).join('\n\n')}\n\n`);
    };
    const events = await eventsOf(await post('/v1/messages', { ...hello, stream: true }));
    assert.equal(events.at(-1)?.event, 'error');
    assert.ok(events.every(({ event }) => event !== 'message_stop'));
  });

  it('tells errors in the shape of Anthropic, with the status and message of the provider', async () => {
    for (const [status, type] of [[429, 'rate_limit_error'], [404, 'not_found_error'], [500, 'api_error']] as const) {
      upstream.answer = (_, response) => sendJson(response, status, { error: { message: `it is ${status}`, type: 'some_type', code: 'c', param: null } });
      const response = await post('/v1/messages', hello);
      assert.equal(response.status, status);
      assert.deepEqual(await response.json(), { type: 'error', error: { type, message: `it is ${status}` } });
    }
    upstream.answer = (_, response) => { response.writeHead(502, { 'content-type': 'text/html' }); response.end('<html><body><h1>Bad gateway</h1></body></html>'); };
    assert.deepEqual(await (await post('/v1/messages', hello)).json(), { type: 'error', error: { type: 'api_error', message: 'Bad gateway' } });
  });

  it('works with the official client, which raises the provider\'s errors as its own', async () => {
    const client = new Anthropic({ apiKey: 'unused', baseURL: gateway.url, defaultHeaders: groq(), maxRetries: 0 });
    const message = await client.messages.create({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] });
    assert.equal(message.content[0]?.type, 'text');
    upstream.answer = (_, response) => sendJson(response, 429, { error: { message: 'slow down' } });
    await assert.rejects(client.messages.create({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }), Anthropic.RateLimitError);
  });

  it('counts tokens by an estimate that says so', async () => {
    const response = await post('/v1/messages/count_tokens', { model: 'm', messages: [{ role: 'user', content: 'Hello there, how are you?' }] });
    assert.equal(response.status, 200);
    const { input_tokens: tokens } = await response.json() as { input_tokens: number };
    assert.ok(tokens >= 5 && tokens <= 25, String(tokens));
    assert.equal(response.headers.get('x-gateway-unsupported-params'), 'exact count');
    assert.equal(upstream.received.length, 0);
  });
});

describe('responses over a chat provider', () => {
  const client = new OpenAI({ apiKey: 'unused', baseURL: `${gateway.url}/v1`, defaultHeaders: groq(), maxRetries: 0 });

  it('are kept: read, listed, gone on from and deleted, without any routing', async () => {
    const first = await client.responses.create({ model: 'm', input: 'My name is Ada.', instructions: 'Be brief.' });
    assert.equal(first.output_text, 'Hello there.');
    assert.match(first.id, /^resp_gw_/);
    const own = { 'x-gateway-api-key': apiKey };
    const read = await fetch(`${gateway.url}/v1/responses/${first.id}`, { headers: own });
    assert.equal(read.status, 200);
    assert.deepEqual(JSON.parse(await read.text()), JSON.parse(JSON.stringify({ ...first, output_text: undefined })));
    const items = await (await fetch(`${gateway.url}/v1/responses/${first.id}/input_items`, { headers: own })).json() as any;
    assert.equal(items.data[0].content[0].text, 'My name is Ada.');

    const second = await client.responses.create({ model: 'm', input: 'What is my name?', previous_response_id: first.id });
    const sent = upstream.received.at(-1)?.json() as any;
    assert.deepEqual(sent.messages.map((message: any) => message.role), ['user', 'assistant', 'user'], 'instructions are not carried over');
    assert.equal(second.previous_response_id, first.id);

    const cancelled = await fetch(`${gateway.url}/v1/responses/${first.id}/cancel`, { method: 'POST', headers: own });
    assert.equal(cancelled.status, 400);
    assert.equal((await client.responses.retrieve(second.id)).id, second.id);
    const deleted = await fetch(`${gateway.url}/v1/responses/${first.id}`, { method: 'DELETE', headers: own });
    assert.equal(((await deleted.json()) as any).deleted, true);
    assert.equal((await fetch(`${gateway.url}/v1/responses/${first.id}`, { headers: own })).status, 404);
    await assert.rejects(client.responses.create({ model: 'm', input: 'And now?', previous_response_id: second.id }), OpenAI.NotFoundError);
  });

  it('with store false are not kept', async () => {
    const response = await client.responses.create({ model: 'm', input: 'Hello', store: false });
    assert.equal((await fetch(`${gateway.url}/v1/responses/${response.id}`, { headers: { 'x-gateway-api-key': apiKey } })).status, 404);
  });

  it('stream the documented events, and the streamed response is kept', async () => {
    upstream.answer = answerStream(['Hel', 'lo']);
    const response = await post('/v1/responses', { model: 'm', input: 'Hello', stream: true });
    const events = await eventsOf(response);
    assert.deepEqual(checkResponsesEvents(events), []);
    const final = events.at(-1)?.data.response;
    assert.equal(final.output[0].content[0].text, 'Hello');
    const read = await fetch(`${gateway.url}/v1/responses/${final.id}`, { headers: { 'x-gateway-api-key': apiKey } });
    assert.deepEqual(await read.json(), final);
  });

  it('that break off end with an error event that is numbered on', async () => {
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${chatChunks(['Hel', 'lo']).slice(0, 2).join('\n\n')}\n\ndata: {"error":{"message":"own words","type":"server_error","code":"c1"}}\n\n`);
    };
    const events = await eventsOf(await post('/v1/responses', { model: 'm', input: 'Hello', stream: true }));
    const last = events.at(-1)?.data;
    assert.deepEqual([last.type, last.message, last.code], ['error', 'own words', 'c1']);
    assert.deepEqual(events.map(({ data }) => data.sequence_number), events.map((_, index) => index));
  });

  it('name a built-in tool that the provider does not have', async () => {
    const response = await post('/v1/responses', { model: 'm', input: 'Hello', tools: [{ type: 'web_search' }] });
    assert.equal(response.status, 400);
    assert.match(((await response.json()) as any).error.message, /web_search/);
    assert.equal(upstream.received.length, 0);
  });

  it('of other workspaces and of nobody are not found', async () => {
    const response = await fetch(`${gateway.url}/v1/responses/resp_gw_${'0'.repeat(32)}`, { headers: { 'x-gateway-api-key': apiKey } });
    assert.equal(response.status, 404);
    assert.equal((await fetch(`${gateway.url}/v1/responses/resp_gw_${'0'.repeat(32)}`)).status, 401);
  });

  it('whose items are only named keep the items themselves', async () => {
    const first = await client.responses.create({ model: 'm', input: 'My name is Ada.' });
    const [said] = first.output;
    const second = await client.responses.create({ model: 'm', input: [{ type: 'item_reference', id: said?.id ?? '' }, { role: 'user', content: 'And mine?' }] });
    await client.responses.delete(first.id);
    await client.responses.create({ model: 'm', input: 'Go on.', previous_response_id: second.id });
    const sent = upstream.received.at(-1)?.json() as { messages: { role: string; content: string }[] };
    assert.deepEqual(sent.messages.map(({ role, content }) => [role, content]), [['assistant', 'Hello there.'], ['user', 'And mine?'], ['assistant', 'Hello there.'], ['user', 'Go on.']]);
  });

  it('leave reasoning that another provider made where it is', async () => {
    const first = await client.responses.create({ model: 'm', input: 'Hello' });
    upstream.answer = (_, response) => sendJson(response, 200, { id: 'resp_native', object: 'response', output: [] });
    const reasoning = { type: 'reasoning', id: 'rs_native', summary: [] };
    await post('/v1/responses', { model: 'm', input: [{ type: 'item_reference', id: first.output[0]?.id }, reasoning, { role: 'user', content: 'x' }] }, routed(upstream.url));
    const sent = upstream.received.at(-1)?.json() as { input: { type?: string; id?: string }[] };
    assert.deepEqual(sent.input[1], reasoning);
    assert.deepEqual([sent.input[0]?.type, sent.input[0]?.id], ['message', undefined]);
  });

  it('made here go to a provider that keeps its own with their whole history', async () => {
    const first = await client.responses.create({ model: 'm', input: 'My name is Ada.' });
    upstream.answer = (_, response) => sendJson(response, 200, { id: 'resp_native', object: 'response', output: [] });
    const response = await post('/v1/responses', { model: 'm', input: 'What is my name?', previous_response_id: first.id }, routed(upstream.url));
    assert.equal(response.status, 200);
    const sent = upstream.received.at(-1);
    assert.equal(sent?.url, '/v1/responses');
    const body = sent?.json() as any;
    assert.equal(body.previous_response_id, undefined);
    assert.deepEqual(body.input.map((item: any) => item.role), ['user', 'assistant', 'user']);
  });
});

describe('a provider that speaks the dialect', () => {
  it('gets and gives the very bytes', async () => {
    const request = '{"model":"m",  "max_tokens":50,"messages":[{"role":"user","content":"\\u0048ello"}],"future":12345678901234567890}';
    const answer = '{"id":"msg_1", "type":"message","content":[ ],"usage":{"input_tokens":1,"output_tokens":2},"future":1.0}';
    upstream.answer = (_, response) => { response.writeHead(200, { 'content-type': 'application/json' }); response.end(answer); };
    const response = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers: { 'content-type': 'application/json', ...routed(upstream.url, { provider: 'anthropic' }) }, body: request });
    assert.equal(await response.text(), answer);
    assert.equal(upstream.received[0]?.body.toString(), request);
    const failure = '{"type":"error","error":{"type":"overloaded_error","message":"busy"},"request_id":"r"}';
    upstream.answer = (_, response) => { response.writeHead(529, { 'content-type': 'application/json' }); response.end(failure); };
    const failed = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers: { 'content-type': 'application/json', ...routed(upstream.url, { provider: 'anthropic' }) }, body: request });
    assert.deepEqual([failed.status, await failed.text()], [529, failure]);
  });
});

describe('a fallback over dialects', () => {
  it('translates for the targets that need it', async () => {
    upstream.answer = (received, response) => (received.url === '/v1/messages'
      ? sendJson(response, 500, { type: 'error', error: { type: 'api_error', message: 'down' } })
      : sendJson(response, 200, chatCompletion));
    const target = { api_key: 'k', custom_host: `${upstream.url}/v1` };
    const headers = {
      'x-gateway-api-key': apiKey,
      'x-gateway-config': JSON.stringify({ strategy: { mode: 'fallback' }, targets: [{ provider: 'anthropic', ...target }, { provider: 'ovhcloud', ...target }] }),
    };
    const response = await post('/v1/messages', { ...hello, top_k: 4 }, headers);
    assert.equal(response.status, 200);
    assert.equal(((await response.json()) as any).content[0].text, 'Hello there.');
    assert.deepEqual(upstream.received.map(({ url }) => url), ['/v1/messages', '/v1/chat/completions']);
  });
});

describe('rerank', () => {
  it('takes the provider\'s name off the model', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, { results: [], id: 'r' });
    await post('/v1/rerank', { model: 'siliconflow.some-model', query: 'q', documents: ['a'] }, routed(upstream.url, { provider: 'siliconflow' }));
    assert.equal(upstream.received[0]?.json().model, 'some-model');
  });
});
