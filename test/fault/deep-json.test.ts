// JSON that nests deeper than anything has a use for, from clients and from providers: a clear refusal, no 500, no call without an end.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { levelsMax } from '../../core/body/depth.js';
import { apiKey, routed, startTestGateway } from '../support/gateway.js';
import { chatChunks, chatCompletion, startUpstream } from '../support/upstream.js';

const upstream = await startUpstream();
const gateway = await startTestGateway();
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const deepObject = (levels: number): string => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
const far = 20_000;

interface Told {
  readonly status: number;
  readonly text: string;
  readonly code: string;
}

async function post(path: string, body: string, headers: Record<string, string>): Promise<Told> {
  const answer = await fetch(`${gateway.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const text = await answer.text();
  let code = '';
  try {
    code = JSON.parse(text).error.code ?? '';
  } catch {
    // Streams and answers.
  }
  return { status: answer.status, text, code };
}

const bodies: Readonly<Record<string, (piece: string) => string>> = {
  '/v1/chat/completions': (piece) => `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":${piece}}}]}`,
  '/v1/messages': (piece) => `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","input_schema":${piece}}]}`,
  '/v1/responses': (piece) => `{"model":"m","input":"x","tools":[{"type":"function","name":"f","parameters":${piece}}]}`,
  '/v1/completions': (piece) => `{"model":"m","prompt":"x","metadata":${piece}}`,
  '/v1/embeddings': (piece) => `{"model":"m","input":"x","extra":${piece}}`,
};

describe('a request that nests too deep', () => {
  it('is refused with 400 and a limit with a name, on every route', async () => {
    for (const [path, body] of Object.entries(bodies)) {
      for (const piece of [deepObject(levelsMax), deepObject(far), `{"a":${deep(far)}}`]) {
        const before = upstream.received.length;
        const { status, code, text } = await post(path, body(piece), routed(upstream.url));
        if (path === '/v1/messages') assert.match(text, /deeper than 128 levels/);
        else assert.equal(code, 'body_too_deep', `${path}: ${text.slice(0, 300)}`);
        assert.equal(status, 400, path);
        assert.equal(upstream.received.length, before);
      }
    }
  });

  it('is served up to the limit', async () => {
    const { status, text } = await post('/v1/chat/completions', (bodies['/v1/chat/completions'] as (piece: string) => string)(deepObject(levelsMax - 5)), routed(upstream.url));
    assert.equal(status, 200, text);
  });

  it('is refused in the text of tool arguments or served, but no fault of ours', async () => {
    for (const provider of ['openai', 'anthropic', 'google', 'cohere', 'ollama', 'mistral-ai']) {
      for (const piece of [deepObject(far), deep(far)]) {
        const body = JSON.stringify({ model: 'm', max_tokens: 5, messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: piece } }] },
          { role: 'tool', tool_call_id: 'c1', content: piece },
        ] });
        const { status, text } = await post('/v1/chat/completions', body, routed(upstream.url, { provider, custom_host: upstream.url }));
        assert.ok(status < 500 || /upstream/.test(text), `${provider}: ${status} ${text.slice(0, 300)}`);
      }
    }
  });

  it('is refused in headers', async () => {
    for (const piece of [deepObject(5_000), deep(12_000)]) {
      for (const headers of [
        { ...routed(upstream.url), 'x-gateway-metadata': `{"a":${piece}}` },
        { 'x-gateway-api-key': apiKey, 'x-gateway-config': `{"provider":"openai","api_key":"sk-x","override_params":{"a":${piece}}}` },
      ]) {
        const { status, text } = await post('/v1/chat/completions', (bodies['/v1/chat/completions'] as (piece: string) => string)('{}'), headers);
        assert.ok(status < 500, `${status} ${text.slice(0, 300)}`);
      }
    }
  });
});

const checked = { after_request_hooks: [{ id: 'h', type: 'guardrail', deny: true, checks: [{ id: 'default.regexMatch', parameters: { rule: 'zzz', not: true } }] }] };
const configs: Readonly<Record<string, Readonly<Record<string, unknown>>>> = { plain: {}, judged: checked, cached: { cache: { mode: 'simple' } }, shared: { cache: { mode: 'simple', share_in_flight: true } } };
const paths = ['/v1/chat/completions', '/v1/messages', '/v1/responses'];
let count = 0;
const asked = (path: string, isStream: boolean): string => JSON.stringify(path === '/v1/responses'
  ? { model: 'm', input: `x${count += 1}`, stream: isStream }
  : { model: 'm', max_tokens: 5, stream: isStream, messages: [{ role: 'user', content: `x${count += 1}` }] });

describe('an answer that nests too deep', () => {
  after(() => upstream.close());

  it('is 502, or relayed as it came where nothing looks into it', async () => {
    for (const [name, config] of Object.entries(configs)) {
      for (const path of paths) {
        for (const piece of [deepObject(far), deep(far)]) {
          for (const status of [200, 400]) {
            const body = status === 200
              ? JSON.stringify(chatCompletion).replace('"usage"', `"extra":${piece},"usage"`).replace('"logprobs":null', `"logprobs":${piece}`)
              : `{"error":{"message":"no","type":"invalid_request_error","param":${piece}}}`;
            upstream.answer = (_, response) => { response.writeHead(status, { 'content-type': 'application/json' }); response.end(body); };
            const told = await post(path, asked(path, false), routed(upstream.url, config));
            assert.ok(told.status === status || told.status === 502, `${name} ${path} ${status}: ${told.status} ${told.text.slice(0, 300)}`);
            if (told.status === 502) assert.match(told.text, /deeper than 128 levels/);
          }
        }
      }
    }
  });

  it('ends a stream with an error event, or goes as it came where nothing looks into it', async () => {
    for (const [name, config] of Object.entries(configs)) {
      for (const path of paths) {
        for (const piece of [deepObject(far), deep(far)]) {
          for (const place of [1, 2, 3]) {
            const events = chatChunks(['hello', 'there']);
            events[place] = (events[place] as string).replace('"object"', `"extra":${piece},"object"`).replace('"delta":{', `"delta":{"extra":${piece},`);
            upstream.answer = (_, response) => { response.writeHead(200, { 'content-type': 'text/event-stream' }); response.end(`${events.join('\n\n')}\n\n`); };
            const told = await post(path, asked(path, true), routed(upstream.url, config));
            assert.ok(told.status === 200 || told.status === 502, `${name} ${path}: ${told.status} ${told.text.slice(0, 200)}`);
            assert.match(told.text, /\[DONE\]|message_stop|response\.completed|"error"|response\.failed/, `${name} ${path} ${place}: no end`);
          }
        }
      }
    }
  });

  it('ends a stream whose last event cannot be written again', async () => {
    const event = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;
    for (const levels of [3_000, far]) {
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const whole = `{"id":"r","object":"response","status":"completed","model":"m","output":[],"extra":${deep(levels)}}`;
        response.end(event('response.created', '{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","status":"in_progress","model":"m","output":[]}}')
          + event('response.completed', `{"type":"response.completed","sequence_number":1,"response":${whole}}`));
      };
      for (const config of [checked, { ...checked, cache: { mode: 'simple' } }]) {
        const told = await post('/v1/responses', asked('/v1/responses', true), routed(upstream.url, config));
        assert.match(told.text, /"type":"error"|response\.completed/, told.text.slice(0, 300));
      }
    }
  });
});
