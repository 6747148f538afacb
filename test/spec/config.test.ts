// Configs as clients send them: what is refused and in which words, and what a config does to the bytes that the provider gets.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { startUpstream } from '../support/upstream.js';
import { openWire } from '../support/wire.js';

const upstream = await startUpstream();
const gateway = await startTestGateway();
const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] });

/** A refusal that takes longer has tried something; a busy machine takes less. */
const refusalMsMax = 10_000;

const call = (headers: Record<string, string>, body = chat, path = '/v1/chat/completions'): Promise<Response> =>
  fetch(gateway.url + path, { method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, ...headers }, body });

const withConfig = (config: unknown): Record<string, string> => ({ 'x-gateway-config': typeof config === 'string' ? config : JSON.stringify(config) });

interface Refusal { readonly status: number; readonly code: string; readonly param: string | null; readonly message: string; readonly text: string }

async function refused(headers: Record<string, string>, path?: string): Promise<Refusal> {
  const before = upstream.received.length;
  const startedAt = performance.now();
  const response = await call(headers, chat, path);
  const text = await response.text();
  assert.ok(performance.now() - startedAt < refusalMsMax, 'a config that cannot work is refused at once');
  assert.equal(upstream.received.length, before, 'a refused call must not reach the provider');
  const { error } = JSON.parse(text);
  return { status: response.status, code: error.code, param: error.param, message: error.message, text };
}

/** The body that the provider got, as text. */
async function sentBody(config: unknown, body: string): Promise<string> {
  const response = await call(withConfig(config), body);
  assert.equal(response.status, 200, await response.text());
  return upstream.received.at(-1)?.body.toString('utf8') ?? '';
}

const target = { provider: 'openai', api_key: 'sk-target', custom_host: `${upstream.url}/v1` };
const fallback = (...targets: unknown[]): Record<string, unknown> => ({ strategy: { mode: 'fallback' }, targets });

/** The target itself inside so many single-target groups. */
function nested(levels: number): unknown {
  let config: unknown = target;
  for (let level = 0; level < levels; level += 1) config = { strategy: { mode: 'single' }, targets: [config] };
  return config;
}

const conditional = (strategy: Record<string, unknown>, ...names: string[]): Record<string, unknown> =>
  ({ strategy: { mode: 'conditional', ...strategy }, targets: names.map((name) => ({ ...target, name })) });

const query = { 'metadata.plan': 'paid' };

