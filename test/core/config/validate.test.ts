import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGatewayError, type GatewayError } from '../../../core/errors/gateway-error.js';
import { depthMax, parseConfig, validateConfig } from '../../../core/config/validate.js';

const options = { isKeyless: (provider: string) => provider === 'mock' };
const leaf = { provider: 'openai', api_key: 'sk-test' };
const fallback = (targets: unknown): unknown => ({ strategy: { mode: 'fallback' }, targets });

function refusal(value: unknown): GatewayError {
  try {
    validateConfig(value, options);
  } catch (thrown) {
    assert.ok(isGatewayError(thrown), String(thrown));
    return thrown;
  }
  assert.fail(`accepted: ${JSON.stringify(value)}`);
}

/** Asserts the place and that the reason matches. */
function refuses(value: unknown, path: string, reason: RegExp | string): void {
  const error = refusal(value);
  assert.equal(error.code, 'CONFIG_INVALID');
  assert.equal(error.status, 400);
  assert.equal(error.param, path, error.message);
  const [before, after] = [error.message.slice(0, path.length + 2), error.message.slice(path.length + 2)];
  assert.equal(before, `${path}: `);
  if (typeof reason === 'string') assert.equal(after, reason);
  else assert.match(after, reason);
}

const accepts = (value: unknown): void => {
  assert.equal(validateConfig(value, options), value);
};

test('every accepted property set is enough by itself', () => {
  for (const config of [
    leaf,
    { provider: 'openai', custom_host: 'http://127.0.0.1:1/v1' },
    { virtual_key: 'vk' },
    fallback([leaf]),
    { cache: { mode: 'simple' } },
    { retry: { attempts: 0 } },
    { prompt_id: 'p' },
    { forward_headers: ['x-a'] },
    { request_timeout: 1 },
    { provider: 'p', cloud1_access_key_id: 'a', cloud1_secret_access_key: 'b' },
    { provider: 'p', cloud2_region: 'r', cloud2_service_account_json: { type: 'service_account' } },
    { provider: 'p', cloud2_region: 'r', cloud2_project_id: 'x' },
    { provider: 'p', cloud3_deployment_name: 'd', cloud3_deployment_type: 'serverless', cloud3_region: 'r', cloud3_api_version: 'v' },
    { provider: 'p', cloud3_endpoint_name: 'e', cloud3_deployment_type: 'managed' },
    { before_request_hooks: [] },
    { after_request_hooks: [{ id: 'h' }] },
    { input_guardrails: ['g'] },
    { output_guardrails: [] },
    { passthrough: true },
    { provider: '@openai-prod' },
    { provider: 'mock' },
  ]) accepts(config);
});

test('a config of every field at once is accepted unchanged', () => {
  accepts({
    strategy: { mode: 'conditional', conditions: [{ query: { 'metadata.plan': { $eq: 'pro' } }, then: 'a' }], default: 'b', on_status_codes: [500], sticky: { enabled: true, hash_fields: ['metadata.user'], ttl: 60 } },
    name: 'root', strict_reference_compliance: false, provider: 'openai', api_key: 'sk', virtual_key: 'vk', prompt_id: 'p',
    override_params: { model: 'm', logit_bias: { 1: -100 }, deep: [{ a: null }] }, default_params: { temperature: 0 }, drop_params: ['user', 'tools[*].function.strict', 'messages[0].name'],
    request_timeout: 1000, cache: { mode: 'semantic', max_age: 60 }, retry: { attempts: 20, use_retry_after_headers: true, on_status_codes: [] },
    cb_config: { failure_threshold: 1, cooldown_interval: 30000, failure_status_codes: [500] }, weight: 0.5, on_status_codes: [429], custom_host: '', forward_headers: ['X-Trace'],
    resource_name: 'r', deployment_id: 'd', api_version: 'v', deployments: [{ deployment_id: 'd', alias: 'a', api_version: 'v', is_default: true }],
    before_request_hooks: [{ id: 'b', type: 'guardrail', on_fail: { feedback: { value: -1, weight: 1, metadata: { a: 1 } }, deny: true }, on_success: {}, checks: [{ id: 'default.x', parameters: { any: ['thing'] } }] }],
    after_request_hooks: [{ id: 'a', async: true, on_success: { feedback: {} }, checks: [] }],
    input_guardrails: ['stored', { id: 'i', deny: true, async: false, on_fail: { feedback: {} }, 'default.regexMatch': { rule: 'x' } }],
    output_guardrails: [{ on_fail: { deny: true, feedback: { value: 1 } } }],
    vendor_organization: 'o', vendor_project: 'p',
    cloud1_access_key_id: 'a', cloud1_secret_access_key: 'b', cloud1_region: 'c', cloud1_session_token: 'd',
    cloud2_project_id: 'p', cloud2_region: 'r', cloud2_service_account_json: { private_key: '-----\n' },
    cloud3_region: 'r', cloud3_deployment_name: 'n', cloud3_deployment_type: 'managed', cloud3_endpoint_name: 'e', cloud3_api_version: 'v', cloud3_entra_scope: 's',
    targets: [{ ...leaf, name: 'a' }, { ...leaf, name: 'b' }, { strategy: { mode: 'loadbalance' }, targets: [{ ...leaf, weight: 0 }] }],
  });
});

