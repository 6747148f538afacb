import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import type { BodyEdit } from '../../../core/body/splice.js';
import type { Config } from '../../../core/config/config.js';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { compilePlan, type CompileContext } from '../../../core/plan/compile.js';
import { endpointParams } from '../../../core/plan/endpoint-params.js';
import type { Group, TargetPlan, Plan, PlanNode } from '../../../core/plan/plan.js';
import { temporaryFolder, writePackage } from '../registry/plugin-package.js';
import { planServices } from './plan-services.js';

const folder = writePackage(temporaryFolder(), {
  gateway: { namespace: 'acme', contract: { provider: 1, strategy: 1 }, plugins: { provider: ['regional', 'inside', 'keyed', 'seated'], strategy: ['reading', 'plain', 'failing'] } },
  files: {
    'provider/regional.js': `import { defineCompatible } from '@gateway/plugin-sdk';
export default defineCompatible({ title: 'R', describe: 'R.', baseUrl: 'https://{cloud1_region}.models.example/v1', endpoints: { chatCompletions: true },
  params: { type: 'object', properties: { api_key: { type: 'string' }, cloud1_region: { type: 'string' } } } });`,
    'provider/seated.js': `import { defineCompatible } from '@gateway/plugin-sdk';
export default defineCompatible({ title: 'S', describe: 'S.', baseUrl: 'https://{region}.seats.example/v1', endpoints: { chatCompletions: true },
  params: { type: 'object', required: ['account'], properties: { region: { type: 'string', default: 'eu-1' }, account: { type: 'string' }, pin: { type: 'string', secret: true }, weight: { type: 'integer' },
    rooms: { type: 'array', items: { type: 'object', properties: { size: { type: 'integer', default: 4 } } } } } } });`,
    'provider/inside.js': `export default { kind: 'provider', contract: 1, title: 'I', describe: 'I.', baseUrl: '', auth: { type: 'none' }, params: { type: 'object', properties: {} }, endpoints: {}, transport: () => ({ send() {} }) };`,
    'provider/keyed.js': `import { defineProvider } from '@gateway/plugin-sdk';
export default defineProvider({ title: 'K', describe: 'K.', baseUrl: 'https://keyed.example', auth: { type: 'bearer' }, headers: { 'X-Version': '7' }, params: { type: 'object', properties: { api_key: { type: 'string' } } },
  endpoints: { chatCompletions: { path: '/c', params: { a: { min: 1, max: 2 }, b: { refuse: 'no' }, c: { default: [1] }, d: { rename: 'e' }, f: { rename: 'g', default: 1 } } }, embeddings: { path: '/e' } } });`,
    'strategy/reading.js': `import { defineStrategy } from '@gateway/plugin-sdk';
export default defineStrategy({ title: 'S', describe: 'S.', params: { type: 'object', properties: { deep: { type: 'boolean', default: false } } }, needs: { request: 'json' },
  needsFor: ({ deep }) => ({ request: deep ? 'json' : 'head' }), create: () => ({ next: () => -1 }) });`,
    'strategy/plain.js': `import { defineStrategy } from '@gateway/plugin-sdk';
export default defineStrategy({ title: 'P', describe: 'P.', params: { type: 'object', properties: {} }, create: (params, host, targets) => ({ next: () => targets.length - 1, seen: targets }) });`,
    'strategy/failing.js': `import { defineStrategy } from '@gateway/plugin-sdk';
export default defineStrategy({ title: 'F', describe: 'F.', params: { type: 'object', properties: {} }, create: async () => { throw new Error('no luck'); } });`,
  },
});

const services = planServices([folder]);
const context: CompileContext = { workspaceId: 'w1', provider: undefined, customHost: undefined, digest: 'd1' };
const compile = (config: Config, changes: Partial<CompileContext> = {}): Promise<Plan> => compilePlan(config, { ...context, ...changes }, services);

function leafAt(node: PlanNode, ...path: readonly number[]): TargetPlan {
  let at = node;
  for (const index of path) {
    assert.ok(at.kind === 'group');
    const child: PlanNode | undefined = at.children[index];
    assert.ok(child !== undefined);
    at = child;
  }
  assert.ok(at.kind === 'target');
  return at;
}
const leafOf = async (config: Config, changes: Partial<CompileContext> = {}): Promise<TargetPlan> => leafAt((await compile(config, changes)).root);
const groupOf = (plan: Plan): Group => {
  assert.ok(plan.root.kind === 'group');
  return plan.root;
};

