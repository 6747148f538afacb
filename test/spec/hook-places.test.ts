// What hooks judge is what goes: no place of a body, no second reading of it and no list of tokens is a way around them, in any dialect, plain or
// streamed. test/conformance/string-places.test.ts goes through every place; here they are tried through the gateway.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { sendJson, startUpstream, type Answer } from '../support/upstream.js';

const upstream = await startUpstream();
const gateway = await startTestGateway();

const judge = { 'default.regexMatch': { rule: 'needle', not: true } };
const denies = { deny: true, ...judge };
const redacts = { 'default.regexReplace': { rule: 'needle', redactText: 'straw', lookBack: 16 } };

interface Called { readonly status: number; readonly text: string; readonly json: any }

async function call(config: object, path: string, body: object | string): Promise<Called> {
  const response = await fetch(gateway.url + path, {
    method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: {
      'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'anthropic-version': '2023-06-01',
      'x-gateway-config': JSON.stringify({ provider: path === '/v1/messages' ? 'anthropic' : 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1`, ...config }),
    },
  });
  const text = await response.text();
  let json: any;
  try { json = JSON.parse(text); } catch { json = undefined; }
  return { status: response.status, text, json };
}

const completion = (choice: object, more: object = {}): object => ({ id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, finish_reason: 'stop', ...choice }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }, ...more });
const message = (content: readonly object[]): object => ({ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content, stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } });
const response = (output: readonly object[]): object => ({ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output });
const fine: Readonly<Record<string, object>> = {
  '/v1/chat/completions': completion({ message: { role: 'assistant', content: 'fine' } }), '/v1/messages': message([{ type: 'text', text: 'fine' }]),
  '/v1/responses': response([{ type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'fine', annotations: [] }] }]),
};
const answers = (body: object): Answer => (_, out) => sendJson(out, 200, body);

const hi = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
const assistant = (more: object): object => ({ model: 'm', messages: [{ role: 'assistant', content: 'x', ...more }] });
const requests: readonly (readonly [string, object])[] = [
  ['/v1/chat/completions', { ...hi, user: 'a needle' }],
  ['/v1/chat/completions', { ...hi, metadata: { key: 'a needle' } }],
  ['/v1/chat/completions', { ...hi, metadata: { 'a needle': 'x' } }],
  ['/v1/chat/completions', { ...hi, prediction: { type: 'content', content: 'a needle' } }],
  ['/v1/chat/completions', { ...hi, messages: [{ role: 'user', content: 'x', name: 'needle' }] }],
  ['/v1/chat/completions', { ...hi, tools: [{ type: 'function', function: { name: 'f', description: 'a needle' } }] }],
  ['/v1/chat/completions', { ...hi, tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { needle: { type: 'string' } } } } }] }],
  ['/v1/chat/completions', { ...hi, response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object', description: 'a needle' } } } }],
  ['/v1/chat/completions', assistant({ tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"needle":1}' } }] })],
  ['/v1/chat/completions', assistant({ tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: { a: 'needle' } } }] })],
  ['/v1/chat/completions', assistant({ tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":"needle","a":1}' } }] })],
  // Escaped, and given twice: one reader takes the letters, another the value.
  ['/v1/chat/completions', assistant({ tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":"\\u006eeedle","a":"\\u006eeedle"}' } }] })],
  ...[{ $ref: 'needle' }, { type: 'string', format: 'needle' }, { $id: 'needle' }, { type: 'needle' }, { data: 'needle' }]
    .map((of): [string, object] => ['/v1/chat/completions', { ...hi, tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { a: of } } } }] }]),
  ['/v1/messages', { ...hi, max_tokens: 5, messages: [{ role: 'user', content: [{ type: 'search_result', source: 'https://example.com/needle', title: 't', content: [{ type: 'text', text: 'x' }] }] }] }],
  ['/v1/chat/completions', assistant({ vendor_thought: 'a needle' })],
  ['/v1/messages', { ...hi, max_tokens: 5, metadata: { user_id: 'a needle' } }],
  ['/v1/messages', { ...hi, max_tokens: 5, tools: [{ name: 'f', description: 'a needle', input_schema: { type: 'object' } }] }],
  ['/v1/messages', { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: [{ type: 'code_execution_tool_result', tool_use_id: 't', content: { type: 'code_execution_result', stdout: 'a needle', stderr: '', return_code: 0, content: [] } }] }] }],
  ['/v1/responses', { model: 'm', prompt: { id: 'p', variables: { a: 'a needle' } } }],
  ['/v1/responses', { model: 'm', input: [{ type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'a needle', stderr: '', outcome: { type: 'exit', exit_code: 0 } }] }] }],
  ['/v1/responses', { model: 'm', input: [{ type: 'web_search_call', id: 'w', status: 'completed', action: { type: 'search', query: 'a needle' } }] }],
];

describe('a text of a request', () => {
  for (const [path, body] of requests) {
    it(`is judged and changed, wherever it stands: ${path} ${JSON.stringify(body).slice(14, 120)}`, async () => {
      upstream.answer = answers(fine[path] as object);
      const before = upstream.received.length;
      const denied = await call({ input_guardrails: [denies] }, path, body);
      assert.deepEqual([denied.status, upstream.received.length - before], [446, 0], denied.text);
      const changed = await call({ input_mutators: [redacts] }, path, body);
      assert.equal(changed.status, 200, changed.text);
      const sent = upstream.received.at(-1)?.body.toString() ?? '';
      assert.doesNotMatch(sent, /needle/);
      assert.match(sent, /straw/);
    });
  }

  const encoded = Buffer.from('a needle\n').toString('base64');
  const chatFile = (file: object): object => ({ model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file }] }] });
  const files: readonly (readonly [string, object])[] = [
    ['/v1/chat/completions', chatFile({ filename: 'a.txt', file_data: `data:text/plain;base64,${encoded}` })],
    ['/v1/chat/completions', chatFile({ filename: 'a.txt', file_data: `DATA:Text/Plain; base64,${encoded.slice(0, 4)} ${encoded.slice(4)}` })],
    ['/v1/chat/completions', chatFile({ filename: 'a.md', file_data: encoded })],
    ['/v1/chat/completions', chatFile({ filename: 'a.txt', file_data: Buffer.from('\xff\0 a needle', 'latin1').toString('base64') })],
    ['/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:text/plain;base64,${encoded}` } }] }] }],
    ['/v1/responses', { model: 'm', input: [{ role: 'user', content: [{ type: 'input_file', filename: 'a.txt', file_data: `data:application/json;base64,${encoded}` }] }] }],
    ['/v1/messages', { ...hi, max_tokens: 5, messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'base64', media_type: 'text/plain', data: encoded } }] }] }],
  ];
  for (const [path, body] of files) {
    it(`is judged and changed in a file that holds text: ${path} ${JSON.stringify(body).slice(14, 160)}`, async () => {
      upstream.answer = answers(fine['/v1/messages'] as object);
      for (const provider of ['anthropic', 'openai']) {
        const before = upstream.received.length;
        const denied = await call({ input_guardrails: [denies], provider }, path, body);
        assert.deepEqual([denied.status, upstream.received.length - before], [446, 0], denied.text);
        await call({ input_mutators: [redacts], provider }, path, body);
        const sent = upstream.received.at(-1)?.body.toString() ?? '';
        const file = sent.replace(/(?<=[",])[\w+/]{11,}=*(?=")/g, (data) => Buffer.from(data, 'base64').toString());
        assert.match(file, /straw/, sent);
        assert.doesNotMatch(sent + file, /needle/);
      }
    });
  }

  it('is changed without a change to the numbers beside it, in requests and in answers', async () => {
    const numbers = '"n":12345678901234567890,"m":[-9007199254740993,1e400]';
    const body = `{"model":"m","max_tokens":5,"seed":9007199254740993,"messages":[{"role":"user","content":[{"type":"tool_use","id":"t","name":"f","input":{"a":"a needle",${numbers}}}]}]}`;
    for (const [provider, path, seen] of [['anthropic', '/v1/messages', numbers], ['openai', '/v1/chat/completions', '"seed":9007199254740993']] as const) {
      upstream.answer = (_, out) => {
        out.writeHead(200, { 'content-type': 'application/json' });
        out.end(`{"id":"msg_1","type":"message","role":"assistant","model":"m","choices":[],"content":[{"type":"tool_use","id":"t","name":"f","input":{"a":"a needle",${numbers}}}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`);
      };
      const { status, text } = await call({ input_mutators: [redacts], output_mutators: [redacts], provider }, path, body);
      assert.equal(status, 200, text);
      const sent = upstream.received.at(-1)?.body.toString() ?? '';
      assert.ok(sent.includes(seen), sent);
      assert.match(sent, /a straw/);
      if (provider === 'anthropic') assert.ok(text.includes(`"a":"a straw",${numbers}`), text);
    }
  });

  it('that is a number is judged with all of its digits', async () => {
    const body = `{"model":"m","messages":[{"role":"user","content":"hi"}],"metadata":{"card":6304000000000000000}}`;
    upstream.answer = answers(fine['/v1/chat/completions'] as object);
    const card = { deny: true, 'default.regexMatch': { rule: '^6304000000000000001$', not: true } };
    assert.equal((await call({ input_guardrails: [card] }, '/v1/chat/completions', body.replace('0000}', '0001}'))).status, 446);
    assert.equal((await call({ input_guardrails: [card] }, '/v1/chat/completions', body)).status, 200);
  });

  it('is judged in an item that is kept here and only named, also with a role beside the name', async () => {
    upstream.answer = answers(fine['/v1/messages'] as object);
    const kept = await call({ provider: 'anthropic' }, '/v1/responses', { model: 'm', input: [{ type: 'message', role: 'user', content: 'a needle' }] });
    const id = `${String(kept.json.id).replace('resp_', 'msg_')}_in_0`;
    for (const more of [{}, { role: 'user' }, { role: 'user', content: 'x' }]) {
      const before = upstream.received.length;
      const denied = await call({ provider: 'anthropic', input_guardrails: [denies] }, '/v1/responses', { model: 'm', input: [{ type: 'item_reference', id, ...more }] });
      assert.deepEqual([denied.status, upstream.received.length - before], [446, 0], JSON.stringify(more) + denied.text);
    }
  });

  it('that is one of more values in arguments than can be judged is refused', async () => {
    for (const list of [`[${'1,'.repeat(200_001)}"needle"]`, `{${'"a":1,'.repeat(100_001)}"a":"needle"}`]) {
      const before = upstream.received.length;
      const { status, json } = await call({ input_guardrails: [judge] }, '/v1/chat/completions', assistant({ tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: list } }] }));
      assert.deepEqual([status, json.error?.param, upstream.received.length - before], [400, 'messages[0].tool_calls[0].function.arguments', 0]);
    }
  });

  it('that is a picture goes up unread and unchanged', async () => {
    const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...Buffer.from('a needle')]).toString('base64');
    upstream.answer = answers(fine['/v1/chat/completions'] as object);
    const body = { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }] }] };
    assert.equal((await call({ input_guardrails: [denies] }, '/v1/chat/completions', body)).status, 200);
    assert.deepEqual(upstream.received.at(-1)?.json(), body);
  });

  const twice: Readonly<Record<string, RegExp>> = {
    '{"model":"m","messages":[{"role":"user","content":"a needle"}],"messages":[{"role":"user","content":"hi"}]}': /^messages: is given twice/,
    '{"model":"m","messages":[{"role":"user","content":"a needle","content":"hi"}]}': /^messages\[0\]\.content: is given twice/,
    '{"model":"m","messages":[{"role":"user","content":"a needle","\\u0063ontent":"hi"}]}': /^messages\[0\]\.content: is given twice/,
    '{"model":"m","messages":[{"role":"user","content":"hi"}],"Messages":[{"role":"user","content":"a needle"}]}': /^Messages: differs from messages in upper and lower case only/,
    '{"model":"m","messages":[{"role":"user","content":"hi","Content":"a needle"}]}': /^messages\[0\]\.Content: differs from content/,
  };
  it('that can be read in two ways is refused with its place, and only where hooks judge it', async () => {
    upstream.answer = answers(fine['/v1/chat/completions'] as object);
    for (const [body, expected] of Object.entries(twice)) {
      const before = upstream.received.length;
      for (const config of [{ input_guardrails: [denies] }, { input_mutators: [redacts] }]) {
        const { status, json } = await call(config, '/v1/chat/completions', body);
        assert.equal(status, 400, body);
        assert.match(json.error.message, expected);
      }
      assert.equal(upstream.received.length, before);
      assert.equal((await call({}, '/v1/chat/completions', body)).status, 200, body);
      assert.equal((await call({ output_guardrails: [denies] }, '/v1/chat/completions', body)).status, 200, body);
    }
    const own = JSON.stringify({ ...hi, metadata: { Name: 'a', name: 'b' } });
    assert.equal((await call({ input_guardrails: [denies] }, '/v1/chat/completions', own)).status, 200);
  });

  it('that is a list of token ids is refused where a check reads texts, and only there', async () => {
    upstream.answer = answers({ object: 'list', data: [], model: 'm', choices: [] });
    for (const [path, body, place] of [
      ['/v1/embeddings', { model: 'm', input: [17, 4] }, 'input'], ['/v1/embeddings', { model: 'm', input: ['a', [17, 4]] }, 'input[1]'], ['/v1/completions', { model: 'm', prompt: [[17, 4]] }, 'prompt[0]'],
    ] as const) {
      for (const config of [{ input_guardrails: [denies] }, { input_guardrails: [judge] }, { input_mutators: [redacts] }, { input_guardrails: [{ 'default.pii': {} }] }]) {
        const before = upstream.received.length;
        const { status, json } = await call(config, path, body);
        assert.deepEqual([status, json.error.param, upstream.received.length - before], [400, place, 0], JSON.stringify([config, body]));
        assert.match(json.error.message, /is a list of token ids, which the hooks of this route cannot judge; send the text instead/);
      }
      for (const config of [{}, { input_guardrails: [{ deny: true, 'default.modelWhitelist': { models: ['m'] } }] }]) assert.equal((await call(config, path, body)).status, 200);
    }
  });
});

