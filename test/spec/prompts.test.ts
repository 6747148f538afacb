// Calls of stored prompts over real sockets: what goes up, what comes back, and what is refused.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { LogRecord } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import OpenAI from 'openai';
import { workspaces } from '../../core/storage/tables/workspaces.js';
import { readLogBatch } from '../../plugins/exporters/store/log-batch.js';
import storage from '../../plugins/storage/lmdb/plugin.js';
import { adminKey, apiKey, startTestGateway } from '../support/gateway.js';
import { putRows } from '../support/rows.js';
import { storedData } from '../support/stored.js';
import { chatChunks, chatCompletion, sendJson, startUpstream, type Received } from '../support/upstream.js';

const upstream = await startUpstream((received, response) => {
  const body = received.json();
  if (received.url.startsWith('/cut')) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"id": "half an');
    setImmediate(() => response.destroy());
  } else if (received.url.startsWith('/broken')) sendJson(response, 500, { error: { message: 'broken', type: 'server_error' } });
  else if (body.stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${chatChunks(['Hi', '!']).join('\n\n')}\n\n`);
  } else if (received.url.endsWith('/chat/completions')) sendJson(response, 200, chatCompletion, { 'x-of-the-provider': 'told' });
  else sendJson(response, 200, { id: 'cmpl-1', object: 'text_completion', created: 1, model: 't', choices: [{ index: 0, text: 'said', finish_reason: 'stop', logprobs: null }], status: 'its own' });
});
const model = (slug: string): object => ({ slug, name: null, enabled: true, is_custom: true, is_finetune: false, base_model_slug: null, custom_host: null, header_names: [], pricing_config: null });
const { rows, environment } = await storedData();
await rows.integration('main', { key: 'sk-stored-main' }, { customHost: `${upstream.url}/v1` });
await rows.provider('main', 'main');
await rows.provider('openai-prod', 'main');
await rows.integration('second', { key: 'sk-stored-second' }, { customHost: `${upstream.url}/second` });
await rows.provider('second', 'second');
await rows.integration('broken', { key: 'sk' }, { customHost: `${upstream.url}/broken` });
await rows.provider('broken', 'broken');
await rows.integration('cut', { key: 'sk' }, { customHost: `${upstream.url}/cut` });
await rows.provider('cut', 'cut');
await rows.integration('listed', { key: 'sk' }, { customHost: `${upstream.url}/v1`, allowAllModels: false, models: [model('allowed')] as never });
await rows.provider('listed', 'listed');
await rows.config('pc-retry', { retry: { attempts: 1 }, override_params: { top_p: 0.25 } });
await rows.config('pc-second', { provider: '@second' });
await rows.config('pc-fallback', { strategy: { mode: 'fallback' }, targets: [{ provider: '@broken' }, { provider: '@main' }] });
await rows.config('pc-cached', { cache: { mode: 'simple' } });
await rows.config('pc-shared', { cache: { mode: 'simple', share_in_flight: true } });
await rows.config('pc-checked', { output_guardrails: [{ 'default.contains': { words: ['Hello'], operator: 'any' }, deny: false }] });
const first = await rows.repository.get(workspaces, rows.workspaceId);
assert.ok(first !== undefined);
await putRows(rows.repository, workspaces, { ...first.row, id: '01890000-0000-7000-8000-00000000000b', slug: 'ws-other', name: 'Other', isDefault: false });
await rows.key('key-of-the-other-0000', { workspaceId: '01890000-0000-7000-8000-00000000000b' });
await rows.key('key-that-writes-00000', { scopes: ['completions.write'] });
await rows.key('key-that-renders-0000', { scopes: ['prompts.render'] });
await rows.key('key-with-provider-000', { defaults: { metadata: {}, config_id: null, provider: '@second', allow_config_override: true } });

const gateway = await startTestGateway(environment);

async function control(method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(gateway.url + path, {
    method, headers: { 'x-gateway-api-key': adminKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }, ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const reply = await response.json() as Record<string, unknown>;
  assert.equal(response.status, 200, `${method} ${path}: ${JSON.stringify(reply)}`);
  return reply;
}

const workspace = { workspace_id: rows.workspaceId };
const chatString = JSON.stringify([{ role: 'system', content: 'You know {{topic}}.' }, { role: 'user', content: '{{question}}' }]);
const makePrompt = (slug: string, members: object = {}): Promise<any> =>
  control('POST', '/v1/prompts', { name: slug, slug, collection_id: 'default', string: chatString, parameters: {}, virtual_key: 'main', model: 'gpt-test', ...workspace, ...members });

const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }];
await makePrompt('pp-plain', { parameters: { temperature: 0.5, max_tokens: 10, stream: true, topic: 'everything', own_setting: 7 }, tools, tool_choice: { type: 'function', function: { name: 'look' } } });
await makePrompt('pp-text', { string: 'Say "{{what}}"', model: 'text-test' });

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
  readonly text: string;
  /** What went upstream. */
  readonly sent: readonly Received[];
}

async function call(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
  const before = upstream.received.length;
  const response = await fetch(`${gateway.url}${path.startsWith('/') ? path : `/v1/prompts/${path}`}`, {
    method: 'POST', headers: { 'x-gateway-api-key': apiKey, 'content-type': 'application/json', ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text.startsWith('{') ? JSON.parse(text) : undefined, sent: upstream.received.slice(before) };
}

const question = (text = 'Why?'): object => ({ variables: { question: text, topic: 'stars' } });

describe('a call of a stored prompt', () => {
  it('goes up as the completion that the prompt says, to its provider, and is answered in both forms', async () => {
    const { status, body, sent, headers } = await call('pp-plain/completions', question('He said "so"\n{{topic}}'));
    assert.equal(status, 200);
    assert.deepEqual([sent.length, sent[0]?.url, sent[0]?.headers.authorization], [1, '/v1/chat/completions', 'Bearer sk-stored-main']);
    assert.deepEqual(sent[0]?.json(), {
      messages: [{ role: 'system', content: 'You know stars.' }, { role: 'user', content: 'He said "so"\n{{topic}}' }], model: 'gpt-test', own_setting: 7, temperature: 0.5, max_tokens: 10, tools,
      tool_choice: { type: 'function', function: { name: 'look' } },
    });
    const { status: told, headers: toldHeaders, body: inner, ...completion } = body;
    assert.deepEqual([told, completion, inner], ['success', chatCompletion, chatCompletion]);
    assert.equal(toldHeaders['x-of-the-provider'], 'told');
    assert.equal(toldHeaders['x-gateway-provider'], headers.get('x-gateway-provider'));
  });

  it('takes saved parameters that the template asks for as values of variables, and overrides at the top and in hyperparameters', async () => {
    const { sent } = await call('pp-plain/completions', { variables: { question: 'Why?' }, temperature: 1, hyperparameters: { temperature: 0, top_p: 0.1 }, model: 'another', seed: 5 });
    const { messages, tools: _, tool_choice: __, ...rest } = sent[0]?.json() ?? {};
    assert.deepEqual([messages, rest], [
      [{ role: 'system', content: 'You know everything.' }, { role: 'user', content: 'Why?' }], { model: 'another', own_setting: 7, temperature: 1, max_tokens: 10, top_p: 0.1, seed: 5 },
    ]);
    const own = await call('pp-plain/completions', { variables: {}, messages: [{ role: 'user', content: '{{topic}}' }] });
    assert.deepEqual(own.sent[0]?.json().messages, [{ role: 'user', content: '{{topic}}' }]);
  });

  it('keeps all digits of numbers', async () => {
    const { sent } = await call('pp-plain/completions', '{"variables": {"question": 12345678901234567890, "topic": {"id": 98765432109876543210}}, "logit_bias": {"1": 1}, "seed": 12345678901234567890}');
    assert.match(sent[0]?.body.toString() ?? '', /"content":"You know \{\\"id\\":98765432109876543210\}\."/);
    assert.match(sent[0]?.body.toString() ?? '', /"content":"12345678901234567890".*"seed":12345678901234567890/);
  });

  it('streams as any completion does, with the tools of the prompt', async () => {
    const { status, text, headers, sent } = await call('pp-plain/completions', { ...question(), stream: true });
    assert.deepEqual([status, headers.get('content-type'), sent[0]?.json().tools], [200, 'text/event-stream', tools]);
    assert.equal(text, `${chatChunks(['Hi', '!']).join('\n\n')}\n\n`);
  });

  it('serves the official client, plain and streamed', async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
    const completion = await client.post<OpenAI.ChatCompletion>('/prompts/pp-plain/completions', { body: question() });
    assert.equal(completion.choices[0]?.message.content, 'Hello there.');
    const stream = await client.post<AsyncIterable<OpenAI.ChatCompletionChunk>>('/prompts/pp-plain/completions', { body: { ...question(), stream: true }, stream: true });
    let said = '';
    for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? '';
    assert.equal(said, 'Hi!');
  });

  it('of a text goes up as a text completion; what the provider calls as we do gives way at the top', async () => {
    const { body, sent } = await call('pp-text/generate', { variables: { what: '"' } });
    assert.deepEqual([sent[0]?.url, sent[0]?.json()], ['/v1/completions', { prompt: 'Say """', model: 'text-test' }]);
    assert.deepEqual([body.choices[0].text, body.status, body.body.status], ['said', 'success', 'its own']);
  });

  it('goes where the call says, before where the prompt says, before where the key says', async () => {
    const urlOf = async (body: object, headers: Readonly<Record<string, string>> = {}): Promise<string | undefined> => (await call('pp-plain/completions', { ...question(), ...body }, headers)).sent[0]?.url;
    assert.equal(await urlOf({}, { 'x-gateway-provider': '@second' }), '/second/chat/completions');
    assert.equal(await urlOf({}, { 'x-gateway-config': 'pc-second' }), '/second/chat/completions');
    assert.equal(await urlOf({ model: '@second/m' }), '/second/chat/completions');
    assert.equal(await urlOf({}, { 'x-gateway-api-key': 'key-with-provider-000' }), '/v1/chat/completions');
    await makePrompt('pp-by-model', { virtual_key: null, model: '@second/deep' });
    const { sent } = await call('pp-by-model/completions', question(), { 'x-gateway-api-key': 'key-with-provider-000' });
    assert.deepEqual([sent[0]?.url, sent[0]?.json().model], ['/second/chat/completions', 'deep']);
  });

  it('goes through configs, strategies, retries, caches and checks like any other', async () => {
    const withConfig = (config: string, text = 'Why?'): Promise<Answered> => call('pp-plain/completions', question(text), { 'x-gateway-config': config });
    assert.equal((await withConfig('pc-retry')).sent[0]?.json().top_p, 0.25);
    const fallen = await withConfig('pc-fallback');
    assert.deepEqual([fallen.status, fallen.sent.map(({ url }) => url), fallen.body.status], [200, ['/broken/chat/completions', '/v1/chat/completions'], 'success']);
    const [missed, hit, other] = [await withConfig('pc-cached', 'once'), await withConfig('pc-cached', 'once'), await withConfig('pc-cached', 'twice')];
    assert.deepEqual([missed, hit, other].map(({ headers, sent, body }) => [headers.get('x-gateway-cache-status'), sent.length, body.status, body.body.id]), [
      ['MISS', 1, 'success', 'chatcmpl-1'], ['HIT', 0, 'success', 'chatcmpl-1'], ['MISS', 1, 'success', 'chatcmpl-1'],
    ]);
    const together = await Promise.all([withConfig('pc-shared', 'thrice'), withConfig('pc-shared', 'thrice')]);
    assert.deepEqual([together.map(({ body }) => [body.status, body.id, body.body.id]), upstream.received.filter(({ body }) => body.includes('thrice')).length], [
      [['success', 'chatcmpl-1', 'chatcmpl-1'], ['success', 'chatcmpl-1', 'chatcmpl-1']], 1,
    ]);
    const checked = await withConfig('pc-checked');
    assert.deepEqual([checked.status, checked.body.body.hook_results !== undefined, checked.body.hook_results !== undefined], [200, true, true], checked.text);
    const broken = await call('pp-plain/completions', question(), { 'x-gateway-provider': '@broken' });
    assert.deepEqual([broken.status, broken.body.error.message.includes('broken'), broken.body.headers], [500, true, undefined]);
  });

  it('never gives half an answer as a whole one', async () => {
    await assert.rejects(call('pp-plain/completions', question(), { 'x-gateway-provider': '@cut' }), /fetch failed|terminated/);
    assert.equal((await call('pp-plain/completions', question())).status, 200);
  });

  it('obeys the models that its provider allows', async () => {
    await makePrompt('pp-listed', { virtual_key: 'listed', model: 'forbidden' });
    assert.deepEqual((({ status, body, sent }) => [status, body.error.type, sent.length])(await call('pp-listed/completions', question())), [403, 'model_not_allowed', 0]);
    assert.equal((await call('pp-listed/completions', { ...question(), model: 'allowed' })).status, 200);
  });
});

describe('versions of a prompt', () => {
  it('are called by number, as the newest, by label; without a word the published one', async () => {
    const { id } = await makePrompt('pp-versions', { string: 'one', model: 'm' });
    for (const string of ['two', 'three']) await control('PUT', `/v1/prompts/${id}`, { patch: true, string });
    const { id: labelId } = await control('POST', '/v1/labels', { name: 'weekly', ...workspace });
    await control('PUT', `/v1/prompts/${id}/versions/2`, { label_id: labelId });
    await control('PUT', `/v1/prompts/${id}/versions/3`, { label_id: 'production' });
    const says = async (version: string): Promise<unknown> => (({ status, body }) => (status === 200 ? body.data.prompt : status))(await call(`pp-versions${version}/render`, { variables: {} }));
    const all = async (): Promise<unknown[]> => Promise.all(['', '@default', '@latest', '@1', '@2', '@weekly', '@production', '@staging', '@9', '@none', '@', '%40latest'].map(says));
    assert.deepEqual(await all(), ['one', 'one', 'three', 'one', 'two', 'two', 'three', 404, 404, 404, 'one', 'three']);
    assert.equal((await call(`${id}@2/render`, { variables: {} })).body.data.prompt, 'two');
    await control('PUT', `/v1/prompts/${id}/makeDefault`, { version: 3 });
    await control('PUT', `/v1/prompts/${id}/versions/1`, { label_id: 'production' });
    assert.deepEqual((await all()).slice(0, 7), ['three', 'three', 'three', 'one', 'two', 'two', 'one']);
    // A label that is gone is on nothing, also when there is one of its name again.
    await control('DELETE', `/v1/labels/${labelId}`);
    assert.equal(await says('@weekly'), 404);
    await control('POST', '/v1/labels', { name: 'weekly', ...workspace });
    assert.equal(await says('@weekly'), 404);
    assert.equal((await control('GET', `/v1/prompts/${id}@2`)).prompt_version_label_id, null);
    await control('DELETE', `/v1/prompts/${id}`);
    assert.equal(await says(''), 404);
  });

  it('of partials are obeyed from the next call on, and no other workspace reaches them', async () => {
    const { id, slug } = await control('POST', '/v1/prompts/partials', { name: 'Tone', slug: 'pp-tone', string: 'Be {{mood}}.', ...workspace });
    await makePrompt('pp-with-partial', { string: `{{>${slug}}} {{>${slug}@1}} {{>${slug}@latest}} x`, model: 'm', parameters: { mood: 'kind', other: 1 } });
    const says = async (): Promise<unknown> => (({ body }) => body.data)(await call('pp-with-partial/render', { variables: {} }));
    assert.deepEqual(await says(), { prompt: 'Be kind. Be kind. Be kind. x', model: 'm', other: 1 });
    await control('PUT', `/v1/prompts/partials/${id}`, { string: 'Be very {{mood}}.' });
    assert.deepEqual(await says(), { prompt: 'Be kind. Be kind. Be very kind. x', model: 'm', other: 1 });
    await control('PUT', `/v1/prompts/partials/${id}/makeDefault`, { version: 2 });
    assert.deepEqual(await says(), { prompt: 'Be very kind. Be kind. Be very kind. x', model: 'm', other: 1 });
    const taken = await call('pp-with-partial/render', { variables: { mood: `{{>${slug}}}` } });
    assert.equal(taken.body.data.prompt, `Be very {{>${slug}}}. Be {{>${slug}}}. Be very {{>${slug}}}. x`);
    // Of a version that was in use once, the partials may be gone.
    await control('PUT', '/v1/prompts/pp-with-partial', { patch: true, string: 'none', ...workspace });
    await control('PUT', '/v1/prompts/pp-with-partial/makeDefault', { version: 2, ...workspace });
    await control('DELETE', `/v1/prompts/partials/${id}`);
    // One of this name in another workspace is another one.
    await control('POST', '/v1/prompts/partials', { name: 'Tone', slug, string: 'of the others', workspace_id: 'ws-other' });
    assert.deepEqual((({ status, body }) => [status, body.error.code, body.error.message])(await call('pp-with-partial@1/render', { variables: {} })), [
      400, 'prompt_not_rendered', 'prompt pp-with-partial cannot be rendered: its template names the partial pp-tone, which is not there, is archived or has no such version',
    ]);
  });
});

describe('rendering a prompt', () => {
  it('gives the body of the completion, and calls nothing', async () => {
    const { status, body, sent } = await call('pp-plain/render', { ...question(), stream: true, temperature: 0 });
    assert.deepEqual([status, sent.length, body.success, body.data.stream, body.data.temperature, body.data.messages[1].content], [200, 0, true, true, 0, 'Why?']);
    const replayed = await call('/v1/chat/completions', { ...body.data, stream: false }, { 'x-gateway-provider': '@main' });
    assert.equal(replayed.status, 200);
    assert.equal((await call('/prompts/pp-plain/render', question())).status, 200);
    assert.equal((await call('/v2/prompts/pp-plain/render', question())).status, 200);
  });

  it('of a raw template gives what its JSON says, with lists as lists', async () => {
    await makePrompt('pp-raw', { is_raw_template: 1, string: '[{"role": "system", "content": "Know {{topic}}"}{{#history}}, {"role": "{{role}}", "content": "{{content}}"}{{/history}}]' });
    const { body } = await call('pp-raw/render', { variables: { topic: 'a "b"', history: [{ role: 'user', content: '"}], "model": "x' }] } });
    assert.deepEqual(body.data, { messages: [{ role: 'system', content: 'Know a "b"' }, { role: 'user', content: '"}], "model": "x' }], model: 'gpt-test' });
  });
});

describe('a call of a prompt that is refused', () => {
  for (const [what, path, body, key, status, code, param] of [
    ['without variables', 'pp-plain/completions', {}, apiKey, 400, 'body_invalid', 'variables'],
    ['without a body', 'pp-plain/completions', '', apiKey, 400, 'body_invalid', 'variables'],
    ['with variables that are a list', 'pp-plain/render', { variables: [] }, apiKey, 400, 'body_invalid', 'variables'],
    ['with hyperparameters that are none', 'pp-plain/render', { variables: {}, hyperparameters: 5 }, apiKey, 400, 'body_invalid', 'hyperparameters'],
    ['with a body that is not JSON', 'pp-plain/completions', '{', apiKey, 400, 'body_not_json', 'body'],
    ['with __proto__', 'pp-plain/completions', '{"variables": {}, "__proto__": {}}', apiKey, 400, 'body_invalid', '__proto__'],
    ['with an override that is wrong', 'pp-plain/completions', { variables: {}, temperature: 5 }, apiKey, 400, 'body_invalid', 'temperature'],
    ['of a prompt that there is not', 'pp-none/completions', { variables: {} }, apiKey, 404, 'prompt_unknown', 'prompt'],
    ['of a version that there is not', 'pp-plain@7/completions', { variables: {} }, apiKey, 404, 'prompt_version_unknown', 'prompt'],
    ['by slug from another workspace', 'pp-plain/completions', { variables: {} }, 'key-of-the-other-0000', 404, 'prompt_unknown', 'prompt'],
    ['without a key', 'pp-plain/completions', { variables: {} }, '', 401, 'key_missing', null],
    ['with an organisation key', 'pp-plain/completions', { variables: {} }, adminKey, 403, 'key_without_workspace', null],
    ['without the scope of calls', 'pp-plain/completions', { variables: {} }, 'key-that-renders-0000', 403, 'scope_missing', null],
    ['without the scope of rendering', 'pp-plain/render', { variables: {} }, 'key-that-writes-00000', 403, 'scope_missing', null],
  ] as const) {
    it(what, async () => {
      const answer = await call(path, body, key === '' ? { 'x-gateway-api-key': '' } : { 'x-gateway-api-key': key });
      assert.deepEqual([answer.status, answer.body.error.code, answer.body.error.param, answer.sent.length], [status, code, param, 0], answer.text);
    });
  }

  it('by id from another workspace', async () => {
    const { id } = await control('GET', `/v1/prompts/pp-plain?workspace_id=${rows.workspaceId}`);
    const { status, body } = await call(`${id}/completions`, { variables: {} }, { 'x-gateway-api-key': 'key-of-the-other-0000' });
    assert.deepEqual([status, body.error.code], [403, 'workspace_foreign']);
  });

  it('with variables that the template cannot go through', async () => {
    await makePrompt('pp-lists', { string: '{{#a}}{{#a}}{{#a}}{{/a}}{{/a}}{{/a}}', model: 'm' });
    const { status, body } = await call('pp-lists/completions', { variables: { a: Array.from({ length: 1000 }, () => 1) } });
    assert.deepEqual([status, body.error.code, body.error.param], [400, 'body_invalid', 'variables']);
  });
});

describe('the calls that the readme shows', () => {
  it('work as they stand there', async () => {
    const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
    const section = readme.slice(readme.indexOf('## Prompts'), readme.indexOf('## Settings'));
    const bodies = [...section.matchAll(/^curl \S*(\/v1\/\S+)[^']*(?:'content-type: application\/json')[^']*-d '([^']+)'/gms)].map(([, path = '', body = '']) => ({ path, body }));
    assert.deepEqual(bodies.map(({ path }) => path), ['/v1/prompts', '/v1/prompts/pp-support/completions']);
    const answers: Answered[] = [];
    for (const { path, body } of bodies) answers.push(await call(path, body));
    assert.deepEqual(answers.map(({ status }) => status), [200, 200], answers.map(({ text }) => text).join());
    assert.deepEqual(answers[1]?.sent[0]?.json(), {
      messages: [{ role: 'system', content: 'You help customers of Example.' }, { role: 'user', content: 'Where is my order?' }], model: 'gpt-4o-mini', temperature: 0.2, max_tokens: 200,
    });
  });
});

describe('the log of calls', () => {
  it('names the prompt and its version, also of calls that are refused, and has nothing of renderings', async () => {
    const { id, prompt_version_id: versionId } = await control('GET', `/v1/prompts/pp-plain?workspace_id=${rows.workspaceId}`);
    await call('pp-plain/completions', question(), { 'x-gateway-trace-id': 'logged' });
    await call('pp-plain/completions', { ...question(), temperature: 5 }, { 'x-gateway-trace-id': 'refused' });
    await call('pp-plain/render', question(), { 'x-gateway-trace-id': 'rendered' });
    await call('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'x' }] }, { 'x-gateway-provider': '@main', 'x-gateway-trace-id': 'without' });
    await gateway.stop();
    const records = new Map<string, LogRecord>();
    const opened = await storage.create({ path: gateway.dataDir }, fakeHost());
    try {
      for await (const row of (await opened.open('exporter-store-logs')).range({ from: '0', to: ':', limit: 1000 })) for (const record of readLogBatch(row.value)) records.set(record.traceId, record);
    } finally {
      await opened.close?.();
    }
    const told = (trace: string): unknown => (({ promptSlug, promptId, promptVersionId, status, endpoint, path }) => [promptSlug, promptId, promptVersionId, status, endpoint, path])(records.get(trace) ?? assert.fail(trace));
    assert.deepEqual(told('logged'), ['pp-plain', id, versionId, 200, 'chatCompletions', '/v1/prompts/pp-plain/completions']);
    assert.deepEqual(told('refused'), ['pp-plain', id, versionId, 400, 'chatCompletions', '/v1/prompts/pp-plain/completions']);
    assert.deepEqual(told('without'), ['', '', '', 200, 'chatCompletions', '/v1/chat/completions']);
    assert.equal(records.has('rendered'), false);
  });
});