async function faultOf(config: Config, changes: Partial<CompileContext> = {}): Promise<{ code: string; param: string | null; message: string }> {
  const thrown = await compile(config, changes).then(() => assert.fail('it compiled'), (error: unknown) => error);
  assert.ok(isGatewayError(thrown), String(thrown));
  return { code: thrown.code, param: thrown.param, message: thrown.message };
}

const editText = (edits: readonly BodyEdit[]): string[] => edits.map((edit) => {
  switch (edit.kind) {
    case 'rename': return `rename ${edit.from} ${edit.to}`;
    case 'remove': return `remove ${edit.name}`;
    default: return `${edit.kind} ${edit.name} ${Buffer.from(edit.value).toString()}`;
  }
});

const target: Config = { provider: 'openai', api_key: 'k' };

describe('a leaf', () => {
  it('of the plainest config has its provider\'s address and no extras', async () => {
    const plan = await compile({ provider: 'openai', api_key: 'sk-1' });
    const leaf = leafAt(plan.root);
    assert.equal(leaf.path, 'config');
    assert.equal(leaf.provider.id, 'openai');
    assert.equal(leaf.base!.originUrl, 'https://api.openai.com');
    assert.equal(leaf.base!.path, '/v1');
    assert.equal(leaf.base!.origin, services.upstream.origins.get('operator https://api.openai.com'));
    assert.deepEqual([leaf.apiKey?.reveal(), leaf.needsApiKey, leaf.credentials, leaf.stored], ['sk-1', true, {}, null]);
    assert.doesNotMatch(inspect(plan, { depth: 9 }) + JSON.stringify(plan), /sk-1/);
    assert.deepEqual(leaf.headers, ['user-agent', 'gateway/test']);
    assert.deepEqual([leaf.retry.attempts, leaf.requestTimeoutMs, leaf.forwardHeaders, leaf.edits, leaf.dropPaths, leaf.breaker, leaf.breakerSlot, leaf.isStrict], [0, 0, [], [], [], null, -1, true]);
    assert.deepEqual([plan.targetCount, plan.canRepeat, plan.needsBytes, plan.open, plan.isRetired, plan.instances], [1, false, false, 0, false, []]);
    assert.ok(Object.isFrozen(leaf));
  });

  it('takes the provider of the header when it has none of its own', async () => {
    assert.equal((await leafOf({ api_key: 'k' }, { provider: 'groq' })).provider.id, 'groq');
    assert.equal((await leafOf(target, { provider: 'groq' })).provider.id, 'openai');
  });

  it('without any provider leads nowhere until the model of the body names one, and tells the place', async () => {
    assert.deepEqual((await compile({ api_key: 'k' })).awaitsModel, { param: 'config' });
    assert.deepEqual((await compile({ strategy: { mode: 'fallback' }, targets: [target, { api_key: 'k' }] })).awaitsModel, { param: 'config.targets[1]' });
    assert.equal((await compile(target)).awaitsModel, null);
  });

  it('shares one loaded provider with every other plan', async () => {
    assert.equal((await leafOf(target)).provider, (await leafOf({ ...target, api_key: 'other' })).provider);
  });

  it('has headers with credentials filled in, and leaves out those that lack one', async () => {
    assert.deepEqual((await leafOf({ ...target, vendor_organization: 'org-1' })).headers, ['user-agent', 'gateway/test', 'openai-organization', 'org-1']);
    assert.deepEqual((await leafOf({ ...target, vendor_organization: 'o', vendor_project: 'p' })).headers, ['user-agent', 'gateway/test', 'openai-organization', 'o', 'openai-project', 'p']);
    assert.deepEqual((await leafOf({ provider: 'acme.keyed', api_key: 'k' })).headers, ['user-agent', 'gateway/test', 'x-version', '7']);
    const leaf = await leafOf({ ...target, vendor_organization: 'org-1', resource_name: 'of another provider' });
    assert.deepEqual(leaf.credentials, { vendor_organization: 'org-1' });
  });

  it('spells out the parameter rules of its endpoints', async () => {
    const leaf = await leafOf({ provider: 'acme.keyed', api_key: 'k' });
    const spec = leaf.provider.endpoints.get('chatCompletions');
    assert.ok(typeof spec === 'object');
    const params = endpointParams(spec);
    assert.equal(endpointParams(spec), params, 'compiled once');
    const edits = params?.rules.flatMap(({ insert, rename }) => [insert, rename].filter((edit) => edit !== null)) ?? [];
    assert.deepEqual(params?.rules.map(({ name }) => name), ['a', 'b', 'c', 'd', 'f']);
    assert.deepEqual(editText(edits), ['default c [1]', 'rename d e', 'default f 1', 'rename f g']);
    assert.deepEqual([...leaf.provider.endpoints.keys()], ['chatCompletions', 'embeddings']);
  });
});