describe('a config with a fault', () => {
  const cases: [what: string, config: unknown, param: string, message: RegExp][] = [
    ['an unknown property', { ...target, weigth: 1 }, 'config.weigth', /unknown property; did you mean weight\?/],
    ['an unknown property in a target', fallback(target, { ...target, retry: { attempts: 1, on_status_code: [500] } }), 'config.targets[1].retry.on_status_code', /did you mean on_status_codes\?/],
    ['an unknown property in the strategy', { strategy: { mode: 'fallback', on_status: [500] }, targets: [target] }, 'config.strategy.on_status', /unknown property/],
    ['an unknown property with an odd name', { ...target, 'a b': 1 }, 'config["a b"]', /unknown property/],
    ['a name that would reach a prototype', '{"provider":"openai","api_key":"k","override_params":{"__proto__":{"a":1}}}', 'config.override_params.__proto__', /refused as a property name/],
    ['text for a number', { ...target, retry: { attempts: '3' } }, 'config.retry.attempts', /must be an integer/],
    ['a number for text', { ...target, provider: 7 }, 'config.provider', /must be a string/],
    ['a list for an object', { ...target, override_params: [] }, 'config.override_params', /must be an object/],
    ['an object for a list', { strategy: { mode: 'single' }, targets: { 0: target } }, 'config.targets', /must be a list/],
    ['a string for a target', fallback('openai'), 'config.targets[0]', /must be an object/],
    ['a status that is none', { ...target, retry: { attempts: 1, on_status_codes: [500, 42] } }, 'config.retry.on_status_codes[1]', /at least 100/],
    ['too many retries', { ...target, retry: { attempts: 1000 } }, 'config.retry.attempts', /at most 20/],
    ['no number of retries', { ...target, retry: {} }, 'config.retry.attempts', /is required/],
    ['half a circuit breaker', { ...target, cb_config: { failure_threshold: 2 } }, 'config.cb_config.cooldown_interval', /is required/],
    ['a cooldown too short', { ...target, cb_config: { failure_threshold: 2, cooldown_interval: 1000 } }, 'config.cb_config.cooldown_interval', /at least 30000/],
    ['a time-out of 0', { ...target, request_timeout: 0 }, 'config.request_timeout', /at least 1/],
    ['a negative weight', fallback({ ...target, weight: -1 }), 'config.targets[0].weight', /at least 0/],
    ['a list instead of a config', [target], 'config', /must be a JSON object/],
    ['nothing in it', {}, 'config', /provider with api_key/],
    ['a provider without a key', { provider: 'openai' }, 'config', /needs api_key beside it/],
    ['a provider without a key in a target', fallback(target, { provider: 'openai' }), 'config.targets[1]', /needs api_key beside it/],
    ['half a set of credentials', { provider: 'openai', cloud1_access_key_id: 'a' }, 'config', /also needs cloud1_secret_access_key/],
    ['a strategy without targets', { strategy: { mode: 'single' } }, 'config.targets', /is required beside strategy/],
    ['targets without a strategy', { targets: [target] }, 'config.strategy', /is required beside targets/],
    ['a strategy without a mode', { strategy: {}, targets: [target] }, 'config.strategy.mode', /is required/],
    ['passthrough beside targets', { passthrough: true, ...fallback(target) }, 'config.targets', /cannot stand beside passthrough/],
    ['a header name with a line break', { ...target, forward_headers: ['x-a\r\nx-b'] }, 'config.forward_headers[0]', /must be the name of a header/],
    ['a key with a line break', { ...target, api_key: 'sk\r\nx-injected: 1' }, 'config.api_key', /fits in a header/],
    ['a path to drop that is none', { ...target, drop_params: ['a..b'] }, 'config.drop_params[0]', /dotted path/],
    // Degenerate ones
    ['no targets', fallback(), 'config.targets', /at least 1 item/],
    ['weights of 0 everywhere', { strategy: { mode: 'loadbalance' }, targets: [{ ...target, weight: 0 }, { ...target, weight: 0 }] }, 'config.strategy', /weights of all targets are 0/],
    ['a mode that nobody knows', { strategy: { mode: 'roulette' }, targets: [target] }, 'config.strategy.mode', /no strategy roulette is installed; use conditional or fallback or loadbalance or single/],
    ['a third-party mode that is not installed', { strategy: { mode: 'acme.canary', share: 1 }, targets: [target] }, 'config.strategy.mode', /no strategy acme\.canary is installed/],
    ['conditions without a default', conditional({ conditions: [{ query, then: 'a' }] }, 'a'), 'config.strategy.default', /is required/],
    ['a default without conditions', conditional({ default: 'a' }, 'a'), 'config.strategy.conditions', /is required/],
    ['a condition that names no target', conditional({ conditions: [{ query, then: 'z' }], default: 'a' }, 'a', 'b'), 'config.strategy.conditions[0].then', /names no target; the targets are called a, b/],
    ['a default that names no target', conditional({ conditions: [{ query, then: 'a' }], default: 'z' }, 'a', 'b'), 'config.strategy.default', /names no target/],
    ['a condition on something unknown', conditional({ conditions: [{ query: { 'body.model': 'x' }, then: 'a' }], default: 'a' }, 'a'), 'config.strategy.conditions[0].query["body.model"]', /metadata\.<key>/],
    ['targets nine deep', nested(9), `config${'.targets[0]'.repeat(8)}.targets`, /nested at most 8 deep/],
    ['objects five hundred deep', `{"provider":"openai","api_key":"k","override_params":${'{"a":'.repeat(500)}1${'}'.repeat(500)}}`, 'config.override_params.a.a', /nested more than 128 deep/],
    ['more targets than allowed', fallback(...Array.from({ length: 101 }, () => ({ provider: 'openai', api_key: 'k' }))), 'config.targets', /at most 100 items/],
  ];
  for (const [what, config, param, message] of cases) {
    it(`is refused with the place: ${what}`, async () => {
      const refusal = await refused(withConfig(config));
      assert.equal(refusal.status, 400, refusal.text);
      assert.equal(refusal.code, 'config_invalid');
      assert.equal(refusal.param, param);
      assert.ok(refusal.message.startsWith(`${param}: `), refusal.message);
      assert.match(refusal.message, message);
    });
  }

  it('is refused as text that is not JSON, without a word of that text', async () => {
    for (const text of ['{"api_key":"sk-very-secret", "provider" openai}', '{"api_key":"sk-very-secret"', 'sk-very-secret "', "{'api_key':'sk-very-secret'}", '{"api_key":"sk-very-secret"}}']) {
      const refusal = await refused(withConfig(text));
      assert.equal(refusal.status, 400);
      assert.equal(refusal.code, 'config_not_json');
      assert.equal(refusal.param, 'x-gateway-config');
      assert.ok(!refusal.text.includes('secret'), refusal.text);
    }
  });

  it('is refused without a word of its values', async () => {
    const key = 'sk-very-secret';
    for (const config of [{ ...target, api_key: { key } }, { provider: 'openai', api_key: key, retry: key }, { provider: key }, { ...target, api_key: `${key}\n` }, { ...target, custom_host: key }]) {
      const { status, text } = await refused(withConfig(config));
      assert.equal(status, 400);
      assert.ok(!text.includes(key), text);
    }
  });

  it('is refused again when it is sent again', async () => {
    const first = await refused(withConfig(fallback()));
    const second = await refused(withConfig(fallback()));
    assert.equal(second.text, first.text);
  });

  it('is refused when it has options at the root, on the proxy and elsewhere', async () => {
    for (const path of ['/v1/proxy/anything', '/v1/anything', '/v1/chat/completions']) {
      const refusal = await refused(withConfig({ mode: 'single', options: [target] }), path);
      assert.equal(refusal.status, 400);
      assert.equal(refusal.param, 'config.options');
      assert.match(refusal.message, /use strategy and targets/);
    }
  });

  it('is refused, never passed over, when a guardrail or hook has no plugin', async () => {
    const lists: Record<string, unknown[]> = {
      input_guardrails: ['acme.unknown'],
      output_guardrails: [{ 'default.unknown': { limit: 1 }, deny: true }],
      before_request_hooks: [{ id: 'h1', type: 'guardrail', checks: [{ id: 'default.unknown', parameters: {} }] }],
      after_request_hooks: [{ id: 'h1', type: 'guardrail', checks: [{ id: 'default.unknown', parameters: {} }] }],
    };
    for (const [name, list] of Object.entries(lists)) {
      const places: [unknown, string][] = [
        [{ ...target, [name]: list }, `config.${name}[0]`],
        [fallback(target, { ...target, [name]: list }), `config.targets[1].${name}[0]`],
        [{ ...fallback(target), [name]: list }, `config.${name}[0]`],
      ];
      for (const [config, place] of places) {
        for (const path of ['/v1/chat/completions', '/v1/proxy/anything']) {
          const refusal = await refused(withConfig(config), path);
          assert.equal(refusal.status, name === 'input_guardrails' ? 404 : 400);
          assert.ok(refusal.param?.startsWith(place), `${refusal.param} is not in ${place}`);
          assert.match(refusal.message, /installed|there is no stored guardrail acme\.unknown in this workspace/);
        }
      }
    }
  });
});