const repeated = JSON.stringify(completion({ message: { role: 'assistant', content: 'fine' } })).replace('"content":', '"content":"a needle","content":');
const answered: readonly (readonly [string, object])[] = [
  ['/v1/chat/completions', completion({ message: { role: 'assistant', content: 'x', annotations: [{ type: 'url_citation', url_citation: { title: 'a needle', url: 'https://x.example' } }] } })],
  ['/v1/chat/completions', completion({ message: { role: 'assistant', content: 'x' }, logprobs: { content: [{ token: 'x', logprob: 0, bytes: null, top_logprobs: [{ token: 'needle', logprob: -1, bytes: null }] }], refusal: null } })],
  ['/v1/chat/completions', completion({ message: { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"needle":1}' } }] } })],
  ['/v1/chat/completions', completion({ message: { role: 'assistant', content: 'x', vendor_thought: 'a needle' } })],
  ['/v1/messages', message([{ type: 'text', text: 'x', citations: [{ type: 'char_location', cited_text: 'a needle', document_index: 0, document_title: null, start_char_index: 0, end_char_index: 1 }] }])],
  ['/v1/messages', message([{ type: 'web_search_tool_result', tool_use_id: 't', content: [{ type: 'web_search_result', title: 'a needle', url: 'https://x.example', encrypted_content: 'AA' }] }])],
  ['/v1/responses', response([{ type: 'code_interpreter_call', id: 'c', code: '', container_id: 'c', outputs: [{ type: 'logs', logs: 'a needle' }] }])],
  ['/v1/responses', response([{ type: 'file_search_call', id: 'f', status: 'completed', queries: ['a needle'], results: null }])],
];

describe('a text of an answer', () => {
  for (const [path, body] of answered) {
    it(`is judged and changed, wherever it stands: ${path} ${JSON.stringify(body).slice(60, 200)}`, async () => {
      upstream.answer = answers(body);
      const asked = path === '/v1/responses' ? { model: 'm', input: 'hi' } : { ...hi, max_tokens: 5 };
      const denied = await call({ output_guardrails: [denies] }, path, asked);
      assert.equal(denied.status, 446, denied.text);
      assert.doesNotMatch(denied.text, /a needle/);
      const changed = await call({ output_mutators: [redacts] }, path, asked);
      assert.equal(changed.status, 200, changed.text);
      assert.doesNotMatch(changed.text, /needle/);
    });
  }

  it('that can be read in two ways goes as it was judged, plain and streamed', async () => {
    upstream.answer = (_, out) => { out.writeHead(200, { 'content-type': 'application/json' }); out.end(repeated); };
    const plain = await call({ output_guardrails: [denies] }, '/v1/chat/completions', hi);
    assert.equal(plain.status, 200);
    assert.doesNotMatch(plain.text, /a needle/);
    const chunk = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a needle","content":"fine"},"finish_reason":null}]}';
    upstream.answer = (_, out) => { out.writeHead(200, { 'content-type': 'text/event-stream' }); out.end(`data: ${chunk}\n\ndata: ${chunk.replace(/"delta":{[^}]*}/, '"delta":{}').replace('null', '"stop"')}\n\ndata: [DONE]\n\n`); };
    const streamed = await call({ output_guardrails: [denies] }, '/v1/chat/completions', { ...hi, stream: true });
    assert.match(streamed.text, /"content":"fine"/);
    assert.doesNotMatch(streamed.text, /a needle/);
  });
});