describe('the address of a leaf', () => {
  it('that a request names is reached with the trust of a request and needs no key', async () => {
    const leaf = await leafOf({ provider: 'openai', custom_host: 'http://10.1.2.3:8080/some/v1/' });
    assert.deepEqual([leaf.base!.originUrl, leaf.base!.path, leaf.needsApiKey], ['http://10.1.2.3:8080', '/some/v1', false]);
    assert.equal(leaf.base!.origin, services.upstream.origins.get('request http://10.1.2.3:8080'));
  });

  it('is the header\'s before the config\'s, for every target', async () => {
    const plan = await compile({ strategy: { mode: 'fallback' }, targets: [{ ...target, custom_host: 'http://one.example' }, target] }, { customHost: 'http://header.example/x' });
    for (const index of [0, 1]) assert.deepEqual([leafAt(plan.root, index).base!.originUrl, leafAt(plan.root, index).base!.path], ['http://header.example', '/x']);
    assert.equal((await leafOf({ ...target, custom_host: 'http://one.example' }, { customHost: '' })).base!.originUrl, 'http://one.example');
  });

  it('without a path has an empty base path', async () => {
    assert.equal((await leafOf({ ...target, custom_host: 'http://one.example/' })).base!.path, '');
    assert.equal((await leafOf({ ...target, custom_host: 'http://one.example' })).base!.path, '');
  });

  it('must be given for a provider without one', async () => {
    assert.deepEqual(await faultOf({ provider: 'milvus' }).then(({ code, param }) => [code, param]), ['CUSTOM_HOST_MISSING', 'custom_host']);
    assert.equal((await leafOf({ provider: 'milvus', custom_host: 'http://h.example' })).base!.originUrl, 'http://h.example');
  });

  it('that is malformed is refused', async () => {
    for (const host of ['ftp://x', 'not a url', 'http://u:p@x', 'http://x?y', '//x']) assert.equal((await faultOf({ ...target, custom_host: host })).code, 'CUSTOM_HOST_INVALID', host);
  });

  it('that a credential completes has the trust of a request, and the credential cannot leave its label', async () => {
    const leaf = await leafOf({ provider: 'acme.regional', api_key: 'k', cloud1_region: 'eu-1' });
    assert.equal(leaf.base!.originUrl, 'https://eu-1.models.example');
    assert.equal(leaf.base!.origin, services.upstream.origins.get('request https://eu-1.models.example'));
    for (const region of ['evil.example/', 'x@evil', 'x#', 'x?', 'a b', '', 'x\\']) assert.equal((await faultOf({ provider: 'acme.regional', cloud1_region: region })).code, 'CREDENTIAL_MISSING', region);
    const open = await leafOf({ provider: 'acme.regional' });
    assert.equal(open.base, null, 'a header of the request may bring it');
    assert.throws(() => open.baseOf(null, {}), { message: 'provider acme.regional needs cloud1_region; give it in the config target' });
    assert.equal(open.baseOf(null, { cloud1_region: 'eu-2' }).originUrl, 'https://eu-2.models.example');
    assert.equal(open.baseOf('https://{cloud1_region}.other.example/v2', { cloud1_region: 'eu-2' }).path, '/v2');
  });

  it('of a third party has parameters of its own, with their defaults, which its own schema checks', async () => {
    const config = (more: object): Config => ({ provider: 'acme.seated', api_key: 'k', ...more });
    const plain = await leafOf(config({ account: 'a', rooms: [{}] }));
    assert.deepEqual([plain.credentials, plain.base?.originUrl, [...plain.defaulted]], [{ region: 'eu-1', account: 'a', rooms: [{ size: 4 }] }, 'https://eu-1.seats.example', ['region']]);
    const given = await leafOf(config({ account: 'a', region: 'eu-1', weight: 2 }));
    assert.deepEqual([given.credentials, given.defaulted.size], [{ region: 'eu-1', account: 'a' }, 0], 'a weight is the strategy\'s');
    for (const [more, param, message] of [
      [{ acount: 'a' }, 'config.acount', 'config.acount: unknown property; did you mean account?'],
      [{ vertex_key: 'a' }, 'config.vertex_key', 'config.vertex_key: unknown property; of its own acme.seated has region, account, pin, weight, rooms'],
      [{ account: 5 }, 'config.account', 'config.account: must be string'],
      [{ rooms: [{ size: 'big' }] }, 'config.rooms[0].size', 'config.rooms[0].size: must be integer'],
    ] as const) assert.deepEqual(await faultOf(config(more)), { code: 'CONFIG_INVALID', param, message });
  });

  it('of a provider with its own transport is nowhere', async () => {
    const leaf = await leafOf({ provider: 'acme.inside' });
    assert.notEqual(leaf.provider.transport, null);
    assert.equal(leaf.base!.originUrl, 'http://in-process.invalid');
  });
});