test('a config without any property set says what would do', () => {
  refuses({}, 'config', /at least one of: provider with api_key/);
  refuses({ name: 'x', weight: 1, override_params: { model: 'm' } }, 'config', /at least one of/);
  refuses({ passthrough: false }, 'config', /passthrough: true/);
  refuses({ api_key: 'sk' }, 'config', /at least one of/);
});

test('a provider alone needs a key unless it is of the catalogue or takes none', () => {
  refuses({ provider: 'openai' }, 'config', /^provider needs api_key beside it/);
  refuses({ provider: 'openai', custom_host: '' }, 'config', /^provider needs api_key/);
  refuses({ provider: 'p', cloud1_access_key_id: 'a' }, 'config', 'provider with cloud1_access_key_id also needs cloud1_secret_access_key');
  refuses({ provider: 'p', cloud2_region: 'a' }, 'config', 'provider with cloud2_region also needs cloud2_service_account_json');
  refuses({ provider: 'p', cloud3_deployment_name: 'a', cloud3_region: 'r' }, 'config', 'provider with cloud3_deployment_name and cloud3_region also needs cloud3_deployment_type and cloud3_api_version');
});

test('a provider of a third party brings parameters of its own, where it takes the calls', () => {
  accepts({ provider: 'acme.chat', api_key: 'k', acme_region: 'eu' });
  accepts(fallback([leaf, { provider: 'acme.chat', acme_pin: 'p' }]));
  refuses({ provider: 'acme.chat' }, 'config', /^provider needs api_key beside it/);
  refuses({ provider: 'acme.chat', acme_region: 'eu', retry: { attempts: '3' } }, 'config.retry.attempts', 'must be an integer');
  for (const provider of ['acme', '@acme.chat', '.chat']) refuses({ provider, api_key: 'k', acme_region: 'eu' }, 'config.acme_region', 'unknown property');
  refuses({ provider: 'acme.chat', acme_region: 'eu', strategy: { mode: 'fallback' }, targets: [leaf] }, 'config.acme_region', 'unknown property');
});

test('targets follow the same rules at every level', () => {
  refuses(fallback([leaf, { provider: 'openai' }]), 'config.targets[1]', /needs api_key/);
  refuses(fallback([leaf, fallback([leaf, {}])]), 'config.targets[1].targets[1]', /at least one of/);
  refuses(fallback([leaf, { ...leaf, retry: { attempts: '3' } }]), 'config.targets[1].retry.attempts', 'must be an integer');
  refuses(fallback([leaf, 7]), 'config.targets[1]', 'must be an object');
  refuses(fallback([fallback([{ ...leaf, api_keys: 'x' }])]), 'config.targets[0].targets[0].api_keys', 'unknown property; did you mean api_key?');
});

test('strategy and targets go together', () => {
  refuses({ ...leaf, strategy: { mode: 'single' } }, 'config.targets', 'is required beside strategy');
  refuses({ ...leaf, targets: [leaf] }, 'config.strategy', 'is required beside targets');
  refuses(fallback([]), 'config.targets', 'must have at least 1 item');
  refuses(fallback({}), 'config.targets', 'must be a list');
  refuses({ strategy: {}, targets: [leaf] }, 'config.strategy.mode', 'is required');
  refuses({ strategy: { mode: '' }, targets: [leaf] }, 'config.strategy.mode', 'must not be empty');
  refuses({ strategy: 'fallback', targets: [leaf] }, 'config.strategy', 'must be an object');
});

