// Where hooks run and where they do not: routes, targets, retries, stored responses, caches, the log. What each attempt and each caller gets
// must be its own.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { LogRecord } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { readLogBatch } from '../../plugins/exporters/store/log-batch.js';
import storage from '../../plugins/storage/lmdb/plugin.js';
import { apiKey, startTestGateway, type TestGateway } from '../support/gateway.js';
import { answerStream, sendJson, startUpstream, type Answer } from '../support/upstream.js';

const upstream = await startUpstream();
const judge = await startUpstream();
const gateway = await startTestGateway();

const words = (rule: string, more: object = {}): object => ({ 'default.regexMatch': { rule, not: true, ...more } });
const denies = (rule: string): object => ({ ...words(rule), deny: true });
/** Errs: nothing of this name is installed. */
const missing = { 'acme.none': {} };

interface Called { readonly status: number; readonly text: string; readonly json: any; readonly headers: Headers; readonly content: string | undefined }

const target = (name: string, more: object = {}): object => ({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/${name}/v1`, ...more });
const chat = (text: string, more: object = {}): object => ({ model: 'm', messages: [{ role: 'user', content: text }], ...more });

async function call(config: object, body: object | string, path = '/v1/chat/completions', headers: Record<string, string> = {}, of: TestGateway = gateway): Promise<Called> {
  const response = await fetch(of.url + path, {
    method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(config), ...headers },
  });
  const text = await response.text();
  let json: any;
  try { json = JSON.parse(text); } catch { json = undefined; }
  return { status: response.status, text, json, headers: response.headers, content: json?.choices?.[0]?.message?.content };
}

const completion = (content: string): object => ({
  id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const says = (content: string): Answer => (_, response) => sendJson(response, 200, completion(content));
/** By the first part of the path: an answer, or the status of an error. */
const byTarget = (answers: Readonly<Record<string, string | number>>): Answer => (received, response) => {
  const answer = answers[received.url.split('/')[1] ?? ''];
  if (typeof answer === 'number') sendJson(response, answer, { error: { message: `it is ${answer}`, type: 't', code: null, param: null } });
  else sendJson(response, 200, completion(answer ?? 'nothing'));
};
const askedAt = (from: number): string[] => upstream.received.slice(from).map(({ url }) => url.split('/')[1] ?? '');

describe('hooks before the request', () => {
  const bodies: Readonly<Record<string, object>> = {
    '/v1/completions': { model: 'm', prompt: 'a secret' },
    '/v1/embeddings': { model: 'm', input: ['x', 'a secret'] },
    '/v1/moderations': { model: 'm', input: 'a secret' },
    '/v1/images/generations': { model: 'm', prompt: 'a secret' },
    '/v1/responses': { model: 'm', input: [{ role: 'user', content: [{ type: 'input_text', text: 'a secret' }] }] },
  };

  for (const [path, body] of Object.entries(bodies)) {
    it(`deny, mark and change on ${path}`, async () => {
      upstream.answer = (_, response) => sendJson(response, 200, { object: 'list', data: [], model: 'm' });
      const before = upstream.received.length;
      const denied = await call(target('a', { input_guardrails: [denies('secret')] }), body, path);
      assert.deepEqual([denied.status, denied.json.error.type, upstream.received.length - before], [446, 'hooks_failed', 0]);
      const marked = await call(target('a', { input_guardrails: [words('secret')] }), body, path);
      assert.equal(marked.status, 246);
      assert.equal(marked.json.hook_results.before_request_hooks[0].verdict, false);
      const changed = await call(target('a', { input_mutators: [{ 'default.regexReplace': { rule: 'secret', redactText: 'public' } }] }), body, path);
      assert.equal(changed.status, 200, changed.text);
      assert.match(upstream.received.at(-1)?.body.toString() ?? '', /a public/);
      assert.doesNotMatch(upstream.received.at(-1)?.body.toString() ?? '', /secret/);
    });
  }

  it('run on rerank and on the count of tokens', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, { results: [{ index: 0, relevance_score: 0.5 }], input_tokens: 1 });
    const before = upstream.received.length;
    for (const body of [{ model: 'm', query: 'a secret', documents: ['x'] }, { model: 'm', query: 'x', documents: ['y', 'a secret'] }]) {
      const denied = await call({ ...target('a'), provider: 'cohere', input_guardrails: [denies('secret')] }, body, '/v1/rerank');
      assert.equal(denied.status, 446, denied.text);
    }
    const counted = await call({ ...target('a'), provider: 'anthropic', input_guardrails: [denies('secret')] }, chat('a secret'), '/v1/messages/count_tokens');
    assert.equal(counted.status, 446, counted.text);
    assert.equal(upstream.received.length, before);
  });

  it('never run on the proxy route, uploads and files, nor do those after it', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, completion('a secret'));
    const guarded = target('a', { input_guardrails: [denies('secret')], output_guardrails: [denies('secret')], input_mutators: [{ 'default.regexReplace': { rule: 'secret' } }] });
    const proxied = await call(guarded, chat('a secret'), '/v1/proxy/chat/completions');
    assert.deepEqual([proxied.status, proxied.content, proxied.json.hook_results], [200, 'a secret', undefined]);
    assert.match(upstream.received.at(-1)?.body.toString() ?? '', /a secret/);
    const form = '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\na secret\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\na secret\r\n--b--\r\n';
    for (const path of ['/v1/files', '/v1/audio/transcriptions']) {
      const uploaded = await call(guarded, form, path, { 'content-type': 'multipart/form-data; boundary=b' });
      assert.equal(uploaded.status, 200, `${path}: ${uploaded.text}`);
      assert.match(upstream.received.at(-1)?.body.toString() ?? '', /a secret/);
    }
  });

  it('leave what is behind them alone on answers that they do not judge', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, { object: 'list', data: [{ secret: 'a secret' }], model: 'm' });
    const { status, json } = await call(target('a', { output_guardrails: [denies('secret')] }), { model: 'm', input: 'x' }, '/v1/embeddings');
    assert.deepEqual([status, json.hook_results], [200, undefined]);
  });
});

describe('hooks and targets', () => {
  const fallback = (targets: readonly object[], more: object = {}): object => ({ strategy: { mode: 'fallback' }, targets, ...more });

  it('of a target that was passed over say nothing about the answer of the next', async () => {
    upstream.answer = byTarget({ a: 'a secret', b: 'fine' });
    for (const [name, first] of Object.entries({
      denied: target('a', { output_guardrails: [denies('secret')] }),
      marked: target('a', { output_guardrails: [words('secret')] }),
    })) {
      const strategy = { strategy: { mode: 'fallback', on_status_codes: [246, 446] } };
      const bare = await call(fallback([first, target('b')], strategy), chat('x'));
      assert.deepEqual([bare.status, bare.content], [200, 'fine'], `${name}, the next has no hooks`);
      assert.deepEqual(bare.json.hook_results?.after_request_hooks ?? [], [], `${name}, the next has no hooks`);
      const hooked = await call(fallback([first, target('b', { output_guardrails: [words('zzz')] })], strategy), chat('x'));
      assert.deepEqual([hooked.status, hooked.content, hooked.json.hook_results.after_request_hooks.map((hook: any) => hook.verdict)], [200, 'fine', [true]], name);
      const erring = await call(fallback([first, target('c', { output_guardrails: [words('zzz')] })], strategy), chat('x'));
      assert.equal(erring.status, 200);
    }
  });

  it('of a target that was passed over leave no trace in an error of the next', async () => {
    upstream.answer = byTarget({ a: 'a secret', b: 500 });
    const strategy = { strategy: { mode: 'fallback', on_status_codes: [446] } };
    const { status, json } = await call(fallback([target('a', { output_guardrails: [denies('secret')] }), target('b')], strategy), chat('x'));
    assert.equal(status, 500);
    assert.deepEqual(json.hook_results?.after_request_hooks ?? [], []);
  });

  it('whose changes cannot be written let no target have the text as it was', async () => {
    upstream.answer = byTarget({ a: 500, b: 'fine' });
    const before = upstream.received.length;
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const body = `{"model":"m","messages":[{"role":"user","content":"my pin is 1234"}],"metadata":${deep}}`;
    const { status, text } = await call(fallback([target('a'), target('b')], { input_mutators: [{ 'default.regexReplace': { rule: '[0-9]{4}' } }] }), body);
    assert.ok(status === 446 || status === 400, text);
    assert.deepEqual(askedAt(before), []);
  });

  it('that deny end the call: no other target gets what was denied, unless 446 is listed', async () => {
    upstream.answer = byTarget({ a: 'a secret', b: 'fine' });
    const input = [target('a', { input_guardrails: [denies('x')] }), target('b')];
    const output = [target('a', { output_guardrails: [denies('secret')] }), target('b')];
    const nested = [{ strategy: { mode: 'loadbalance' }, targets: [target('a', { weight: 1, input_guardrails: [denies('x')] })] }, target('b')];
    const later = [target('c', { override_params: { model: 'c' } }), target('a', { input_guardrails: [denies('x')] }), target('b')];
    const waiting = [target('a', { input_guardrails: [{ deny: true, 'default.webhook': { webhookURL: `${judge.url}/judge` } }] }), target('b')];
    judge.answer = (_, response) => sendJson(response, 200, { verdict: false });
    for (const [name, targets, asked] of [['input', input, []], ['output', output, ['a']], ['nested', nested, []], ['waiting', waiting, []]] as const) {
      for (const strategy of [{ mode: 'fallback' }, { mode: 'fallback', on_status_codes: [429, 500] }, { mode: 'fallback', on_status_codes: [] }]) {
        const before = upstream.received.length;
        const denied = await call({ strategy, targets }, chat('x'));
        assert.deepEqual([denied.status, denied.json.error.type, askedAt(before)], [446, 'hooks_failed', asked], `${name}: ${JSON.stringify(strategy)}`);
      }
      const before = upstream.received.length;
      const listed = await call({ strategy: { mode: 'fallback', on_status_codes: [446] }, targets }, chat('x'));
      assert.deepEqual([listed.status, listed.content, askedAt(before)], [200, 'fine', [...asked, 'b']], name);
    }
    upstream.answer = byTarget({ c: 500, b: 'fine' });
    const before = upstream.received.length;
    assert.equal((await call({ strategy: { mode: 'fallback' }, targets: later }, chat('x'))).status, 446);
    assert.deepEqual(askedAt(before), ['c']);
  });

  it('that are a target\'s own run for it alone, and change the body for it alone where nobody else asked for it', async () => {
    upstream.answer = byTarget({ a: 500, b: 'fine' });
    const before = upstream.received.length;
    const own = await call(fallback([target('a'), target('b', { input_guardrails: [words('x')] })]), chat('x'));
    assert.deepEqual([own.status, own.json.hook_results.before_request_hooks.length], [246, 1]);
    const other = await call(fallback([target('a', { input_guardrails: [words('x')] }), target('b')]), chat('x'));
    assert.equal(other.status, 200, 'the input failed for a target that did not answer');
    assert.deepEqual(askedAt(before), ['a', 'b', 'a', 'b']);
  });

  it('move on to the next target when a stream that was held fails softly, as a plain answer does', async () => {
    let calls = 0;
    const strategy = { mode: 'fallback', on_status_codes: [246] };
    const guard = { output_guardrails: [words('secret'), { deny: true, 'default.regexMatch': { rule: 'e' } }] };
    for (const stream of [false, true]) {
      calls = 0;
      upstream.answer = (received, ...rest) => {
        calls += 1;
        const text = received.url.startsWith('/a/') ? 'the secret' : 'the best';
        if (stream) answerStream([text])(received, ...rest);
        else says(text)(received, ...rest);
      };
      const { status, text } = await call({ strategy, targets: [target('a'), target('b')], ...guard }, chat('x', { stream }));
      assert.deepEqual([status, calls], [200, 2], stream ? 'a stream' : 'plain');
      assert.match(text, /the best/);
      assert.doesNotMatch(text, /the secret/);
    }
  });

  it('are asked again for each try, and once before the request', async () => {
    let calls = 0;
    upstream.answer = (...given) => { calls += 1; says(calls < 3 ? 'a secret' : 'fine')(...given); };
    for (const [guard, code] of [[denies('secret'), 446], [words('secret'), 246]] as const) {
      calls = 0;
      const { status, json, headers } = await call(target('a', { input_guardrails: [words('zzz')], output_guardrails: [guard], retry: { attempts: 3, on_status_codes: [code] } }), chat('x'));
      assert.deepEqual([status, calls, headers.get('x-gateway-retry-attempt-count')], [200, 3, '2']);
      assert.deepEqual([json.hook_results.before_request_hooks.length, json.hook_results.after_request_hooks.length], [1, 1]);
    }
  });

  it('are inherited, and run in order; a target\'s own lists take the place of those above, or join them, in both ways the same', async () => {
    upstream.answer = says('fine');
    const nested = {
      strategy: { mode: 'fallback' }, input_guardrails: [words('outer')],
      targets: [{ strategy: { mode: 'loadbalance' }, targets: [target('a', { weight: 1 })] }],
    };
    const { status, json } = await call(nested, chat('an outer word'));
    assert.deepEqual([status, json.hook_results.before_request_hooks.map((hook: any) => hook.id)], [246, ['input_guardrail_0']]);
    const both = await call({ ...nested, targets: [{ ...nested.targets[0], after_request_hooks: [{ id: 'inner', type: 'guardrail', checks: [{ id: 'default.regexMatch', parameters: { rule: 'fine' } }] }] }] }, chat('x'));
    assert.deepEqual([both.status, both.json.hook_results.before_request_hooks[0].verdict, both.json.hook_results.after_request_hooks[0].id], [200, true, 'inner']);
  });

  it('run once for the target that a load balancer chose', async () => {
    upstream.answer = byTarget({ a: 'from a', b: 'from b' });
    const config = { strategy: { mode: 'loadbalance' }, targets: [target('a', { weight: 1, output_guardrails: [words('from b')] }), target('b', { weight: 1, output_guardrails: [words('from a')] })] };
    for (let turn = 0; turn < 20; turn += 1) {
      const { status, json } = await call(config, chat('x'));
      assert.deepEqual([status, json.hook_results.after_request_hooks.length], [200, 1]);
    }
  });

  it('tell their results beside the error of a provider, and 246 is for answers only', async () => {
    for (const code of [400, 429, 500]) {
      upstream.answer = byTarget({ a: code });
      for (const stream of [false, true]) {
        const { status, json } = await call(target('a', { input_guardrails: [words('x')], output_guardrails: [denies('it is')] }), chat('x', { stream }));
        assert.deepEqual([status, json.error.message, json.hook_results.before_request_hooks[0].verdict, json.hook_results.after_request_hooks], [code, `it is ${code}`, false, []]);
      }
    }
  });
});

describe('a check that gives no verdict', () => {
  const slow = { 'default.webhook': { webhookURL: `${judge.url}/judge`, timeout: 50 } };

  it('in its time passes, is told as an error, and denies with failOnError', async () => {
    upstream.answer = says('fine');
    judge.answer = () => undefined;
    for (const side of ['input_guardrails', 'output_guardrails'] as const) {
      const from = performance.now();
      const passed = await call(target('a', { [side]: [{ deny: true, ...slow }] }), chat('x'));
      assert.ok(performance.now() - from < 2000);
      assert.equal(passed.status, 200);
      const hooks = passed.json.hook_results[side === 'input_guardrails' ? 'before_request_hooks' : 'after_request_hooks'];
      assert.match(hooks[0].checks[0].error.message, /50 ms|time/i);
      const denied = await call(target('a', { [side]: [{ deny: true, 'default.webhook': { ...slow['default.webhook'], failOnError: true } }] }), chat('x'));
      assert.equal(denied.status, 446);
    }
  });

  it('because its service is gone, lies, redirects or answers with too little, passes as an error', async () => {
    upstream.answer = says('fine');
    const answers: Answer[] = [
      (_, response) => sendJson(response, 500, { verdict: false }),
      (_, response) => sendJson(response, 200, { verdict: 'false' }),
      (_, response) => sendJson(response, 200, {}),
      (_, response) => sendJson(response, 200, []),
      (_, response) => { response.writeHead(302, { location: `${judge.url}/other` }); response.end(); },
      (_, response) => { response.writeHead(200, { 'content-type': 'application/json' }); response.end('{"verdict":fal'); },
      (_, response) => { response.destroy(); },
      (_, response) => { response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }); response.write('{"verdict":', () => response.destroy()); },
      (_, response) => sendJson(response, 200, { verdict: true, transformedData: { request: { json: 'no object' } } }),
      (_, response) => sendJson(response, 200, { verdict: true, transformedData: { request: { json: null } } }),
    ];
    for (const [index, answer] of answers.entries()) {
      judge.answer = answer;
      const { status, json } = await call(target('a', { input_guardrails: [{ deny: true, 'default.webhook': { webhookURL: `${judge.url}/judge` } }] }), chat('x'));
      assert.equal(status, 200, `answer ${index}`);
      assert.equal(json.choices[0].message.content, 'fine');
      if (index < 8) assert.equal(typeof json.hook_results.before_request_hooks[0].checks[0].error?.message, 'string', `answer ${index}`);
    }
  });

  it('does not run when it is switched off, and a hook without checks passes', async () => {
    upstream.answer = says('a secret');
    const hook = { id: 'h', deny: true, checks: [{ id: 'default.regexMatch', is_enabled: false, parameters: { rule: 'secret', not: true } }] };
    const { status, json } = await call(target('a', { before_request_hooks: [hook], after_request_hooks: [hook], output_guardrails: [{ deny: true, 'default.regexMatch': { rule: 'secret', not: true, is_enabled: false } }] }), chat('secret'));
    assert.equal(status, 200);
    for (const list of [json.hook_results?.before_request_hooks ?? [], json.hook_results?.after_request_hooks ?? []]) for (const { verdict, checks } of list) assert.deepEqual([verdict, checks], [true, []]);
  });

  it('in a row, where the hook says so, stops at the first that fails', async () => {
    upstream.answer = says('fine');
    const seen: string[] = [];
    judge.answer = (received, response) => {
      seen.push(received.url);
      sendJson(response, 200, { verdict: !received.url.includes('no') });
    };
    const check = (name: string): object => ({ id: 'default.webhook', parameters: { webhookURL: `${judge.url}/${name}` } });
    await call(target('a', { before_request_hooks: [{ id: 'h', sequential: true, checks: [check('one'), check('two'), check('three')] }] }), chat('x'));
    assert.deepEqual(seen, ['/one', '/two', '/three']);
  });
});

describe('stored responses and hooks', () => {
  const stored = (more: object): object => ({ ...target('a'), provider: 'ovhcloud', ...more });
  const ask = (input: unknown, more: object = {}): object => ({ model: 'm', input, ...more });
  const readBack = async (id: string): Promise<Called> => {
    const response = await fetch(`${gateway.url}/v1/responses/${id}`, { headers: { 'x-gateway-api-key': apiKey } });
    const text = await response.text();
    return { status: response.status, text, json: JSON.parse(text), headers: response.headers, content: undefined };
  };
  const finalOf = (text: string): any => text.split('\n\n').filter((part) => part.startsWith('event: response.completed')).map((part) => JSON.parse(part.slice(part.indexOf('data: ') + 6)).response)[0];
  const speaks = (content: string, isStream: boolean): void => {
    upstream.answer = isStream ? answerStream([content.slice(0, 6), content.slice(6)]) : says(content);
  };

  for (const stream of [false, true]) {
    const kind = stream ? 'streamed' : 'plain';

    it(`are kept as the client got them, redacted and without results: ${kind}`, async () => {
      speaks('pin 1234 ok', stream);
      for (const guards of [
        [{ 'default.regexReplace': { rule: '[0-9]{4}', redactText: '[PIN]', lookBack: 16 } }],
        [{ 'default.regexReplace': { rule: '[0-9]{4}', redactText: '[PIN]', lookBack: 16 } }, { deny: true, 'default.regexMatch': { rule: 'pin' } }],
      ]) {
        const { status, text, json } = await call(stored({ output_guardrails: guards, input_mutators: [{ 'default.regexReplace': { rule: 'hidden' } }] }), ask('a hidden wish', { stream }), '/v1/responses');
        assert.equal(status, 200, text);
        const response = stream ? finalOf(text) : json;
        assert.equal(response.output[0].content[0].text, 'pin [PIN] ok');
        const kept = await readBack(response.id);
        assert.equal(kept.status, 200, kept.text);
        assert.equal(kept.json.output[0].content[0].text, 'pin [PIN] ok');
        assert.equal(kept.json.hook_results, undefined);
        const items = await readBack(`${response.id}/input_items`);
        assert.doesNotMatch(items.text, /hidden/);
      }
    });

    it(`are not kept when they were denied: ${kind}`, async () => {
      speaks('a secret word', stream);
      for (const guards of [[denies('secret')], [{ deny: true, 'default.regexMatch': { rule: 'nowhere' } }]]) {
        const { text } = await call(stored({ output_guardrails: guards }), ask('x', { stream }), '/v1/responses');
        assert.match(text, /guardrail checks/);
        const id = /resp_gw_[0-9A-Za-z_]+/.exec(text)?.[0];
        if (id !== undefined) assert.equal((await readBack(id)).status, 404);
      }
    });
  }

  it('do not carry personal data to the provider in the next turn that was hidden from it in this one', async () => {
    const config = stored({ input_guardrails: [{ 'default.pii': { redact: true, restore: true, categories: ['EMAIL_ADDRESS'] } }], output_guardrails: [{ 'default.pii': { restore: true } }] });
    upstream.answer = (received, response, request) => {
      const last = (received.json() as any).messages.at(-1).content;
      says(`Re: ${typeof last === 'string' ? last : last[0].text}`)(received, response, request);
    };
    const before = upstream.received.length;
    const first = await call(config, ask('I am ada@analytical.org'), '/v1/responses');
    assert.equal(first.json.output[0].content[0].text, 'Re: I am ada@analytical.org');
    const second = await call(config, ask('Go on', { previous_response_id: first.json.id }), '/v1/responses');
    assert.equal(second.status, 200, second.text);
    for (const { body } of upstream.received.slice(before)) assert.doesNotMatch(body.toString(), /analytical/, 'the provider was told what had been hidden from it');
  });

  it('are judged again where a request goes on from them', async () => {
    upstream.answer = says('a secret word');
    const first = await call(stored({}), ask('x'), '/v1/responses');
    const before = upstream.received.length;
    const second = await call(stored({ input_guardrails: [denies('secret')] }), ask('Go on', { previous_response_id: first.json.id }), '/v1/responses');
    assert.equal(second.status, 446, 'what the provider is sent was not judged');
    assert.equal(upstream.received.length, before);
  });
});

describe('caches and hooks', () => {
  const cached = { cache: { mode: 'simple' } };
  let questions = 0;
  const fresh = (more: object = {}): object => { questions += 1; return chat(`question ${questions}`, more); };
  async function settled(config: object, body: object, headers: Record<string, string> = {}): Promise<Called> {
    for (let turn = 0; ; turn += 1) {
      const called = await call(config, body, '/v1/chat/completions', headers);
      if (called.headers.get('x-gateway-cache-status') === 'HIT' || turn === 30) return called;
    }
  }

  it('keep nothing that failed or was denied, plain or streamed, and no results', async () => {
    for (const stream of [false, true]) {
      upstream.answer = stream ? answerStream(['a secret', ' word']) : says('a secret word');
      for (const [name, guard] of Object.entries({ denied: denies('secret'), marked: words('secret'), 'marked at its end': { 'default.regexMatch': { rule: 'nowhere' } } })) {
        const body = fresh({ stream });
        for (let turn = 0; turn < 4; turn += 1) {
          const { headers } = await call(target('a', { ...cached, output_guardrails: [guard] }), body);
          assert.equal(headers.get('x-gateway-cache-status'), 'MISS', `${name}, ${stream ? 'streamed' : 'plain'}`);
        }
      }
      const body = fresh({ stream });
      const hit = await settled(target('a', { ...cached, output_guardrails: [words('zzz')] }), body);
      assert.equal(hit.headers.get('x-gateway-cache-status'), 'HIT');
      assert.doesNotMatch(hit.text, /after_request_hooks":\[\{/);
    }
  });

  it('answer with 246 and the results when the input failed, and not at all when it is denied', async () => {
    upstream.answer = says('fine');
    const body = fresh();
    await settled(target('a', cached), body);
    const marked = await call(target('a', { ...cached, input_guardrails: [words('question')] }), body);
    assert.deepEqual([marked.status, marked.headers.get('x-gateway-cache-status'), marked.json.hook_results.before_request_hooks[0].verdict], [246, 'HIT', false]);
    assert.equal((await call(target('a', { ...cached, input_guardrails: [denies('question')] }), body)).status, 446);
  });

  it('share no answer in flight with a caller of whom the hooks may have said something else', async () => {
    const shared = { cache: { mode: 'simple', share_in_flight: true }, input_guardrails: [{ 'default.requiredMetadataKeys': { metadataKeys: ['team'] } }] };
    const releases: (() => void)[] = [];
    upstream.answer = (_, response) => { releases.push(() => sendJson(response, 200, completion('fine'))); };
    const body = fresh();
    const asking = (metadata: string): Promise<Called> => call(target('a', shared), body, '/v1/chat/completions', { 'x-gateway-metadata': metadata, 'x-gateway-cache-namespace': 'all' });
    const calls = [asking('{"team":"blue"}'), asking('{"user":"eve"}')];
    while (releases.length < 2) await new Promise((resolve) => { setImmediate(resolve); });
    for (const release of releases) release();
    const [good, bad] = await Promise.all(calls) as [Called, Called];
    assert.deepEqual([good.status, bad.status, bad.headers.get('x-gateway-cache-status')], [200, 246, 'MISS']);
    assert.equal(bad.json.hook_results.before_request_hooks[0].verdict, false);
  });
});

describe('the log', () => {
  it('has the results of every hook, also of those nobody waited for', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'gateway-hooks-'));
    after(() => rmSync(dataDir, { recursive: true, force: true }));
    const logged = await startTestGateway({ GATEWAY_DATA_DIR: dataDir });
    judge.answer = (_, response) => { setTimeout(() => sendJson(response, 200, { verdict: false }), 20); };
    const service = { 'default.webhook': { webhookURL: `${judge.url}/judge` }, async: true };
    const traced = (trace: string, config: object, body: object): Promise<Called> => call(config, body, '/v1/chat/completions', { 'x-gateway-trace-id': trace }, logged);
    upstream.answer = says('a secret');
    const plain = await traced('plain', target('a', { input_guardrails: [words('zzz'), { ...service, id: 'in' }], output_guardrails: [words('secret'), { ...service, id: 'out' }] }), chat('x'));
    assert.deepEqual([plain.status, plain.json.hook_results.before_request_hooks.length, plain.json.hook_results.after_request_hooks.length], [246, 1, 1]);
    await traced('denied', target('a', { output_guardrails: [denies('secret')] }), chat('x'));
    await traced('missing', target('a', { input_guardrails: [missing] }), chat('x'));
    await traced('none', target('a'), chat('x'));
    upstream.answer = answerStream(['a ', 'secret', ' is']);
    await traced('stream', target('a', { output_guardrails: [words('secret'), { ...service, id: 'out' }] }), chat('x', { stream: true }));
    await traced('async only', target('a', { output_guardrails: [{ ...service, id: 'out' }] }), chat('x', { stream: true }));
    await traced('cut', target('a', { output_guardrails: [denies('secret')] }), chat('x', { stream: true }));
    await logged.stop(5000);

    const records = new Map<string, LogRecord>();
    const opened = await storage.create({ path: dataDir }, fakeHost());
    try {
      const logs = await opened.open('exporter-store-logs');
      for await (const row of logs.range({ from: '0', to: ':', limit: 1000 })) for (const record of readLogBatch(row.value)) records.set(record.traceId, record);
    } finally {
      await opened.close?.();
    }
    const told = (trace: string): any => {
      const given = records.get(trace)?.hookResults ?? '';
      return given === '' ? null : JSON.parse(given);
    };
    const ids = (list: readonly any[]): unknown[] => list.map(({ id, verdict, async: isAsync, deny }) => [id, verdict, isAsync, deny]);
    assert.deepEqual(told('plain').before_request_hooks.map((hook: any) => [hook.id, hook.verdict, typeof hook.execution_time]), [['input_guardrail_0', true, 'number']]);
    assert.deepEqual(ids(told('plain').after_request_hooks), [['output_guardrail_0', false, false, false]]);
    assert.deepEqual(ids(told('plain').async_hooks), [['in', false, true, false], ['out', false, true, false]]);
    assert.equal(records.get('plain')?.status, 246);
    assert.deepEqual([records.get('denied')?.status, ids(told('denied').after_request_hooks)], [446, [['output_guardrail_0', false, false, true]]]);
    assert.match(told('missing').before_request_hooks[0].checks[0].error.message, /acme\.none/);
    assert.equal(told('none'), null);
    assert.deepEqual(ids(told('stream').after_request_hooks), [['output_guardrail_0', false, false, false]]);
    assert.deepEqual(ids(told('stream').async_hooks), [['out', false, true, false]]);
    assert.deepEqual(ids(told('async only').async_hooks), [['out', false, true, false]]);
    assert.deepEqual([records.get('cut')?.status, records.get('cut')?.errorCode, records.get('cut')?.ended, ids(told('cut').after_request_hooks)], [200, 'HOOKS_FAILED', 'gateway', [['output_guardrail_0', false, false, true]]]);
    for (const { hookResults } of records.values()) assert.doesNotMatch(hookResults, /a secret/, 'the log quotes the answer');
  });
});