describe('what targets inherit', () => {
  it('is everything but provider, keys and names, each taken over or replaced', async () => {
    const plan = await compile({
      strategy: { mode: 'fallback' }, api_key: 'parents', custom_host: 'http://parent.example/v1', request_timeout: 5000, retry: { attempts: 2, on_status_codes: [500] },
      override_params: { a: 1, b: 1 }, drop_params: ['x'], forward_headers: ['X-One', ' x-two '], strict_reference_compliance: false, cb_config: { failure_threshold: 3, cooldown_interval: 30_000 },
      targets: [
        { provider: 'openai' },
        { provider: 'groq', custom_host: 'http://own.example', request_timeout: 100, retry: { attempts: 0 }, override_params: { b: 2 }, default_params: { c: 'x' }, drop_params: ['y'], forward_headers: [], strict_reference_compliance: true },
      ],
    });
    const [first, second] = [leafAt(plan.root, 0), leafAt(plan.root, 1)];
    assert.deepEqual([first.path, second.path], ['config.targets[0]', 'config.targets[1]']);
    assert.deepEqual([first.apiKey, second.apiKey], [null, null]);
    assert.deepEqual([first.base!.originUrl, second.base!.originUrl], ['http://parent.example', 'http://own.example']);
    assert.deepEqual([first.requestTimeoutMs, second.requestTimeoutMs], [5000, 100]);
    assert.deepEqual([first.retry.attempts, second.retry.attempts], [2, 0]);
    assert.deepEqual([editText(first.edits), editText(second.edits)], [['set a 1', 'set b 1'], ['default c "x"', 'set a 1', 'set b 2']]);
    assert.deepEqual([first.dropPaths.length, second.dropPaths.length], [1, 2]);
    assert.deepEqual([first.forwardHeaders, second.forwardHeaders], [['x-one', 'x-two'], []]);
    assert.deepEqual([first.isStrict, second.isStrict], [false, true]);
    assert.ok(first.breaker !== null && second.breaker !== null && first.breakerSlot !== second.breakerSlot);
    assert.ok(groupOf(plan).hasBreaker);
  });

  it('goes down every level', async () => {
    const plan = await compile({
      strategy: { mode: 'fallback' }, request_timeout: 9000,
      targets: [{ strategy: { mode: 'loadbalance' }, override_params: { n: 1 }, targets: [target, { ...target, weight: 0.5 }] }, target],
    });
    const leaf = leafAt(plan.root, 0, 1);
    assert.deepEqual([leaf.path, leaf.requestTimeoutMs, editText(leaf.edits)], ['config.targets[0].targets[1]', 9000, ['set n 1']]);
    assert.equal(plan.targetCount, 3);
    assert.equal(plan.instances.length, 2);
  });
});

describe('retries', () => {
  const codes = async (retry: NonNullable<Config['retry']>): Promise<[number, number[], boolean]> => {
    const { attempts, onStatusCodes, usesRetryAfter } = (await leafOf({ ...target, retry })).retry;
    return [attempts, [...onStatusCodes], usesRetryAfter];
  };

  it('have the usual statuses unless the config names others, none included', async () => {
    assert.deepEqual(await codes({ attempts: 3 }), [3, [429, 500, 502, 503, 504, 529], false]);
    assert.deepEqual(await codes({ attempts: 1, on_status_codes: [418], use_retry_after_headers: true }), [1, [418], true]);
    assert.deepEqual(await codes({ attempts: 1, on_status_codes: [] }), [1, [], false]);
  });

  it('make the plan keep the body', async () => {
    assert.equal((await compile({ ...target, retry: { attempts: 1 } })).canRepeat, true);
    assert.equal((await compile({ ...target, retry: { attempts: 0 } })).canRepeat, false);
    assert.equal((await compile({ strategy: { mode: 'single' }, targets: [target] })).canRepeat, false);
    assert.equal((await compile({ strategy: { mode: 'fallback' }, targets: [target, target] })).canRepeat, true);
  });
});