test('an unknown property is refused with the place and a guess', () => {
  refuses({ ...leaf, retrys: {} }, 'config.retrys', 'unknown property; did you mean retry?');
  refuses({ ...leaf, requestTimeout: 5 }, 'config.requestTimeout', 'unknown property; did you mean request_timeout?');
  refuses({ ...leaf, ovverride_parmas: {} }, 'config.ovverride_parmas', /did you mean override_params/);
  refuses({ ...leaf, model: 'm' }, 'config.model', 'unknown property');
  refuses({ ...leaf, 'a b': 1 }, 'config["a b"]', 'unknown property "a b"');
  refuses({ ...leaf, retry: { attempts: 1, use_retry_after_header: true } }, 'config.retry.use_retry_after_header', 'unknown property; did you mean use_retry_after_headers?');
  refuses({ ...leaf, deployments: [{ deployment_id: 'd', alias: 'a', api_version: 'v', extra: 1 }] }, 'config.deployments[0].extra', /unknown property/);
  const long = 'k'.repeat(5000);
  assert.ok(refusal({ ...leaf, [long]: 1 }).message.length < 400);
});

test('names that could reach a prototype are refused anywhere', () => {
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    const text = `{"provider":"openai","api_key":"k","override_params":{"a":[{"${name}":{}}]}}`;
    assert.throws(() => parseConfig(text, options), { code: 'CONFIG_INVALID', param: `config.override_params.a[0].${name}` });
    assert.throws(() => parseConfig(`{"${name}":1}`, options), { code: 'CONFIG_INVALID', param: `config.${name}` });
  }
});

test('the old form with options gets its own sentence', () => {
  refuses({ mode: 'fallback', options: [leaf] }, 'config.options', /use strategy and targets/);
  refuses(fallback([{ options: [] }]), 'config.targets[0].options', /unknown property/);
});

test('limits of the specification hold', () => {
  const cases: readonly (readonly [object, string, string])[] = [
    [{ cb_config: { failure_threshold: 0, cooldown_interval: 30000 } }, 'cb_config.failure_threshold', 'must be at least 1'],
    [{ cb_config: { failure_threshold: 1, cooldown_interval: 29999 } }, 'cb_config.cooldown_interval', 'must be at least 30000'],
    [{ cb_config: { failure_threshold: 1 } }, 'cb_config.cooldown_interval', 'is required'],
    [{ cb_config: { cooldown_interval: 30000 } }, 'cb_config.failure_threshold', 'is required'],
    [{ cb_config: { failure_threshold: 1, cooldown_interval: 30000, failure_status_codes: [99] } }, 'cb_config.failure_status_codes[0]', 'must be at least 100'],
    [{ weight: -0.1 }, 'weight', 'must be at least 0'],
    [{ weight: '1' }, 'weight', 'must be a number'],
    [{ request_timeout: 0 }, 'request_timeout', 'must be at least 1'],
    [{ request_timeout: 1.5 }, 'request_timeout', 'must be an integer'],
    [{ retry: {} }, 'retry.attempts', 'is required'],
    [{ retry: { attempts: -1 } }, 'retry.attempts', 'must be at least 0'],
    [{ retry: { attempts: 21 } }, 'retry.attempts', 'must be at most 20'],
    [{ retry: { attempts: 1.5 } }, 'retry.attempts', 'must be an integer'],
    [{ retry: { attempts: 1, on_status_codes: [429, 600] } }, 'retry.on_status_codes[1]', 'must be at most 599'],
    [{ retry: { attempts: 1, on_status_codes: ['429'] } }, 'retry.on_status_codes[0]', 'must be an integer'],
    [{ retry: { attempts: 1, use_retry_after_headers: 1 } }, 'retry.use_retry_after_headers', 'must be true or false'],
    [{ on_status_codes: [429.5] }, 'on_status_codes[0]', 'must be an integer'],
    [{ cache: { mode: 7 } }, 'cache.mode', 'must be a string'],
    [{ cache: {} }, 'cache.mode', 'is required'],
    [{ cache: { mode: 'simple', max_age: -1 } }, 'cache.max_age', 'must be at least 0'],
    [{ cloud3_deployment_type: 'other' }, 'cloud3_deployment_type', 'must be one of serverless, managed'],
    [{ cloud2_service_account_json: '{}' }, 'cloud2_service_account_json', 'must be an object'],
    [{ override_params: [] }, 'override_params', 'must be an object'],
    [{ default_params: null }, 'default_params', 'must be an object'],
    [{ drop_params: 'user' }, 'drop_params', 'must be a list'],
    [{ deployments: [{ alias: 'a', api_version: 'v' }] }, 'deployments[0].deployment_id', 'is required'],
    [{ before_request_hooks: [{}] }, 'before_request_hooks[0].id', 'is required'],
    [{ before_request_hooks: [{ id: 'x', checks: [{ id: 'c' }] }] }, 'before_request_hooks[0].checks[0].parameters', 'is required'],
    [{ after_request_hooks: [{ id: 'x', on_fail: { feedback: { value: 'good' } } }] }, 'after_request_hooks[0].on_fail.feedback.value', 'must be a number'],
    [{ input_guardrails: [3] }, 'input_guardrails[0]', 'must be a string or an object'],
    [{ output_guardrails: [''] }, 'output_guardrails[0]', 'must not be empty'],
    [{ passthrough: 'yes' }, 'passthrough', 'must be true or false'],
    [{ name: 3 }, 'name', 'must be a string'],
  ];
  for (const [extra, place, reason] of cases) refuses({ ...leaf, ...extra }, `config.${place}`, reason);
});

