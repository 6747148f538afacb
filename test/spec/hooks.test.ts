// Hooks and guardrails over HTTP: what runs when, what it sees, what becomes of the answer. The checks are the gateway's own; how each of
// them judges is in its folder.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { answerStream, sendJson, startUpstream, type Answer, type Received } from '../support/upstream.js';

const upstream = await startUpstream();
const gateway = await startTestGateway();

const regex = (rule: string, more: object = {}): object => ({ 'default.regexMatch': { rule, not: true, ...more } });

interface Called { readonly status: number; readonly text: string; readonly json: any; readonly headers: Headers }

const paths = { chatCompletions: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses', embeddings: '/v1/embeddings' } as const;

const bodies = {
  chatCompletions: (text: string) => ({ model: 'm', messages: [{ role: 'user', content: text }] }),
  messages: (text: string) => ({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: text }] }),
  responses: (text: string) => ({ model: 'm', input: text }),
  embeddings: (text: string) => ({ model: 'm', input: text }),
};

async function call(config: object, body: object, endpoint: keyof typeof paths = 'chatCompletions', headers: Record<string, string> = {}): Promise<Called> {
  const response = await fetch(gateway.url + paths[endpoint], {
    method: 'POST',
    headers: {
      'content-type': 'application/json', 'x-gateway-api-key': apiKey,
      'x-gateway-config': JSON.stringify({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1`, ...config }), ...headers,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  let json: any;
  try { json = JSON.parse(text); } catch { json = undefined; }
  return { status: response.status, text, json, headers: response.headers };
}

const chat = bodies.chatCompletions;
const says = (content: string): Answer => (_, response) => sendJson(response, 200, {
  id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const sentBody = (received: Received): any => JSON.parse(Buffer.from(received.body).toString());

describe('a guardrail on the input', () => {
  it('lets what passes through, and says so', async () => {
    upstream.answer = says('fine');
    const { status, json } = await call({ input_guardrails: [regex('secret')] }, chat('hello'));
    assert.equal(status, 200);
    assert.equal(json.choices[0].message.content, 'fine');
    const [hook] = json.hook_results.before_request_hooks;
    assert.deepEqual([hook.verdict, hook.id, hook.type, hook.async, hook.deny, hook.transformed, hook.feedback], [true, 'input_guardrail_0', 'guardrail', false, false, false, null]);
    assert.deepEqual([hook.checks[0].id, hook.checks[0].verdict, hook.checks[0].fail_on_error], ['default.regexMatch', true, false]);
    assert.equal(typeof hook.execution_time, 'number');
    assert.deepEqual(json.hook_results.after_request_hooks, []);
  });

  it('marks the answer with 246 when it fails', async () => {
    upstream.answer = says('fine');
    const { status, json } = await call({ input_guardrails: [regex('secret')] }, chat('a secret'));
    assert.equal(status, 246);
    assert.equal(json.choices[0].message.content, 'fine');
    assert.equal(json.hook_results.before_request_hooks[0].verdict, false);
  });

  it('ends the call with 446 when it fails and denies, and nobody is asked', async () => {
    for (const endpoint of ['chatCompletions', 'messages', 'responses', 'embeddings'] as const) {
      let calls = 0;
      upstream.answer = (...given) => { calls += 1; says('no')(...given); };
      const { status, json } = await call({ input_guardrails: [{ ...regex('secret'), deny: true }] }, bodies[endpoint]('a secret'), endpoint);
      assert.equal(status, 446);
      assert.equal(calls, 0);
      assert.match(json.error.message, /guardrail checks defined in the config failed/);
      if (endpoint !== 'messages') assert.equal(json.error.type, 'hooks_failed');
      assert.equal(json.hook_results.before_request_hooks[0].deny, true);
      assert.doesNotMatch(JSON.stringify(json), /a secret/);
    }
  });

  it('takes the deny of on_fail, and on_success', async () => {
    upstream.answer = says('fine');
    const hook = (more: object): object => ({ before_request_hooks: [{ id: 'h', type: 'guardrail', checks: [{ id: 'default.regexMatch', parameters: { rule: 'secret', not: true } }], ...more }] });
    assert.equal((await call(hook({ on_fail: { deny: true } }), chat('secret'))).status, 446);
    assert.equal((await call(hook({ on_fail: { deny: true } }), chat('fine'))).status, 200);
    assert.equal((await call(hook({ on_success: { deny: true } }), chat('fine'))).status, 446);
  });

  it('gives feedback with the names of the checks', async () => {
    upstream.answer = says('fine');
    const config = { before_request_hooks: [{
      id: 'h', on_fail: { feedback: { value: -5, weight: 0.5, metadata: { team: 'a' } } }, on_success: { feedback: { value: 5 } },
      checks: [{ id: 'default.regexMatch', parameters: { rule: 'secret', not: true } }, { id: 'default.wordCount', parameters: { maxWords: 100 } }, { id: 'acme.none', parameters: {} }],
    }] };
    const { json } = await call(config, chat('secret'));
    assert.deepEqual(json.hook_results.before_request_hooks[0].feedback, {
      value: -5, weight: 0.5, metadata: { team: 'a', successfulChecks: 'default.wordCount', failedChecks: 'default.regexMatch', erroredChecks: 'acme.none' },
    });
  });

  it('reads every message, part and tool argument in every dialect', async () => {
    upstream.answer = says('fine');
    const guard = { input_guardrails: [{ ...regex('needle'), deny: true }] };
    const cases: [keyof typeof paths, object][] = [
      ['chatCompletions', { model: 'm', messages: [{ role: 'system', content: 'needle' }, { role: 'user', content: 'x' }] }],
      ['chatCompletions', { model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, { type: 'text', text: 'needle' }] }, { role: 'assistant', content: 'y' }, { role: 'user', content: 'z' }] }],
      ['chatCompletions', { model: 'm', messages: [{ role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"q":{"deep":["\\u006eeedle"]}}' } }] }, { role: 'tool', tool_call_id: 'a', content: 'ok' }] }],
      ['chatCompletions', { model: 'm', messages: [{ role: 'user', content: 'x' }, { role: 'tool', tool_call_id: 'a', content: 'needle' }] }],
      ['messages', { model: 'm', max_tokens: 1, system: [{ type: 'text', text: 'needle' }], messages: [{ role: 'user', content: 'x' }] }],
      ['messages', { model: 'm', max_tokens: 1, messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { q: 'needle' } }] }, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'x' }] }] }] }],
      ['messages', { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'needle' }] }] }] }],
      ['responses', { model: 'm', instructions: 'needle', input: 'x' }],
      ['responses', { model: 'm', input: [{ role: 'user', content: [{ type: 'input_text', text: 'needle' }] }, { role: 'user', content: 'x' }] }],
      ['responses', { model: 'm', input: [{ type: 'function_call', call_id: 'a', name: 'f', arguments: '{"q":"needle"}' }, { type: 'function_call_output', call_id: 'a', output: 'x' }] }],
      ['responses', { model: 'm', input: [{ type: 'function_call_output', call_id: 'a', output: 'needle' }] }],
      ['embeddings', { model: 'm', input: ['a', 'needle'] }],
    ];
    for (const [endpoint, body] of cases) assert.equal((await call(guard, body, endpoint)).status, 446, JSON.stringify(body));
  });

  it('changes what the provider gets, for later checks and later targets too', async () => {
    const seen: string[] = [];
    upstream.answer = (received, response, request) => {
      seen.push(sentBody(received).messages[0].content);
      if (seen.length === 1) sendJson(response, 500, { error: { message: 'no' } });
      else says('fine')(received, response, request);
    };
    const config = {
      strategy: { mode: 'fallback' },
      targets: [{ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1` }, { provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1` }],
      provider: undefined, api_key: undefined, custom_host: undefined,
      input_mutators: [{ 'default.regexReplace': { rule: '[0-9]{4}', redactText: '[PIN]' } }],
      input_guardrails: [],
      before_request_hooks: [{ id: 'r', type: 'mutator', checks: [{ id: 'default.regexReplace', parameters: { rule: 'pin', redactText: 'number' } }] }, { id: 'g', checks: [{ id: 'default.regexMatch', parameters: { rule: 'pin', not: true } }] }],
    };
    const { status, json } = await call(config, chat('pin 1234'));
    assert.equal(status, 200);
    assert.deepEqual(seen, ['number [PIN]', 'number [PIN]']);
    const hooks = json.hook_results.before_request_hooks;
    assert.deepEqual(hooks.map((hook: any) => [hook.id, hook.verdict, hook.transformed]), [['r', true, true], ['g', true, false], ['input_mutator_0', true, true]]);
  });

  it('goes on to the next target when it denies for one of them and 446 is listed', async () => {
    upstream.answer = says('fine');
    const config = {
      strategy: { mode: 'fallback', on_status_codes: [446] }, provider: undefined, api_key: undefined, custom_host: undefined,
      targets: [
        { provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1`, input_guardrails: [{ ...regex('x'), deny: true }] },
        { provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1`, name: 'second' },
      ],
    };
    const { status, headers, json } = await call(config, chat('x'));
    assert.equal(status, 200);
    assert.equal(headers.get('x-gateway-last-used-option-index'), 'config.targets[1]');
    assert.equal(json.hook_results.before_request_hooks.length, 1);
  });

  it('is an errored check when nothing of its name is installed: it passes, unless it says failOnError', async () => {
    upstream.answer = says('fine');
    const passed = await call({ input_guardrails: [{ 'acme.unknown': {}, deny: true }] }, chat('x'));
    assert.equal(passed.status, 200);
    const [check] = passed.json.hook_results.before_request_hooks[0].checks;
    assert.equal(check.verdict, true);
    assert.match(check.error.message, /no plugin supplies the check acme.unknown/);
    assert.equal((await call({ input_guardrails: [{ 'acme.unknown': { failOnError: true }, deny: true }] }, chat('x'))).status, 446);
  });

  it('is found under the names that configs for other gateways use', async () => {
    upstream.answer = says('fine');
    for (const [check, body] of [['gateway.pii', chat('write to jane@contoso.com')], ['default.modelwhitelist', chat('x')], ['wordCount', chat('one two three')]] as const) {
      const params = { 'gateway.pii': {}, 'default.modelwhitelist': { models: ['other'] }, wordCount: { maxWords: 2 } }[check];
      assert.equal((await call({ input_guardrails: [{ [check]: params, deny: true }] }, body)).status, 446, check);
    }
  });

  it('is refused with its place when it can never work', async () => {
    const refused = async (config: object, param: string, message: RegExp, wanted = 400): Promise<void> => {
      const { status, json } = await call(config, chat('x'));
      assert.deepEqual([status, json.error.param], [wanted, param], json.error.message);
      assert.match(json.error.message, message);
    };
    await refused({ input_guardrails: ['stored'] }, 'config.input_guardrails[0]', /no stored guardrail/, 404);
    await refused({ input_guardrails: [{ 'default.nonsense': {} }] }, 'config.input_guardrails[0]["default.nonsense"]', /no check default.nonsense is installed/);
    await refused({ input_guardrails: [{ 'default.regexMatch': { rule: '(' } }] }, 'config.input_guardrails[0]["default.regexMatch"].rule', /./);
    await refused({ before_request_hooks: [{ id: 'x', checks: [{ id: 'default.regexMatch', parameters: { rul: 'a' } }] }] }, 'config.before_request_hooks[0].checks[0]', /rul|required/);
    await refused({ before_request_hooks: [{ id: 'x', type: 'nonsense' }] }, 'config.before_request_hooks[0].type', /guardrail or mutator/);
    await refused({ before_request_hooks: [{ id: 'x', dny: true, checks: [] }] }, 'config.before_request_hooks[0]', /dny/);
    await refused({ output_guardrails: [{ 'default.addPrefix': { prefix: 'x' } }] }, 'config.output_guardrails[0]["default.addPrefix"]', /does not run on the output/);
  });
});

describe('a guardrail on the output', () => {
  it('judges a plain answer: 200, 246, 446', async () => {
    upstream.answer = says('a secret');
    assert.equal((await call({ output_guardrails: [regex('nothing')] }, chat('x'))).status, 200);
    const failed = await call({ output_guardrails: [regex('secret')] }, chat('x'));
    assert.equal(failed.status, 246);
    assert.equal(failed.json.choices[0].message.content, 'a secret');
    assert.equal(failed.json.hook_results.after_request_hooks[0].verdict, false);
    const denied = await call({ output_guardrails: [{ ...regex('secret'), deny: true }] }, chat('x'));
    assert.equal(denied.status, 446);
    assert.equal(denied.json.choices, undefined);
    assert.equal(denied.json.hook_results.after_request_hooks[0].deny, true);
  });

  it('tells nothing of an answer that it withholds, nor does another check beside it', async () => {
    upstream.answer = says('{"Jane Doe":"lives at 7 Elm Street","age":5,"url":"http://127.0.0.1:9/elm"}');
    const checks = {
      jsonSchema: { schema: { type: 'object' } }, jsonKeys: { keys: ['age'] }, valid: { id: 'default.validUrls', onlyDNS: true }, contains: { words: ['age'] }, containsCode: { format: 'SQL', not: true },
    };
    const failing = [{ jsonSchema: { schema: { additionalProperties: { type: 'string' } } } }, { jsonKeys: { keys: ['age'], operator: 'none' } }, { regexMatch: { rule: 'lives.*Street', not: true } }];
    for (const one of failing) {
      const { status, text } = await call({ output_guardrails: [{ ...checks, ...one, deny: true }] }, chat('x'));
      assert.equal(status, 446, text);
      assert.doesNotMatch(text, /Jane|lives at|Elm|elm/);
    }
  });

  it('reads every choice and every tool argument', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [
      { index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' },
      { index: 1, message: { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":"needle"}' } }] }, finish_reason: 'tool_calls' },
    ] });
    assert.equal((await call({ output_guardrails: [{ ...regex('needle'), deny: true }] }, chat('x'))).status, 446);
  });

  it('changes the answer', async () => {
    upstream.answer = says('pin 1234');
    const { status, json } = await call({ output_mutators: [{ 'default.regexReplace': { rule: '[0-9]{4}' } }] }, chat('x'));
    assert.equal(status, 200);
    assert.equal(json.choices[0].message.content, 'pin [REDACTED]');
    assert.equal(json.hook_results.after_request_hooks[0].transformed, true);
  });

  it('does not run on errors, whose answer has the results of the input', async () => {
    upstream.answer = (_, response) => sendJson(response, 429, { error: { message: 'slow down', type: 't', code: null, param: null } });
    const { status, json } = await call({ input_guardrails: [regex('a')], output_guardrails: [{ ...regex('slow'), deny: true }] }, chat('x'));
    assert.equal(status, 429);
    assert.equal(json.error.message, 'slow down');
    assert.equal(json.hook_results.before_request_hooks.length, 1);
    assert.deepEqual(json.hook_results.after_request_hooks, []);
  });

  it('sends the call to another target, or again, when its status is listed', async () => {
    const answers = ['secret one', 'fine'];
    let calls = 0;
    upstream.answer = (...given) => { says(answers[calls] ?? 'fine')(...given); calls += 1; };
    const target = { provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1` };
    const guard = { output_guardrails: [{ ...regex('secret'), deny: true }] };
    const fallback = await call({ strategy: { mode: 'fallback', on_status_codes: [446] }, targets: [target, target], provider: undefined, api_key: undefined, custom_host: undefined, ...guard }, chat('x'));
    assert.deepEqual([fallback.status, fallback.json.choices[0].message.content, calls], [200, 'fine', 2]);
    calls = 0;
    const retried = await call({ ...target, ...guard, retry: { attempts: 2, on_status_codes: [446] } }, chat('x'));
    assert.deepEqual([retried.status, retried.headers.get('x-gateway-retry-attempt-count'), calls], [200, '1', 2]);
    calls = 0;
    assert.equal((await call({ ...target, ...guard }, chat('x'))).status, 446);
    assert.equal(calls, 1);
  });

  it('does not delay the answer when it is async, and its result is for the log', async () => {
    upstream.answer = says('a secret');
    const { status, json } = await call({ output_guardrails: [{ ...regex('secret'), deny: true, async: true }] }, chat('x'));
    assert.equal(status, 200);
    assert.equal(json.hook_results, undefined);
  });
});

describe('a stream', () => {
  const events = (text: string): any[] => text.split('\n\n').filter((part) => part.startsWith('data: {')).map((part) => JSON.parse(part.slice(6)));
  const textOf = (text: string): string => events(text).map((event) => event.choices?.[0]?.delta?.content ?? '').join('');

  it('has the results before its end', async () => {
    upstream.answer = answerStream(['hello', ' there']);
    const { status, text, headers } = await call({ input_guardrails: [regex('zzz')] }, { ...chat('x'), stream: true });
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/event-stream');
    assert.match(text, /data: \[DONE\]\n\n$/);
    const all = events(text);
    assert.equal(all.at(-1).hook_results.before_request_hooks[0].verdict, true);
    assert.deepEqual(all.at(-1).choices, []);
    assert.equal(textOf(text), 'hello there');
  });

  it('is judged as it passes by checks that can, and ends with an error when one denies', async () => {
    upstream.answer = answerStream(['this is ', 'a sec', 'ret thing', ' and more']);
    const { status, text } = await call({ output_guardrails: [{ ...regex('secret'), deny: true }] }, { ...chat('x'), stream: true });
    assert.equal(status, 200);
    assert.doesNotMatch(text, /ret thing/);
    const last = events(text).at(-1);
    assert.equal(last.error.type, 'hooks_failed');
    assert.equal(last.hook_results.after_request_hooks[0].deny, true);
    assert.doesNotMatch(text, /\[DONE\]/);
  });

  it('is redacted across chunks', async () => {
    upstream.answer = answerStream(['pin 12', '34 o', 'k']);
    const { text } = await call({ output_mutators: [{ 'default.regexReplace': { rule: '[0-9]{4}', lookBack: 16 } }] }, { ...chat('x'), stream: true });
    assert.equal(textOf(text), 'pin [REDACTED] ok');
    assert.match(text, /data: \[DONE\]\n\n$/);
    assert.equal(events(text).at(-1).hook_results.after_request_hooks[0].transformed, true);
  });

  it('is held when a check needs it whole: denied as a plain 446, else as it came', async () => {
    upstream.answer = answerStream(['{"a":', '1}']);
    const schema = (type: string): object => ({ output_guardrails: [{ 'default.jsonSchema': { schema: { type: 'object', properties: { a: { type } } } }, deny: true }] });
    const passed = await call(schema('number'), { ...chat('x'), stream: true });
    assert.equal(passed.status, 200);
    assert.equal(textOf(passed.text), '{"a":1}');
    assert.match(passed.text, /data: \[DONE\]\n\n$/);
    const denied = await call(schema('string'), { ...chat('x'), stream: true });
    assert.equal(denied.status, 446);
    assert.equal(denied.json.error.type, 'hooks_failed');
  });

  it('is marked with 246 before it begins when the input failed', async () => {
    upstream.answer = answerStream(['hello']);
    const { status, text } = await call({ input_guardrails: [regex('x')] }, { ...chat('x'), stream: true });
    assert.equal(status, 246);
    assert.equal(textOf(text), 'hello');
  });
});