describe('circuit breakers', () => {
  const broken: Config = { ...target, cb_config: { failure_threshold: 3, cooldown_interval: 30_000 } };

  it('are the same for the same config of a workspace, and different for any other', async () => {
    const slot = async (changes: Partial<CompileContext> = {}): Promise<number> => (await leafOf(broken, changes)).breakerSlot;
    const one = await slot();
    assert.ok(one >= 0);
    assert.equal(await slot(), one);
    const others = [await slot({ workspaceId: 'w2' }), await slot({ digest: 'd2' }), leafAt((await compile({ strategy: { mode: 'single' }, targets: [broken] })).root, 0).breakerSlot];
    assert.equal(new Set([one, ...others]).size, 4);
  });

  it('have the policy of the config', async () => {
    assert.deepEqual((await leafOf(broken)).breaker, { failureThreshold: 3, cooldownMs: 30_000, failureStatusCodes: null });
    const named = await leafOf({ ...target, cb_config: { failure_threshold: 1, cooldown_interval: 1, failure_status_codes: [429] } });
    assert.deepEqual(named.breaker?.failureStatusCodes, new Set([429]));
  });
});

describe('changes to the body', () => {
  it('are defaults, then overrides, for JSON and as text for forms', async () => {
    const leaf = await leafOf({ ...target, default_params: { temperature: 0.5, user: 'ä' }, override_params: { model: 'm', stop: ['a', 1], none: null } });
    assert.deepEqual(editText(leaf.edits), ['default temperature 0.5', 'default user "ä"', 'set model "m"', 'set stop ["a",1]', 'set none null']);
    assert.deepEqual(leaf.fieldEdits.map(({ kind, name, value }) => `${kind} ${name} ${value}`), ['default temperature 0.5', 'default user ä', 'set model m', 'set stop ["a",1]', 'set none null']);
  });

  it('make the plan collect the body; rules of endpoints alone do not', async () => {
    assert.equal((await compile({ ...target, override_params: { a: 1 } })).needsBytes, true);
    assert.equal((await compile({ ...target, default_params: { a: 1 } })).needsBytes, true);
    assert.equal((await compile({ ...target, drop_params: ['a'] })).needsBytes, true);
    assert.equal((await compile({ ...target, override_params: {}, drop_params: [] })).needsBytes, false);
    assert.equal((await compile({ provider: 'acme.keyed', api_key: 'k' })).needsBytes, false);
  });

  it('with a path that is none are refused with their place', async () => {
    assert.deepEqual(await faultOf({ strategy: { mode: 'single' }, targets: [{ ...target, drop_params: ['a', 'b['] }] }).then(({ code, param }) => [code, param]), ['CONFIG_INVALID', 'config.targets[0].drop_params[1]']);
  });
});

describe('a group', () => {
  it('has its strategy, and its targets as the strategy sees them', async () => {
    const plan = await compile({ strategy: { mode: 'acme.plain' }, targets: [{ ...target, name: 'a', weight: 0 }, target, { strategy: { mode: 'single' }, name: 'inner', targets: [target] }] });
    const group = groupOf(plan);
    assert.deepEqual([group.mode, group.path, group.hasBreaker], ['acme.plain', 'config', false]);
    assert.deepEqual(group.targets, [{ name: 'a', weight: 0, healthy: true }, { name: '', weight: 1, healthy: true }, { name: 'inner', weight: 1, healthy: true }]);
    assert.deepEqual(plan.instances.at(-1), group.strategy);
    assert.equal(group.children[2]?.kind, 'group');
    assert.ok(Object.isFrozen(group) && group.targets.every((each) => Object.isFrozen(each)));
  });

  it('collects the body when its strategy reads it, with these parameters', async () => {
    const mode = 'acme.reading';
    assert.equal((await compile({ strategy: { mode }, targets: [target] })).needsBytes, false);
    const deep: Config['strategy'] & object = { mode, ...{ deep: true } };
    assert.equal((await compile({ strategy: deep, targets: [target] })).needsBytes, true);
  });

  it('takes the members that every mode may carry, and no others', async () => {
    const targets = [{ ...target, name: 'a' }];
    assert.ok(await compile({ strategy: { mode: 'single', conditions: [{ query: {}, then: 'a' }], default: 'a', on_status_codes: [500] }, targets }));
    assert.deepEqual(await faultOf({ strategy: { mode: 'single', ...{ extra: 1 } }, targets }).then(({ code, param }) => [code, param]), ['CONFIG_INVALID', 'config.strategy']);
  });

  it('with a strategy that is not there, or cannot be made, is refused by name', async () => {
    const missing = await faultOf({ strategy: { mode: 'acme.none' }, targets: [target] });
    assert.deepEqual([missing.code, missing.param], ['CONFIG_INVALID', 'config.strategy.mode']);
    assert.match(missing.message, /no strategy acme\.none is installed/);
    assert.deepEqual(await faultOf({ strategy: { mode: 'acme.failing' }, targets: [target] }).then(({ code, message }) => [code, message]), ['PLUGIN_FAILED', 'plugin strategy/acme.failing failed: no luck']);
  });

  it('names the place of a strategy parameter at fault, at any depth', async () => {
    const inner: Config = { strategy: { mode: 'conditional', conditions: [{ query: { 'metadata.a': { $eq: 1 } }, then: 'nobody' }], default: 'a' }, targets: [{ ...target, name: 'a' }] };
    const fault = await faultOf({ strategy: { mode: 'fallback' }, targets: [target, inner] });
    assert.equal(fault.code, 'CONFIG_INVALID');
    assert.match(fault.param ?? '', /^config\.targets\[1\]\.strategy\.conditions\[0\]/);
  });
});