test('a guardrail member that is not a known one must be a check with an object of parameters', () => {
  refuses({ ...leaf, input_guardrails: [{ 'default.regexMatch': 'x' }] }, 'config.input_guardrails[0]["default.regexMatch"]', /is taken for a check/);
});

test('numbers that overflow are not numbers', () => {
  assert.throws(() => parseConfig('{"provider":"openai","api_key":"k","weight":1e999}', options), { param: 'config.weight', message: 'config.weight: must be a number' });
});

test('a strategy has the members of the specification, and any others only with a dotted mode', () => {
  const withStrategy = (strategy: unknown): unknown => ({ strategy, targets: [leaf] });
  accepts(withStrategy({ mode: 'whatever' }));
  accepts(withStrategy({ mode: 'acme.latency', window: 5, deep: { any: [1] } }));
  refuses(withStrategy({ mode: 'loadbalance', window: 5 }), 'config.strategy.window', /unknown property; known here: mode/);
  refuses(withStrategy({ mode: 'loadbalance', stiky: {} }), 'config.strategy.stiky', 'unknown property; did you mean sticky?');
  refuses(withStrategy({ mode: 'acme.latency', on_status_codes: 5 }), 'config.strategy.on_status_codes', 'must be a list');
  refuses(withStrategy({ mode: 'fallback', on_status_codes: [1000] }), 'config.strategy.on_status_codes[0]', 'must be at most 599');
  refuses(withStrategy({ mode: 5 }), 'config.strategy.mode', 'must be a string');
  refuses(withStrategy({ mode: 'conditional', conditions: [{ query: {} }] }), 'config.strategy.conditions[0].then', 'is required');
  refuses(withStrategy({ mode: 'conditional', conditions: [{ query: [], then: 'a' }] }), 'config.strategy.conditions[0].query', 'must be an object');
  refuses(withStrategy({ mode: 'conditional', conditions: [{ query: {}, then: 'a', else: 'b' }] }), 'config.strategy.conditions[0].else', /unknown property/);
  refuses(withStrategy({ mode: 'loadbalance', sticky: { ttl: 0 } }), 'config.strategy.sticky.ttl', 'must be at least 1');
  refuses(withStrategy({ mode: 'loadbalance', sticky: { hash_fields: [1] } }), 'config.strategy.sticky.hash_fields[0]', 'must be a string');
  refuses(withStrategy({ mode: 'loadbalance', sticky: { enable: true } }), 'config.strategy.sticky.enable', /did you mean enabled/);
});