describe('routing', () => {
  it('is asked for when no header names a provider', async () => {
    for (const path of ['/v1/chat/completions', '/v1/proxy/anything']) {
      const refusal = await refused({}, path);
      assert.equal(refusal.status, 400);
      assert.equal(refusal.code, 'routing_missing');
      assert.match(refusal.message, /x-gateway-config.*x-gateway-provider/);
    }
  });

  it('is refused to an unknown provider, by header and by config', async () => {
    for (const headers of [{ 'x-gateway-provider': 'no-such', authorization: 'Bearer sk' }, withConfig({ provider: 'no-such', api_key: 'k' }), withConfig({ provider: '../core', api_key: 'k' })]) {
      const refusal = await refused(headers);
      assert.equal(refusal.status, 400);
      assert.equal(refusal.code, 'provider_unknown');
      assert.equal(refusal.param, 'provider');
      assert.match(refusal.message, /unknown provider (no-such|\.\.\/core)/);
    }
  });

  it('is refused to a stored config or a catalogue entry that does not exist', async () => {
    const stored = await refused(withConfig('pc-nothing-1'));
    assert.equal(stored.status, 404);
    assert.equal(stored.code, 'config_unknown');
    assert.equal(stored.param, 'x-gateway-config');
    assert.match(stored.message, /no stored config pc-nothing-1 in this workspace; .*send the config itself/);
    const catalogue = await refused({ 'x-gateway-provider': '@nothing' });
    assert.equal(catalogue.status, 404);
    assert.match(catalogue.message, /no stored provider nothing/);
  });

  it('takes a provider from the header for targets that name none', async () => {
    const response = await call({ ...withConfig({ retry: { attempts: 1 } }), 'x-gateway-provider': 'openai', 'x-gateway-custom-host': `${upstream.url}/other/v1`, authorization: 'Bearer sk-of-the-client' });
    assert.equal(response.status, 200, await response.text());
    assert.equal(upstream.received.at(-1)?.url, '/other/v1/chat/completions');
    assert.equal(upstream.received.at(-1)?.headers.authorization, 'Bearer sk-of-the-client');
  });

  it('lets the custom host of the header win over the config\'s', async () => {
    const response = await call({ ...withConfig({ ...target, custom_host: 'http://127.0.0.1:1/v1' }), 'x-gateway-custom-host': `${upstream.url}/winner` });
    assert.equal(response.status, 200, await response.text());
    assert.equal(upstream.received.at(-1)?.url, '/winner/chat/completions');
  });
});