describe('a provider that may do without a key', () => {
  it('is at home where its base URL says, by the key or without, and its address is judged as a request\'s', async () => {
    const local = await leafOf({ provider: 'ollama' });
    assert.deepEqual([local.needsApiKey, local.base?.originUrl, local.base?.path], [false, 'http://127.0.0.1:11434', '']);
    assert.ok(services.upstream.origins.has('request http://127.0.0.1:11434'));
    assert.ok(!services.upstream.origins.has('operator http://127.0.0.1:11434'));
    assert.equal((await leafOf({ provider: 'ollama', api_key: 'k' })).base?.originUrl, 'https://ollama.com');
    assert.equal((await leafOf({ provider: 'ollama', custom_host: 'http://ollama:11434' })).base?.originUrl, 'http://ollama:11434');
  });
});

describe('a config that cannot work', () => {
  it('is refused by what it names', async () => {
    for (const [config, code, message] of [
      [{ provider: 'nobody', api_key: 'k' }, 'PROVIDER_UNKNOWN', /unknown provider nobody/],
      [{ provider: '../openai' }, 'PROVIDER_UNKNOWN', /unknown provider/],
      [{ provider: 'x'.repeat(500) }, 'PROVIDER_UNKNOWN', /unknown provider x{64};/],
      [{ provider: '@slug' }, 'PROVIDER_SLUG_UNKNOWN', /no stored provider slug in this workspace/],
      [{ virtual_key: 'vk-1' }, 'PROVIDER_SLUG_UNKNOWN', /no stored provider vk-1/],
      [{ ...target, prompt_id: 'p' }, 'CONFIG_INVALID', /prompts are called by their own path, .*; leave prompt_id out/],
    ] as const) {
      const fault = await faultOf(config);
      assert.equal(fault.code, code);
      assert.match(fault.message, message);
    }
  });

  it('is refused for checks that nobody would run, wherever they stand', async () => {
    for (const [config, param] of [
      [{ strategy: { mode: 'single' }, output_guardrails: [{ 'default.x': {} }], targets: [target] }, 'config.output_guardrails[0]["default.x"]'],
      [{ strategy: { mode: 'single' }, targets: [{ ...target, before_request_hooks: [{ id: 'x', checks: [{ id: 'y', parameters: {} }] }] }] }, 'config.targets[0].before_request_hooks[0].checks[0]'],
      [{ ...target, cache: { mode: 'redis' } }, 'config.cache.mode'],
      [{ ...target, cache: { mode: 'simple', ttl: 1 } }, 'config.cache'],
    ] as const) assert.deepEqual(await faultOf(config).then((fault) => [fault.code, fault.param]), ['CONFIG_INVALID', param]);
    assert.deepEqual(await faultOf({ ...target, input_guardrails: ['x'] }).then((fault) => [fault.code, fault.param]), ['GUARDRAIL_UNKNOWN', 'config.input_guardrails[0]']);
    assert.ok(await compile({ ...target, input_guardrails: [], after_request_hooks: [] }));
  });
});