test('passthrough excludes what would be decided without it', () => {
  refuses({ passthrough: true, override_params: {} }, 'config.override_params', /cannot stand beside passthrough/);
  refuses({ passthrough: true, input_guardrails: [] }, 'config.input_guardrails', /cannot stand beside passthrough/);
  refuses({ passthrough: true, output_guardrails: ['x'] }, 'config.output_guardrails', /cannot stand beside passthrough/);
  refuses({ passthrough: true, strategy: { mode: 'single' }, targets: [leaf] }, 'config.targets', /cannot stand beside passthrough/);
  accepts({ passthrough: true, retry: { attempts: 1 }, name: 'a' });
  accepts({ ...leaf, passthrough: false, override_params: {} });
});

test('the number of targets is capped by where they stand', () => {
  const many = (count: number): unknown[] => Array.from({ length: count }, () => ({ virtual_key: 'v' }));
  const conditional = { mode: 'x', conditions: [] };
  accepts(fallback(many(100)));
  refuses(fallback(many(101)), 'config.targets', 'must have at most 100 items here');
  accepts({ strategy: conditional, targets: many(1000) });
  refuses({ strategy: conditional, targets: many(1001) }, 'config.targets', 'must have at most 1000 items here');
  accepts(fallback([fallback(many(50))]));
  refuses(fallback([fallback(many(51))]), 'config.targets[0].targets', 'must have at most 50 items here');
  refuses(fallback([{ strategy: conditional, targets: many(51) }]), 'config.targets[0].targets', 'must have at most 50 items here');
});

test('targets may be nested eight deep', () => {
  const nested = (levels: number): unknown => (levels === 0 ? leaf : fallback([nested(levels - 1)]));
  accepts(nested(8));
  refuses(nested(9), `config${'.targets[0]'.repeat(8)}.targets`, /at most 8 deep/);
});

test('text that becomes part of headers and addresses has no control characters', () => {
  refuses({ ...leaf, api_key: 'a\r\nx-evil: 1' }, 'config.api_key', /must be text that fits in a header/);
  refuses({ ...leaf, api_key: '' }, 'config.api_key', /not empty/);
  refuses({ ...leaf, api_key: 'ключ' }, 'config.api_key', /fits in a header/);
  refuses({ ...leaf, api_key: 5 }, 'config.api_key', 'must be a string');
  refuses({ ...leaf, cloud1_region: 'a\nb' }, 'config.cloud1_region', /control characters/);
  refuses({ ...leaf, provider: '' }, 'config.provider', /not empty/);
  refuses({ ...leaf, forward_headers: ['x-a', 'x b'] }, 'config.forward_headers[1]', 'must be the name of a header');
  accepts({ ...leaf, forward_headers: [' X-Request-Id '], vendor_organization: 'Ünïcode'.normalize('NFC') });
});

test('paths of dropped parameters are checked', () => {
  for (const path of ['user', 'a.b.c', 'tools[*].function.strict', 'a[0][1].b', 'with-dash.$x']) accepts({ ...leaf, drop_params: [path] });
  for (const path of ['', '.a', 'a.', 'a..b', '[0]', 'a[', 'a[x]', 'a[-1]', 'a]b', 'a[0]b']) {
    refuses({ ...leaf, drop_params: [path] }, 'config.drop_params[0]', /must be a dotted path/);
  }
});

test('what is not an object is not a config', () => {
  for (const value of [null, undefined, 1, 'text', true, [], [leaf], () => leaf]) refuses(value, 'config', 'must be a JSON object');
});

test('text that is not JSON is refused with the position and without a quote from it', () => {
  const secret = 'sk-very-secret';
  for (const text of [`{"provider":"openai","api_key":"${secret}`, `{"provider":"openai","api_key":${secret}}`, `{"api_key":"${secret}" "b"}`, `${secret}`]) {
    assert.throws(() => parseConfig(text, options), (thrown: unknown) => {
      assert.ok(isGatewayError(thrown));
      assert.equal(thrown.code, 'CONFIG_NOT_JSON');
      assert.match(thrown.message, /line \d+, column \d+/);
      assert.equal(thrown.cause, undefined);
      assert.ok(!thrown.message.includes('sk-'), thrown.message);
      return true;
    });
  }
});