describe('the size of what is sent along', () => {
  it('may be a config of 60 kB', async () => {
    const marker = 'm'.repeat(59 * 1024);
    const config = JSON.stringify({ ...target, override_params: { user: marker } });
    assert.ok(config.length > 60_000 && config.length < 64 * 1024);
    const response = await call(withConfig(config));
    assert.equal(response.status, 200, await response.text());
    assert.equal(upstream.received.at(-1)?.json().user, marker);
  });

  it('is refused with 431 when all headers together pass 64 kB', async () => {
    const before = upstream.received.length;
    const wire = await openWire(gateway.port);
    const big = JSON.stringify({ ...target, name: 'n'.repeat(66 * 1024) });
    wire.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nx-gateway-api-key: ${apiKey}\r\nx-gateway-config: ${big}\r\ncontent-length: ${chat.length}\r\n\r\n${chat}`);
    const text = await wire.closed();
    assert.match(text, /^HTTP\/1\.1 431 /);
    assert.equal(upstream.received.length, before);
  });
});

describe('the body that the provider gets', () => {
  const odd = ' {"model" : "m",\n\t"messages":[ {"role":"user","content":"Gr\\u00fc\\/ße 👋"} ], "seed":9007199254740993, "temperature":1.0,'
    + '"top_p":1e-1,"unknown_field":{"b":[1.50,-0,1E2,12345678901234567890],"a":null}, "user":"u" , "stop" : [ ] }\r\n';

  it('is the client\'s, byte for byte, when nothing edits it', async () => {
    for (const config of [target, { ...target, retry: { attempts: 2 } }, { ...target, override_params: {} }, fallback(target, target), { ...target, drop_params: ['absent', 'tools[*].strict'] }, { ...target, default_params: { temperature: 0 } }]) {
      assert.equal(await sentBody(config, odd), odd);
    }
  });

  it('has overridden values replaced and added, and every other byte as it was', async () => {
    const body = await sentBody({ ...target, override_params: { temperature: 0.25, user: 'new "user"' } }, odd);
    assert.equal(body, odd.replace('"temperature":1.0', '"temperature":0.25').replace('"user":"u"', '"user":"new \\"user\\""'));
    const added = await sentBody({ ...target, override_params: { max_tokens: 5 } }, odd);
    assert.equal(JSON.parse(added).max_tokens, 5);
    assert.ok(added.startsWith(odd.slice(0, odd.indexOf('"stop"'))), added);
  });

  it('has defaults only where the client said nothing', async () => {
    const body = await sentBody({ ...target, default_params: { temperature: 0.25, max_tokens: 7, user: 'd' } }, odd);
    const sent = JSON.parse(body);
    assert.equal(sent.max_tokens, 7);
    assert.equal(sent.user, 'u');
    assert.ok(body.includes('"temperature":1.0,'));
    assert.ok(body.includes('"seed":9007199254740993,'));
    const withNull = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }], user: null });
    assert.equal(await sentBody({ ...target, default_params: { user: 'd' } }, withNull), withNull);
  });

  it('loses what is dropped, in depth too, and nothing else', async () => {
    const body = await sentBody({ ...target, drop_params: ['user', 'unknown_field.b', 'messages[0].name', 'seed'] }, odd);
    const sent = JSON.parse(body);
    assert.deepEqual(Object.keys(sent), ['model', 'messages', 'temperature', 'top_p', 'unknown_field', 'stop']);
    assert.deepEqual(sent.unknown_field, { a: null });
    assert.ok(body.includes('"temperature":1.0'));
    const tools = JSON.stringify({
      model: 'm', messages: [{ role: 'user', content: 'x' }],
      tools: [{ type: 'function', function: { name: 'a', strict: true } }, { type: 'function', function: { name: 'b', strict: false } }],
    });
    const bare = JSON.parse(await sentBody({ ...target, drop_params: ['tools[*].function.strict'] }, tools));
    assert.deepEqual(bare.tools, [{ type: 'function', function: { name: 'a' } }, { type: 'function', function: { name: 'b' } }]);
  });

  it('may leave a required member to the config, when every target fills it in', async () => {
    const bare = JSON.stringify({ messages: [{ role: 'user', content: 'x' }] });
    assert.equal(JSON.parse(await sentBody({ ...target, override_params: { model: 'from-config' } }, bare)).model, 'from-config');
    assert.equal(JSON.parse(await sentBody({ ...target, default_params: { model: 'by-default' } }, bare)).model, 'by-default');
    const both = fallback({ ...target, override_params: { model: 'a' } }, { ...target, default_params: { model: 'b' } });
    assert.equal(JSON.parse(await sentBody(both, bare)).model, 'a');
    for (const config of [target, fallback({ ...target, override_params: { model: 'a' } }, target), { ...target, override_params: { model: 5 } }]) {
      const response = await call(withConfig(config), bare);
      assert.deepEqual([response.status, (await response.json() as { error: { param: string } }).error.param], [400, 'model']);
    }
  });

  it('has a value overridden that default_params sets as well', async () => {
    const body = await sentBody({ ...target, default_params: { max_tokens: 7 }, override_params: { max_tokens: 9 } }, chat);
    assert.equal(JSON.parse(body).max_tokens, 9);
    assert.equal(body.split('max_tokens').length, 2, 'once');
  });

  it('is edited by the proxy as well when it is JSON, and left alone when it is not', async () => {
    const config = { ...target, override_params: { a: 2 } };
    const send = async (type: string, body: string): Promise<string> => {
      const response = await call({ ...withConfig(config), 'content-type': type }, body, '/v1/proxy/things');
      assert.equal(response.status, 200, await response.text());
      return upstream.received.at(-1)?.body.toString('utf8') ?? '';
    };
    assert.equal(await send('application/json', '{ "a":1, "n":1.0 }'), '{ "a":2, "n":1.0 }');
    assert.equal(await send('text/plain', '{ "a":1, "n":1.0 }'), '{ "a":1, "n":1.0 }');
  });

  it('has the parameters of every level above its target, the nearest first', async () => {
    const inner = { ...target, override_params: { temperature: 0.3, user: 'leaf' }, drop_params: ['seed'] };
    const config = {
      strategy: { mode: 'fallback' }, override_params: { temperature: 0.1, top_p: 0.1, max_tokens: 1 }, default_params: { n: 1, presence_penalty: 0.5 }, drop_params: ['stop'],
      targets: [{
        strategy: { mode: 'loadbalance' }, override_params: { top_p: 0.2, user: 'middle' }, default_params: { presence_penalty: 1 },
        targets: [{ strategy: { mode: 'single' }, targets: [inner] }],
      }],
    };
    const sent = JSON.parse(await sentBody(config, odd));
    assert.deepEqual(
      { temperature: sent.temperature, top_p: sent.top_p, max_tokens: sent.max_tokens, user: sent.user, n: sent.n, presence_penalty: sent.presence_penalty },
      { temperature: 0.3, top_p: 0.2, max_tokens: 1, user: 'leaf', n: 1, presence_penalty: 1 },
    );
    assert.ok(!('seed' in sent) && !('stop' in sent));
  });

  it('does not inherit a key: a parent\'s secret reaches no target that has its own', async () => {
    const response = await call(withConfig({ strategy: { mode: 'single' }, api_key: 'sk-parent', provider: 'groq', targets: [target] }));
    assert.equal(response.status, 200, await response.text());
    assert.equal(upstream.received.at(-1)?.headers.authorization, 'Bearer sk-target');
    assert.equal(response.headers.get('x-gateway-provider'), 'openai');
  });

  it('is the same for each target apart from the target\'s own changes', async () => {
    const before = upstream.received.length;
    upstream.answer = (_, response) => { response.writeHead(500).end(); };
    const response = await call(withConfig(fallback({ ...target, override_params: { user: 'first' } }, { ...target, drop_params: ['seed'] }, target)), odd);
    await response.text();
    const bodies = upstream.received.slice(before).map((received) => received.body.toString('utf8'));
    assert.equal(bodies.length, 3);
    assert.equal(bodies[0], odd.replace('"user":"u"', '"user":"first"'));
    assert.ok(!bodies[1]?.includes('seed') && bodies[1]?.includes('"user":"u"'));
    assert.equal(bodies[2], odd);
  });
});