test('values of a config are never quoted in an error', () => {
  const secret = 'sk-very-secret';
  for (const config of [
    { provider: 'openai', api_key: [secret] }, { provider: 'openai', api_key: `${secret}\n` }, { api_key: secret }, { api_key: secret, bogus: secret },
    { provider: 'openai', api_key: secret, cache: { mode: 'simple', max_age: secret } }, { ...leaf, cloud3_deployment_type: secret },
  ]) {
    const error = refusal(config);
    assert.ok(!`${error.message}${error.stack ?? ''}${String(error.param)}${String(error.cause)}`.includes(secret), error.message);
  }
});

test('deep or huge JSON is refused without exhausting the stack', () => {
  const kilobytes64 = 64 * 1024;
  assert.throws(() => parseConfig('['.repeat(kilobytes64), options), { code: 'CONFIG_NOT_JSON' });
  assert.throws(() => parseConfig('['.repeat(kilobytes64 / 2) + ']'.repeat(kilobytes64 / 2), options), { code: 'CONFIG_INVALID' });
  const deepParams = `{"virtual_key":"v","override_params":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`;
  assert.throws(() => parseConfig(deepParams, options), { code: 'CONFIG_INVALID', message: `config.override_params.a[0]: is nested more than ${depthMax} deep` });
  const deepTargets = '{"strategy":{"mode":"x"},"targets":['.repeat(1500) + ']}'.repeat(1500);
  assert.throws(() => parseConfig(deepTargets, options), { code: 'CONFIG_INVALID' });
  assert.throws(() => parseConfig(`"${'\\"'.repeat(kilobytes64)}`, options), { code: 'CONFIG_NOT_JSON' });
  const cyclic: Record<string, unknown> = { virtual_key: 'v' };
  cyclic.override_params = cyclic;
  refuses(cyclic, 'config.override_params.override_params.override_params', /is nested more than/);
});

test('parameters may be as deep as a real schema needs', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
  accepts({ ...leaf, override_params: { response_format: deep(100) } });
});

test('a repeated property counts as its last value', () => {
  assert.deepEqual(parseConfig('{"virtual_key":"a","virtual_key":"b"}', options), { virtual_key: 'b' });
});

test('an unknown member is named before the one that is missing because of it', () => {
  for (const [member, path, reason] of [
    [{ retry: { attempt: 2 } }, 'retry.attempt', 'unknown property; did you mean attempts?'],
    [{ retry: { tries: 2 } }, 'retry.tries', 'unknown property; known here: attempts, use_retry_after_headers, on_status_codes'],
    [{ cb_config: { failure_treshold: 1, cooldown_interval: 30_000 } }, 'cb_config.failure_treshold', 'unknown property; did you mean failure_threshold?'],
    [{ deployments: [{ deploymentId: 'd', alias: 'a', api_version: 'v' }] }, 'deployments[0].deploymentId', 'unknown property; did you mean deployment_id?'],
    [{ before_request_hooks: [{ id: 'x', checks: [{ id: 'c', params: {} }] }] }, 'before_request_hooks[0].checks[0].params', /^unknown property/],
  ] as const) refuses({ ...leaf, ...member }, `config.${path}`, reason);
  refuses({ strategy: { mod: 'single' }, targets: [leaf] }, 'config.strategy.mod', 'unknown property; did you mean mode?');
});

test('a reference to the environment is refused, for nothing reads it in a config', () => {
  const advice = 'env:NAME is not read in a config, which may be anybody\'s; give the value itself, or for api_key send it as Authorization';
  for (const name of ['api_key', 'virtual_key', 'cloud1_secret_access_key', 'cloud3_ad_token', 'resource_name', 'custom_host']) {
    refuses({ provider: 'openai', custom_host: 'https://x.example', [name]: 'env:SOME_NAME' }, `config.${name}`, advice);
  }
  refuses(fallback([leaf, { provider: 'openai', api_key: 'env:OPENAI_API_KEY' }]), 'config.targets[1].api_key', advice);
  accepts({ provider: 'openai', api_key: 'env:' });
  accepts({ provider: 'openai', api_key: 'sk-env:NAME' });
});
